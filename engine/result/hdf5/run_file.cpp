// SPDX-License-Identifier: Apache-2.0
// What the HDF5 files of all benchmarks share: the part that describes the run, and the file from its creation to its
// end.
#include "result/hdf5/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/error.hpp"
#include "core/file_call.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::result {

namespace {

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

using NumbersOfPlace = std::array<std::int32_t, 3>;

/// The texts, each with a zero behind it, then the numbers.
std::string message_of(const RankPlacement& placement) {
  const NumbersOfPlace numbers{placement.pid, placement.num_cpus, placement.numa_node};
  std::string message;
  for (const std::string& text : {placement.host, placement.device, placement.cpus, placement.adapter}) {
    (message += text) += '\0';
  }
  return message + as_bytes(std::span<const std::int32_t>(numbers));
}

RankPlacement placement_in(std::string_view message) {
  RankPlacement placement;
  for (std::string* text : {&placement.host, &placement.device, &placement.cpus, &placement.adapter}) {
    *text = message.substr(0, message.find('\0'));
    message.remove_prefix(text->size() + 1);
  }
  NumbersOfPlace numbers{};
  std::memcpy(numbers.data(), message.data(), sizeof numbers);
  placement.pid = numbers[0];
  placement.num_cpus = numbers[1];
  placement.numa_node = numbers[2];
  return placement;
}

}  // namespace

RunFile::RunFile(cluster::Cluster& cluster, RunHeader& header, const RunFileSetup& setup, const Structure& structure)
    : cluster_(cluster) {
  header.num_ranks = cluster.size();
  header.network = setup.network;
  create(header, setup, structure);
}

void RunFile::create(RunHeader& header, const RunFileSetup& setup, const Structure& structure) {
  const std::string path = cluster_.broadcast(setup.path);
  const std::vector<RankPlacement> placements = placements_at_root(setup.placement);
  std::optional<OutputFile> file;
  NonceLocation place;
  const std::string offsets = text_of_root(cluster_, [&] {
    const InFileCall in_call(cluster_.progress_counter().file_call, "creating", path, {},
                             FileCallKind::many_short_calls);
    header.nonce = random_nonce();
    // Under its name when its structure is there: a kill in between leaves no half of one.
    StagedFile staged(path, setup.existing);
    file = staged.create();
    try {
      offsets_ = structure(*file);
      hdf5::add_places(file->path(), header.num_ranks,
                       [&](std::int64_t rank) { return placements[static_cast<std::size_t>(rank)]; });
      place = {header.nonce, offset_of(*file, header.nonce)};
      write_known(*file, header);
    } catch (const Error& error) {
      throw staged.named(error);
    }
    staged.commit();
    file->moved_to(path);
    return as_bytes(std::span<const RunOffsets>(&offsets_, 1));
  });
  offsets_ = from_bytes<RunOffsets>(offsets).at(0);
  file_ = SharedFile::open(cluster_, path, std::move(file), place, setup.row_path);
}

void RunFile::write_known(const OutputFile& file, const RunHeader& header) const {
  file.write_at(offsets_.reason, padded(reason_from_the_start, reason_size));
  file.write_at(offsets_.message_size, bytes_of(header.message_sizes_bytes));
}

/// Collective: of all ranks, on rank 0; of one that is lost the host alone.
std::vector<RankPlacement> RunFile::placements_at_root(const RankPlacement& own) {
  std::vector<RankPlacement> all(cluster_.rank() == 0 ? static_cast<std::size_t>(cluster_.size()) : 0);
  cluster_.gather(message_of(own), [&](int rank, std::string_view message) {
    all.at(static_cast<std::size_t>(rank)) = placement_in(message);
  });
  for (std::size_t i = 0; cluster_.rank() == 0 && i < cluster_.lost_ranks().size(); ++i) {
    const int lost = cluster_.lost_ranks()[i].rank;
    all.at(static_cast<std::size_t>(lost)).host = cluster_.host_name(lost);
  }
  return all;
}

void RunFile::put(std::uint64_t table, std::string_view own, std::optional<Error>& error) {
  file_->put([&](int rank) { return table + static_cast<std::uint64_t>(rank) * own.size(); }, own, error);
}

void RunFile::put_for_lost(int rank, std::uint64_t table, std::string_view piece, std::optional<Error>& error) {
  file_->put_for_lost(table + static_cast<std::uint64_t>(rank) * piece.size(), piece, error);
}

void RunFile::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(status_mutex_);
    if (file_->file() == nullptr || status_ == Status::finished) return;
    status_ = Status::failed;
    const OutputFile& file = *file_->file();
    const std::string unknown = padded(reason_from_the_start, reason_size);
    if (file.read_at(offsets_.reason, reason_size) == unknown)
      file.write_at(offsets_.reason, padded(reason, reason_size));
    file.leave_copy_under_name();
  } catch (const Error& error) {
    tell_not_kept(error, reason);
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr; what the file said before remains true.
  }
}

void RunFile::finish(const RunResult& result, RunHeader& header, const std::function<std::string()>& summary,
                     const std::function<void()>& add_end) {
  file_->sync_others();
  file_->restore_name();
  all_or_error(cluster_, [&] {
    if (!cluster_.is_root()) return;
    const InFileCall in_call(cluster_.progress_counter().file_call, "completing", path(), {}, FileCallKind::many_calls);
    header.end_utc = result.provenance.end_utc;
    header.summary = summary();
    expect_room(room_for_structure + 2 * header.summary->size());
    add_end();
    file_->file()->sync();
    mark_end(result);
  });
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::running) status_ = Status::finished;  // on the other ranks
}

void RunFile::mark_end(const RunResult& result) {
  OutputFile& file = *file_->file();
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::failed) return;
  // The mark comes last: a file that says "complete" is complete on the disk, too.
  if (result.complete) {
    constexpr std::uint8_t complete = 1;
    file.write_at(offsets_.complete, std::as_bytes(std::span(&complete, 1)));
  }
  file.write_at(offsets_.reason, padded(result.complete ? "" : result.incomplete_reason, reason_size));
  status_ = Status::finished;
  file.sync();
  file.restore_name();
  file.close();
}

}  // namespace leadline::result

namespace leadline::result::hdf5 {

namespace {

/// The types that readers have seen from the beginning: the number of rounds is the one that outgrows 32 bits.
void write_value(const Handle& group, const std::string& name, const HeaderValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const bool is_long = name == "num_rounds" || *number != static_cast<int>(*number);
    if (is_long) return write_attribute(group, name.c_str(), *number);
    return write_attribute(group, name.c_str(), static_cast<int>(*number));
  }
  if (const auto* number = std::get_if<double>(&value)) return write_attribute(group, name.c_str(), *number);
  write_attribute(group, name.c_str(), std::get<std::string>(value));
}

Handle type_of(const PlaceTable& table) {
  return table.text_size > 0 ? text_type(table.text_size) : Handle(H5Tcopy(H5T_NATIVE_INT32), H5Tclose);
}

/// What each table has of a rank.
std::array<std::string, num_place_tables> bytes_of_place(const RankPlacement& placement) {
  const auto number = [](std::int32_t value) { return as_bytes(std::span<const std::int32_t>(&value, 1)); };
  return {padded(placement.host, host_size),
          padded(placement.device, device_size),
          padded(placement.cpus, cpus_size),
          number(placement.pid),
          number(placement.num_cpus),
          number(placement.numa_node),
          padded(placement.adapter, adapter_size)};
}

}  // namespace

RunOffsets create_run_part(const Handle& file, const RunHeader& header, const char* benchmark) {
  RunOffsets offsets;
  write_attribute(file, "nonce", header.nonce);
  write_attribute(file, "format", "leadline");
  write_attribute(file, "format_version", header.format_version);
  write_attribute(file, "benchmark", benchmark);
  {
    const Handle status = make_group(file, "status");
    offsets.complete = allocate(status, "complete", H5T_NATIVE_UINT8, {});
    offsets.reason = allocate(status, "reason", text_type(reason_size).id(), {});
  }
  {
    const Handle provenance = make_group(file, "provenance");
    for (const auto& [name, value] : header.provenance) write_value(provenance, name, value);
  }
  {
    const Handle options = make_group_in_order(file, "options");
    for (const auto& [name, value] : header.options) write_attribute(options, name.c_str(), value);
  }
  if (!header.network.empty()) write_text(file, "network", header.network);
  offsets.message_size = allocate(file, "message_size_bytes", H5T_NATIVE_UINT64, {header.message_sizes_bytes.size()});
  return offsets;
}

void add_places(const std::string& path, std::int64_t num_ranks,
                const std::function<RankPlacement(std::int64_t rank)>& place_of) {
  writing(path, [&] {
    Handle file = open_file(path);
    {
      const Handle group = make_group(file, "ranks");
      const auto length = static_cast<hsize_t>(num_ranks);
      std::vector<PackedList> lists;
      for (const PlaceTable& table : place_tables) lists.emplace_back(group, table.name, type_of(table).id(), length);
      for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
        const auto bytes = bytes_of_place(place_of(rank));
        for (std::size_t i = 0; i < lists.size(); ++i) lists[i].add(bytes.at(i));
      }
      for (PackedList& list : lists) list.close();
    }
    file.close();
  });
}

double bytes_of_places(double num_ranks) {
  constexpr double packed_bytes = 1e3, packed_bytes_per_rank = 0.33;  // measured: 2 bytes a rank in all
  double bytes = 0;
  for (const PlaceTable& table : place_tables) {
    const double whole = num_ranks * static_cast<double>(table.text_size > 0 ? table.text_size : sizeof(std::int32_t));
    const bool is_packed = whole >= static_cast<double>(least_bytes_to_pack);
    bytes += is_packed ? packed_bytes + packed_bytes_per_rank * num_ranks : whole;
  }
  return bytes;
}

void add_run_end(const Handle& file, const RunHeader& header) {
  if (header.end_utc) {
    const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
    remove_attribute(provenance, "end_utc");
    write_attribute(provenance, "end_utc", *header.end_utc);
  }
  if (!header.summary) return;
  remove_link(file, "summary");
  write_text(file, "summary", *header.summary);
}

void add_run_end(const std::string& path, const RunHeader& header) {
  writing(path, [&] {
    Handle file = open_file(path);
    add_run_end(file, header);
    file.close();
  });
}

}  // namespace leadline::result::hdf5
