// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into an HDF5 result, and how the ranks agree on it.
#include "result/hdf5_store.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "result/collective.hpp"
#include "result/json.hpp"

namespace leadline::result {

namespace {

/// Room asked for before HDF5 changes the structure of a file that has rows in it, since a full disk in the middle of
/// that would leave it unreadable. A repeat takes 3.1 KB (HDF5 1.10.8, measured).
constexpr std::uint64_t room_for_structure = 1 << 16;
constexpr std::uint64_t room_for_repeat = 1 << 13;

/// Cut where a character begins, with dots instead of the rest, so that nobody takes it for the whole.
std::string padded(std::string text, std::size_t size) {
  if (text.size() > size) {
    std::size_t end = size - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += "...";
  }
  text.resize(size, '\0');
  return text;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string random_nonce() {
  std::array<std::uint64_t, 2> words{};
  if (::getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    throw Error(ExitStatus::something_missing, "no random numbers from the system", system_error_text(errno));
  }
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
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

/// What rank 0 tells the others after creation.
struct Created {
  FixedOffsets fixed;
  std::uint64_t nonce_offset;
};

}  // namespace

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, ResultFileSetup setup)
    : cluster_(cluster), setup_(std::move(setup)) {
  shape_ = {so_far.request.message_sizes_bytes.size(), static_cast<std::uint64_t>(cluster.size())};
  path_ = cluster_.broadcast(setup_.path);
  create(so_far);
  all_or_error(cluster_, [&] { write_place(); });
}

void Hdf5Store::create(const LinkResult& so_far) {
  std::string nonce;
  const std::string created = text_of_rank_0(cluster_, [&] {
    nonce = random_nonce();
    file_ = OutputFile::create(path_, setup_.existing);
    try {
      fixed_ = create_structure(path_, so_far, shape_, nonce);
      write_known(so_far);
      const Created offsets{fixed_, offset_of(*file_, nonce)};
      return as_bytes(std::span(&offsets, 1));
    } catch (const Error&) {
      if (file_->is_new()) ::unlink(path_.c_str());
      throw;
    }
  });
  const Created offsets = from_bytes<Created>(created).at(0);
  fixed_ = offsets.fixed;
  nonce_offset_ = offsets.nonce_offset;
  open_everywhere(cluster_.broadcast(nonce));
}

void Hdf5Store::open_everywhere(const std::string& nonce) {
  if (!file_) file_ = OutputFile::open_existing(path_);
  bool is_good = setup_.row_path == RowPath::automatic && file_ && file_->read_at(nonce_offset_, nonce.size()) == nonce;
  if (is_good && cluster_.num_hosts() > 1) is_good = !file_->needs_one_writing_host();
  const auto both = [](const std::string& left, std::string_view right) {
    return std::string(left == "1" && right == "1" ? "1" : "0");
  };
  direct_ = cluster_.all_reduce(is_good ? "1" : "0", both) == "1";
  if (!direct_ && cluster_.rank() != 0) file_.reset();
}

void Hdf5Store::write_known(const LinkResult& so_far) const {
  file_->write_at(fixed_.reason, padded(reason_from_the_start, reason_size));
  file_->write_at(fixed_.message_size, as_bytes<std::uint64_t>(so_far.request.message_sizes_bytes));
  for (int index = 0; index < so_far.request.shuffle_ranks; ++index) {
    const std::vector<std::int32_t> seats = setup_.permutation(index);
    if (seats.size() != shape_.num_ranks) throw write_error(path_, "a permutation is not one of all ranks");
    const auto row_size = shape_.num_ranks * sizeof(std::int32_t);
    file_->write_at(fixed_.permutations + static_cast<std::uint64_t>(index) * row_size, as_bytes<std::int32_t>(seats));
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
  const auto write_piece = [&](int rank, std::string_view piece) {
    if (error) return;
    try {
      if (piece.size() != own.size()) throw write_error(path_, fmt::format("rank {} sends another shape", rank));
      file_->write_at(table + static_cast<std::uint64_t>(rank) * own.size(), piece);
    } catch (const Error& failure) {
      error = failure;
    }
  };
  if (direct_) {
    write_piece(cluster_.rank(), own);
  } else {
    cluster_.gather(own, write_piece);
  }
}

void Hdf5Store::reserve_repeats(int num_repeats) {
  const int num_known = static_cast<int>(repeats_.size());
  if (num_repeats <= num_known) return;
  const std::string added = text_of_rank_0(cluster_, [&] {
    file_->expect_room(room_for_structure + static_cast<std::uint64_t>(num_repeats - num_known) * room_for_repeat);
    const auto offsets = add_repeats(path_, {num_known, num_repeats}, shape_, setup_.permutation_of_repeat);
    return as_bytes<RepeatOffsets>(offsets);
  });
  const auto offsets = from_bytes<RepeatOffsets>(added);
  repeats_.insert(repeats_.end(), offsets.begin(), offsets.end());
}

void Hdf5Store::write(const Slice& slice, const PairRow& row) {
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  const auto put_row = [&](std::uint64_t matrices, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const std::uint64_t matrix_size = shape_.num_ranks * bytes.size();
    put(matrices + static_cast<std::uint64_t>(slice.size_index) * matrix_size, as_text(bytes), error);
  };
  put_row(offsets.count, row.count);
  put_row(offsets.time_ns_min, row.time_ns_min);
  put_row(offsets.time_ns_median, row.time_ns_median);
  put_row(offsets.time_ns_mean, row.time_ns_mean);
  put_row(offsets.time_ns_p99, row.time_ns_p99);
  put_row(offsets.time_ns_max, row.time_ns_max);
  if (error) throw *error;
}

void Hdf5Store::flush() {
  if (file_) file_->sync();
}

void Hdf5Store::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(status_mutex_);
    if (!file_ || status_ == Status::finished) return;
    status_ = Status::failed;
    file_->write_at(fixed_.reason, padded(reason, reason_size));
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr; what the file said before remains true.
  }
}

void Hdf5Store::finish(const LinkResult& result) {
  // One rank a host speaks for its page cache; rank 0 does so at the end.
  const auto host_of = cluster_.host_of();
  const auto own = static_cast<std::size_t>(cluster_.rank());
  const auto first_on_host = std::find(host_of.begin(), host_of.end(), host_of[own]) - host_of.begin();
  all_or_error(cluster_, [&] {
    if (direct_ && own != 0 && static_cast<std::size_t>(first_on_host) == own) file_->sync();
  });
  all_or_error(cluster_, [&] {
    if (own == 0) mark_end(result);
  });
}

void Hdf5Store::mark_end(const LinkResult& result) {
  const std::string summary = json_text(result);
  file_->expect_room(room_for_structure + 2 * summary.size());
  add_end(path_, result, summary);
  file_->sync();
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::failed) return;
  // The mark comes last: a file that says "complete" is complete on the disk, too.
  if (result.complete) {
    constexpr std::uint8_t complete = 1;
    file_->write_at(fixed_.complete, std::as_bytes(std::span(&complete, 1)));
  }
  file_->write_at(fixed_.reason, padded(result.complete ? "" : result.incomplete_reason, reason_size));
  status_ = Status::finished;
  file_->sync();
  file_->close();
}

}  // namespace leadline::result
