// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into an HDF5 result, and how the ranks agree on it.
#include "result/hdf5/hdf5_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "result/collective.hpp"
#include "result/json.hpp"

namespace leadline::result {

namespace {

/// Room asked for before HDF5 changes the structure of a file that has rows in it, since a full disk in the middle of
/// that would leave it unreadable. A repeat takes 3.1 KB (HDF5 1.10.8, measured).
constexpr std::uint64_t room_for_structure = 1 << 16;
constexpr std::uint64_t room_for_repeat = 1 << 13;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Where a text lies in the file: the library does not say where it puts attributes.
std::uint64_t offset_of(const OutputFile& file, const std::string& text) {
  constexpr std::size_t piece = 1 << 16;
  std::string window;
  for (std::uint64_t begin = 0;; begin += piece) {
    const std::string next = file.read_at(begin, piece);
    const std::uint64_t window_begin = begin - window.size();
    window += next;
    if (const auto at = window.find(text); at != std::string::npos) return window_begin + at;
    if (next.size() < piece) break;
    window.erase(0, window.size() - std::min(window.size(), text.size()));
  }
  throw write_error(file.path(), "its contents are not what was just written");
}

}  // namespace

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, ResultFileSetup setup)
    : cluster_(cluster), setup_(std::move(setup)), header_(header_of(so_far, "")) {
  header_.num_ranks = cluster.size();
  header_.has_rounds = static_cast<bool>(setup_.rounds);
  path_ = cluster_.broadcast(setup_.path);
  create();
  all_or_error(cluster_, [&] { write_place(); });
}

void Hdf5Store::create() {
  std::optional<OutputFile> file;
  NoncePlace place;
  const std::string fixed = text_of_rank_0(cluster_, [&] {
    header_.nonce = random_nonce();
    file = OutputFile::create(path_, setup_.existing);
    try {
      fixed_ = create_structure(path_, header_);
      place = {header_.nonce, offset_of(*file, header_.nonce)};
      write_known(*file);
      return as_bytes(std::span<const FixedOffsets>(&fixed_, 1));
    } catch (const Error&) {
      if (file->is_new()) ::unlink(path_.c_str());
      throw;
    }
  });
  fixed_ = from_bytes<FixedOffsets>(fixed).at(0);
  file_ = SharedFile::open(cluster_, path_, std::move(file), place, setup_.row_path);
}

void Hdf5Store::write_known(const OutputFile& file) const {
  file.write_at(fixed_.reason, padded(reason_from_the_start, reason_size));
  file.write_at(fixed_.message_size, bytes_of(header_.message_sizes_bytes));
  for (int index = 0; index < header_.num_permutations; ++index) {
    const std::vector<std::int32_t> seats = setup_.permutation(index);
    if (static_cast<std::int64_t>(seats.size()) != header_.num_ranks) {
      throw write_error(path_, "a permutation is not one of all ranks");
    }
    file.write_at(fixed_.permutations + static_cast<std::uint64_t>(index) * bytes_of(seats).size(), bytes_of(seats));
  }
}

void Hdf5Store::write_place() {
  const RankPlace& place = setup_.place;
  std::optional<Error> error;
  const auto put_number = [&](std::uint64_t table, std::int32_t number) {
    put(table, as_text(std::as_bytes(std::span(&number, 1))), error);
  };
  put(fixed_.host, padded(place.host, host_size), error);
  put(fixed_.device, padded(place.device, device_size), error);
  put(fixed_.cpus, padded(place.cpus, cpus_size), error);
  put_number(fixed_.pid, place.pid);
  put_number(fixed_.num_cpus, place.num_cpus);
  put_number(fixed_.numa_node, place.numa_node);
  if (error) throw *error;
}

void Hdf5Store::put(std::uint64_t table, std::string_view own, std::optional<Error>& error) {
  file_->put([&](int rank) { return table + static_cast<std::uint64_t>(rank) * own.size(); }, own, error);
}

void Hdf5Store::reserve_repeats(int num_repeats) {
  const int num_known = static_cast<int>(repeats_.size());
  if (num_repeats <= num_known) return;
  std::vector<KeptRepeat> added;
  for (int repeat = num_known; repeat < num_repeats; ++repeat) added.push_back({repeat, -1});
  const std::string places = text_of_rank_0(cluster_, [&] {
    if (setup_.permutation_of_repeat) {
      for (KeptRepeat& its : added) its.permutation = setup_.permutation_of_repeat(its.repeat);
    }
    file_->file()->expect_room(room_for_structure + added.size() * room_for_repeat);
    const auto offsets = add_repeats(path_, header_, added);
    return as_bytes<RepeatOffsets>(offsets);
  });
  const auto offsets = from_bytes<RepeatOffsets>(places);
  repeats_.insert(repeats_.end(), offsets.begin(), offsets.end());
  if (!header_.has_rounds) return;
  std::optional<Error> error;
  for (std::size_t index = 0; index < added.size(); ++index) write_rounds(added[index], offsets[index], error);
  cluster_.agree(error ? &*error : nullptr);
}

void Hdf5Store::write_rounds(const KeptRepeat& repeat, const RepeatOffsets& offsets, std::optional<Error>& error) {
  const std::vector<std::int32_t> rounds = setup_.rounds(repeat.repeat);
  put(offsets.round, bytes_of(rounds), error);
}

void Hdf5Store::write(const Slice& slice, const PairRow& row) {
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  const auto put_row = [&](std::uint64_t matrices, const auto& values) {
    const std::string_view bytes = bytes_of(values);
    const std::uint64_t matrix_size = values.size() * bytes.size();
    put(matrices + static_cast<std::uint64_t>(slice.size_index) * matrix_size, bytes, error);
  };
  put_row(offsets.count, row.count);
  put_row(offsets.time_ns_min, row.time_ns_min);
  put_row(offsets.time_ns_median, row.time_ns_median);
  put_row(offsets.time_ns_mean, row.time_ns_mean);
  put_row(offsets.time_ns_p99, row.time_ns_p99);
  put_row(offsets.time_ns_max, row.time_ns_max);
  if (error) throw *error;
}

void Hdf5Store::write_all_to_all(const Slice& slice, std::span<const double> time_ns) {
  if (header_.num_all_to_all_slots == 0) return;
  std::vector<double> slots(time_ns.begin(), time_ns.end());
  slots.resize(static_cast<std::size_t>(header_.num_all_to_all_slots));
  const std::uint64_t table_size = bytes_of(slots).size() * static_cast<std::uint64_t>(header_.num_ranks);
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  put(offsets.all_to_all_time_ns + static_cast<std::uint64_t>(slice.size_index) * table_size, bytes_of(slots), error);
  if (error) throw *error;
}

void Hdf5Store::flush() {
  if (file_->file() != nullptr) file_->file()->sync();
}

void Hdf5Store::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(status_mutex_);
    if (file_->file() == nullptr || status_ == Status::finished) return;
    status_ = Status::failed;
    file_->file()->write_at(fixed_.reason, padded(reason, reason_size));
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr; what the file said before remains true.
  }
}

void Hdf5Store::finish(const LinkResult& result) {
  file_->sync_others();
  all_or_error(cluster_, [&] {
    if (cluster_.rank() == 0) mark_end(result);
  });
}

void Hdf5Store::mark_end(const LinkResult& result) {
  OutputFile& file = *file_->file();
  header_.end_utc = result.provenance.end_utc;
  header_.retests = retests_of(result);
  header_.summary = json_text(result);
  file.expect_room(room_for_structure + 2 * header_.summary->size());
  add_end(path_, header_);
  file.sync();
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::failed) return;
  // The mark comes last: a file that says "complete" is complete on the disk, too.
  if (result.complete) {
    constexpr std::uint8_t complete = 1;
    file.write_at(fixed_.complete, std::as_bytes(std::span(&complete, 1)));
  }
  file.write_at(fixed_.reason, padded(result.complete ? "" : result.incomplete_reason, reason_size));
  status_ = Status::finished;
  file.sync();
  file.close();
}

}  // namespace leadline::result
