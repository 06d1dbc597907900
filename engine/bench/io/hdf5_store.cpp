// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a parallel file test.
#include "bench/io/hdf5_store.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/io/json.hpp"
#include "bench/io/options.hpp"
#include "bench/run_options.hpp"
#include "core/error.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::io {
namespace {

using result::hdf5::allocate;
using result::hdf5::Handle;
using result::hdf5::make_group;

PhaseOffsets allocate_phases(const Handle& io, const Header& header) {
  const Handle group = make_group(io, "phases");
  const auto table = [&](const char* name, hid_t type) { return allocate(group, name, type, {header.num_phases}); };
  return {.operation = table("operation", H5T_NATIVE_UINT8),
          .repeat = table("repeat", H5T_NATIVE_INT32),
          .state = table("state", H5T_NATIVE_UINT8),
          .summary = table("summary", result::hdf5::text_type(phase_summary_size).id())};
}

Header header_with_room(const IoResult& so_far, const IoFileSetup& setup) {
  Header header = header_of(so_far);
  header.num_phases = setup.num_phases;
  return header;
}

/// HDF5 finds out only when it closes the file, and then keeps it open.
void expect_possible_size(const result::OutputFile& file, const Header& header) {
  constexpr double most_bytes = 0x1p62;
  const double size_bytes = size_of_phases(header);
  if (size_bytes > most_bytes) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} would be larger than any file can be", file.path()),
                fmt::format("{} phases of {} ranks", header.num_phases, header.num_ranks),
                "Ask for fewer with --repeat");
  }
  file.truncate(static_cast<std::uint64_t>(size_bytes));
  file.truncate(0);
}

class NoIoFile final : public result::NoFile<IoFile, IoResult> {
 public:
  void write(const PhasePosition&, const RankPhase&, const PhaseSummary&) override {}
  void keep_interrupted(const PhaseSummary&) override {}
};

}  // namespace

Header header_of(const IoResult& so_far) {
  const IoRequest& request = so_far.request;
  Header header;
  describe_run(header, request, options_of(request), so_far.provenance);
  header.movement = schedule::name_of(request.movement);
  header.order = request.order == schedule::Order::strided ? "strided" : "segmented";
  header.backend_library = so_far.backend_library;
  header.file_system = so_far.file_system;
  header.num_objects = request.num_objects;
  header.object_size_bytes = request.object_size_bytes;
  header.run = so_far.run;
  header.io_ranks = so_far.io_ranks;
  header.files = so_far.files;
  return header;
}

double size_of_phases(const Header& header) {
  constexpr double row_bytes = bytes_of_fields<RankPhase>, summary_bytes = phase_summary_size;
  return static_cast<double>(header.num_phases) * (static_cast<double>(header.num_ranks) * row_bytes + summary_bytes);
}

Offsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = result::hdf5::create_file(path);
    offsets.run = result::hdf5::create_run_part(file, header, "io");
    {
      const Handle group = make_group(file, "io");
      result::hdf5::write_facts(group, header);
      offsets.phases = allocate_phases(group, header);
      offsets.ranks = result::hdf5::allocate_fields<RankPhase>(
          make_group(group, "ranks"), {header.num_phases, static_cast<hsize_t>(header.num_ranks)});
    }
    file.close();
    return offsets;
  });
}

void write_phase(const result::OutputFile& file, const PhaseOffsets& offsets, const PhaseSummary& summary,
                 State before) {
  const PhasePosition& position = summary.position;
  const auto index = static_cast<std::uint64_t>(position.index);
  const auto put = [&](std::uint64_t table, const auto& value) {
    file.write_at(table + index * sizeof value, result::bytes_of_one(value));
  };
  put(offsets.operation, static_cast<std::uint8_t>(position.operation));
  put(offsets.repeat, std::int32_t{position.repeat});
  std::string text = phase_text(summary, phase_summary_size - 1);
  if (before != State::absent) text.resize(phase_summary_size);
  file.write_at(offsets.summary + index * phase_summary_size, text);
  put(offsets.state, summary.is_complete ? State::complete : State::failed);
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup)
    : RunStore(
          cluster, header_with_room(so_far, setup), setup,
          [](const result::OutputFile& file, const Header& header) {
            expect_possible_size(file, header);
            return create_structure(file.path(), header);
          },
          json_text) {}

void Hdf5Store::expect_room_for(const PhasePosition& position) const {
  if (position.index >= 0 && std::cmp_less(position.index, header_.num_phases)) return;
  throw result::write_error(
      path(), fmt::format("rank {} has phase {}, for which there is no place", cluster_.rank(), position.index));
}

/// The state says that a phase is there, so it comes when all ranks' rows are.
void Hdf5Store::write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) {
  write_row(position, own);
  if (cluster_.is_root()) write_phase(summary);
}

void Hdf5Store::write_row(const PhasePosition& position, const RankPhase& own) {
  std::optional<Error> error;
  try {
    expect_room_for(position);
  } catch (const Error& failure) {
    error = failure;
  }
  file_.rows().put(error ? std::vector<result::PlacedBytes>() : pieces_of(position, own, cluster_.rank()), error);
  cluster_.agree(error ? &*error : nullptr);
}

std::vector<result::PlacedBytes> Hdf5Store::pieces_of(const PhasePosition& position, const RankPhase& row,
                                                      int rank) const {
  const std::uint64_t cell =
      static_cast<std::uint64_t>(position.index) * static_cast<std::uint64_t>(header_.num_ranks) +
      static_cast<std::uint64_t>(rank);
  std::vector<result::PlacedBytes> pieces;
  result::hdf5::for_each_column(offsets_.ranks, std::span(&row, 1), [&](std::uint64_t table, const auto& values) {
    pieces.push_back({table + cell * sizeof values.front(), std::string(result::bytes_of(values))});
  });
  return pieces;
}

/// As the file says.
State Hdf5Store::state_of(const PhasePosition& position) {
  const auto index = static_cast<std::uint64_t>(position.index);
  const std::string byte = file_.rows().file()->read_at(offsets_.phases.state + index, 1);
  return byte.empty() ? State::absent : static_cast<State>(byte.front());
}

void Hdf5Store::keep_interrupted(const PhaseSummary& summary) {
  const std::lock_guard lock(mutex_);
  const result::OutputFile* const file = file_.rows().file();
  if (file == nullptr) return;
  is_interrupted_ = true;
  if (state_of(summary.position) != State::absent) return;  // another root, with which others go on, may have it
  for (const RankAtInterruption& at : summary.at_interruption) {
    RankPhase phase;
    phase.end_ns = at.time_ns;
    phase.bytes = at.bytes;
    phase.message_bytes = at.message_bytes;
    phase.num_objects = at.num_objects;
    phase.file = at.file;
    for (const result::PlacedBytes& piece : pieces_of(summary.position, phase, at.rank)) {
      // Time is short, and a hole is 0.
      if (piece.bytes.find_first_not_of('\0') != std::string::npos) file->write_at(piece.offset, piece.bytes);
    }
  }
  put_phase(summary);
}

void Hdf5Store::write_phase(const PhaseSummary& summary) {
  const std::lock_guard lock(mutex_);
  if (!is_interrupted_) put_phase(summary);
}

void Hdf5Store::put_phase(const PhaseSummary& summary) {
  io::write_phase(*file_.rows().file(), offsets_.phases, summary, state_of(summary.position));
}

std::unique_ptr<IoFile> open_io_file(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup) {
  return open_result_file<io::Hdf5Store, io::JsonStore, NoIoFile>("a parallel file test", cluster, so_far, setup);
}

}  // namespace leadline::bench::io
