// SPDX-License-Identifier: Apache-2.0
// Groups and allocated datasets of a parallel file test in HDF5, written by rank 0.
#include "result/io/hdf5_file.hpp"

#include <array>

#include "result/hdf5/structure.hpp"
#include "result/io/rank_columns.hpp"

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

}  // namespace leadline::result::io
