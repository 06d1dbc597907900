// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into the shared part of an HDF5 result, and how the ranks agree on it.
#include "result/hdf5/run_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "result/collective.hpp"

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

}  // namespace

RunFile::RunFile(cluster::Cluster& cluster, RunHeader& header, const RunFileSetup& setup, const Structure& structure)
    : cluster_(cluster) {
  header.num_ranks = cluster.size();
  create(header, setup, structure);
  all_or_error(cluster_, [&] { write_place(setup.place); });
}

void RunFile::create(RunHeader& header, const RunFileSetup& setup, const Structure& structure) {
  const std::string path = cluster_.broadcast(setup.path);
  std::optional<OutputFile> file;
  NonceLocation place;
  const std::string offsets = text_of_rank_0(cluster_, [&] {
    header.nonce = random_nonce();
    file = OutputFile::create(path, setup.existing);
    try {
      offsets_ = structure(*file);
      place = {header.nonce, offset_of(*file, header.nonce)};
      write_known(*file, header);
      return as_bytes(std::span<const RunOffsets>(&offsets_, 1));
    } catch (const Error&) {
      if (file->is_new()) ::unlink(path.c_str());
      throw;
    }
  });
  offsets_ = from_bytes<RunOffsets>(offsets).at(0);
  file_ = SharedFile::open(cluster_, path, std::move(file), place, setup.row_path);
}

void RunFile::write_known(const OutputFile& file, const RunHeader& header) const {
  file.write_at(offsets_.reason, padded(reason_from_the_start, reason_size));
  file.write_at(offsets_.message_size, bytes_of(header.message_sizes_bytes));
}

void RunFile::write_place(const RankPlacement& place) {
  std::optional<Error> error;
  const auto put_number = [&](std::uint64_t table, std::int32_t number) {
    put(table, as_bytes(std::span<const std::int32_t>(&number, 1)), error);
  };
  put(offsets_.host, padded(place.host, host_size), error);
  put(offsets_.device, padded(place.device, device_size), error);
  put(offsets_.cpus, padded(place.cpus, cpus_size), error);
  put_number(offsets_.pid, place.pid);
  put_number(offsets_.num_cpus, place.num_cpus);
  put_number(offsets_.numa_node, place.numa_node);
  if (error) throw *error;
}

void RunFile::put(std::uint64_t table, std::string_view own, std::optional<Error>& error) {
  file_->put([&](int rank) { return table + static_cast<std::uint64_t>(rank) * own.size(); }, own, error);
}

void RunFile::flush() {
  if (file_->file() != nullptr) file_->file()->sync();
}

void RunFile::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(status_mutex_);
    if (file_->file() == nullptr || status_ == Status::finished) return;
    status_ = Status::failed;
    file_->file()->write_at(offsets_.reason, padded(reason, reason_size));
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr; what the file said before remains true.
  }
}

void RunFile::finish(const RunResult& result, RunHeader& header, const std::function<std::string()>& summary,
                     const std::function<void()>& add_end) {
  file_->sync_others();
  all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0) return;
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
  file.close();
}

}  // namespace leadline::result
