// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a parallel file test.
#include "result/io/hdf5_store.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"
#include "result/io/json.hpp"

namespace leadline::result::io {
namespace {

using hdf5::allocate;
using hdf5::Handle;
using hdf5::make_group;
using hdf5::write_attribute;

hid_t type_of(double) { return H5T_NATIVE_DOUBLE; }
hid_t type_of(std::uint64_t) { return H5T_NATIVE_UINT64; }
hid_t type_of(std::int32_t) { return H5T_NATIVE_INT32; }
hid_t type_of(std::uint8_t) { return H5T_NATIVE_UINT8; }

void write_facts(const Handle& group, const Header& header) {
  write_attribute(group, "movement", header.movement);
  write_attribute(group, "order", header.order);
  write_attribute(group, "backend_library", header.backend_library);
  write_attribute(group, "file_system", header.file_system);
  write_attribute(group, "num_objects", static_cast<unsigned long long>(header.num_objects));
  write_attribute(group, "object_size_bytes", static_cast<unsigned long long>(header.object_size_bytes));
  write_attribute(group, "run", static_cast<unsigned long long>(header.run));
}

PhaseOffsets allocate_phases(const Handle& io, const Header& header) {
  const Handle group = make_group(io, "phases");
  const auto table = [&](const char* name, hid_t type) { return allocate(group, name, type, {header.num_phases}); };
  return {.operation = table("operation", H5T_NATIVE_UINT8),
          .repeat = table("repeat", H5T_NATIVE_INT32),
          .state = table("state", H5T_NATIVE_UINT8),
          .summary = table("summary", hdf5::text_type(phase_summary_size).id())};
}

/// Makes the table of each column that it is shown.
class ColumnMaker {
 public:
  ColumnMaker(const Handle& group, const Header& header, std::vector<std::uint64_t>& offsets)
      : group_(group), shape_{header.num_phases, static_cast<hsize_t>(header.num_ranks)}, offsets_(offsets) {}

  template <typename Number>
  void operator()(const std::string& name, Number number) const {
    offsets_.push_back(allocate(group_, name.c_str(), type_of(number), shape_));
  }

  template <typename Number, std::size_t num>
  void operator()(const std::string& name, const std::array<Number, num>&) const {
    offsets_.push_back(allocate(group_, name.c_str(), type_of(Number{}), {shape_.at(0), shape_.at(1), num}));
  }

 private:
  const Handle& group_;
  std::vector<hsize_t> shape_;
  std::vector<std::uint64_t>& offsets_;
};

std::vector<std::uint64_t> allocate_ranks(const Handle& io, const Header& header) {
  const Handle group = make_group(io, "ranks");
  std::vector<std::uint64_t> offsets;
  each_rank_column(RankPhase{}, ColumnMaker(group, header, offsets));
  return offsets;
}

Header header_with_room(const IoResult& so_far, const IoFileSetup& setup) {
  Header header = header_of(so_far);
  header.num_phases = setup.num_phases;
  return header;
}

/// HDF5 finds out only when it closes the file, and then keeps it open.
void expect_possible_size(const OutputFile& file, const Header& header) {
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

/// One rank's values as they go to the file, column after column.
class PackedRow {
 public:
  explicit PackedRow(const RankPhase& own) {
    each_rank_column(own, [this](const std::string&, const auto& value) { add(value); });
  }

  std::size_t num_columns() const { return ends_.size(); }
  std::string_view column(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  /// In the file 0 is what was not measured.
  void add(double value) { add_bytes(bytes_of_one(std::isfinite(value) ? value : 0.0)); }

  template <typename Value>
  void add(const Value& value) {
    add_bytes(bytes_of_one(value));
  }

  void add_bytes(std::string_view bytes) {
    bytes_ += bytes;
    ends_.push_back(bytes_.size());
  }

  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace

double size_of_phases(const Header& header) {
  double row_bytes = 0;
  each_rank_column(RankPhase{}, [&](const std::string&, const auto& value) { row_bytes += sizeof value; });
  return static_cast<double>(header.num_phases) *
         (static_cast<double>(header.num_ranks) * row_bytes + static_cast<double>(phase_summary_size));
}

Offsets create_structure(const std::string& path, const Header& header) {
  return hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = hdf5::create_file(path);
    offsets.run = hdf5::create_run_part(file, header, "io");
    {
      const Handle group = make_group(file, "io");
      write_facts(group, header);
      if (!header.io_ranks.empty()) {
        offsets.io_ranks = allocate(group, "io_ranks", H5T_NATIVE_INT32, {header.io_ranks.size()});
      }
      if (!header.files.empty()) {
        offsets.files = allocate(group, "files", hdf5::text_type(file_name_size).id(), {header.files.size()});
      }
      offsets.phases = allocate_phases(group, header);
      offsets.ranks = allocate_ranks(group, header);
    }
    file.close();
    return offsets;
  });
}

void add_end(const std::string& path, const Header& header) {
  hdf5::writing(path, [&] {
    Handle file = hdf5::open_file(path);
    hdf5::add_run_end(file, header);
    file.close();
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup)
    : cluster_(cluster),
      header_(header_with_room(so_far, setup)),
      file_(cluster, header_, {setup.path, setup.existing, setup.row_path, setup.placement},
            [this](const OutputFile& file) {
              offsets_ = create(file);
              return offsets_.run;
            }) {
  const std::string ranks = cluster_.broadcast(as_bytes(std::span<const std::uint64_t>(offsets_.ranks)));
  offsets_.ranks = from_bytes<std::uint64_t>(ranks);
  const std::string phases = cluster_.broadcast(as_bytes(std::span<const PhaseOffsets>(&offsets_.phases, 1)));
  offsets_.phases = from_bytes<PhaseOffsets>(phases).at(0);
}

Offsets Hdf5Store::create(const OutputFile& file) const {
  expect_possible_size(file, header_);
  Offsets offsets = create_structure(file.path(), header_);
  if (!header_.io_ranks.empty()) file.write_at(offsets.io_ranks, bytes_of(header_.io_ranks));
  std::string names;
  for (const std::string& name : header_.files) names += padded(name, file_name_size);
  if (!names.empty()) file.write_at(offsets.files, names);
  return offsets;
}

void Hdf5Store::expect_room_for(const PhasePosition& position) const {
  if (position.index >= 0 && std::cmp_less(position.index, header_.num_phases)) return;
  throw write_error(path(),
                    fmt::format("rank {} has phase {}, for which there is no place", cluster_.rank(), position.index));
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
  const PackedRow row(own);
  std::vector<PlacedBytes> pieces;
  for (std::size_t index = 0; !error && index < row.num_columns(); ++index) {
    pieces.push_back({place_of(index, row.column(index), position, cluster_.rank()), row.column(index)});
  }
  file_.rows().put(pieces, error);
  cluster_.agree(error ? &*error : nullptr);
}

std::uint64_t Hdf5Store::place_of(std::size_t column, std::string_view value, const PhasePosition& position,
                                  int rank) const {
  const std::uint64_t cell =
      static_cast<std::uint64_t>(position.index) * static_cast<std::uint64_t>(header_.num_ranks) +
      static_cast<std::uint64_t>(rank);
  return offsets_.ranks.at(column) + cell * value.size();
}

/// As the file says.
State Hdf5Store::state_of(const PhasePosition& position) {
  const auto index = static_cast<std::uint64_t>(position.index);
  const std::string byte = file_.rows().file()->read_at(offsets_.phases.state + index, 1);
  return byte.empty() ? State::not_measured : static_cast<State>(byte.front());
}

void Hdf5Store::keep_interrupted(const PhaseSummary& summary) {
  const std::lock_guard lock(mutex_);
  const OutputFile* const file = file_.rows().file();
  if (file == nullptr) return;
  is_interrupted_ = true;
  if (state_of(summary.position) != State::not_measured) return;  // another root, with which others go on, may have it
  for (const RankAtInterruption& at : summary.at_interruption) {
    RankPhase phase;
    phase.end_ns = at.time_ns;
    phase.bytes = at.bytes;
    phase.message_bytes = at.message_bytes;
    phase.num_objects = at.num_objects;
    phase.file = at.file;
    const PackedRow row(phase);
    for (std::size_t column = 0; column < row.num_columns(); ++column) {
      // Time is short, and a hole is 0.
      if (row.column(column).find_first_not_of('\0') == std::string_view::npos) continue;
      file->write_at(place_of(column, row.column(column), summary.position, at.rank), row.column(column));
    }
  }
  put_phase(summary);
}

void Hdf5Store::write_phase(const PhaseSummary& summary) {
  const std::lock_guard lock(mutex_);
  if (!is_interrupted_) put_phase(summary);
}

void Hdf5Store::put_phase(const PhaseSummary& summary) {
  const PhasePosition& position = summary.position;
  const auto index = static_cast<std::uint64_t>(position.index);
  const auto put = [&](std::uint64_t table, const auto& value) {
    file_.rows().file()->write_at(table + index * sizeof value, bytes_of_one(value));
  };
  put(offsets_.phases.operation, static_cast<std::uint8_t>(position.operation == IoOperation::read ? 1 : 0));
  put(offsets_.phases.repeat, std::int32_t{position.repeat});
  std::string text = phase_text(summary, phase_summary_size - 1);
  // A root that was lost may have kept a longer one.
  if (state_of(position) != State::not_measured) text.resize(phase_summary_size);
  file_.rows().file()->write_at(offsets_.phases.summary + index * phase_summary_size, text);
  put(offsets_.phases.state, summary.is_complete ? State::complete : State::failed);
}

void Hdf5Store::finish(const IoResult& result) {
  file_.finish(
      result, header_, [&] { return json_text(result); }, [&] { add_end(path(), header_); });
}

}  // namespace leadline::result::io
