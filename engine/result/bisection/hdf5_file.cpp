// SPDX-License-Identifier: Apache-2.0
// Groups and allocated datasets of a bisection test in HDF5, written by rank 0.
#include "result/bisection/hdf5_file.hpp"

#include <vector>

#include "result/hdf5/structure.hpp"

namespace leadline::result::bisection {

namespace {

using hdf5::allocate;
using hdf5::Handle;
using hdf5::make_group;
using hdf5::write_attribute;

void write_facts(const Handle& group, const Header& header) {
  write_attribute(group, "num_players", static_cast<long long>(header.num_players));
  write_attribute(group, "num_exchanges", static_cast<long long>(header.num_exchanges));
  write_attribute(group, "seed", static_cast<unsigned long long>(header.seed));
  write_attribute(group, "within_hosts", header.within_hosts ? 1 : 0);
}

PatternOffsets allocate_patterns(const Handle& bisection, const Header& header) {
  const Handle group = make_group(bisection, "patterns");
  const auto table = [&](const char* name, hid_t type) {
    return allocate(group, name, type, {header.message_sizes_bytes.size(), header.max_patterns});
  };
  PatternOffsets offsets;
  offsets.kind = table("kind", H5T_NATIVE_INT32);
  offsets.index = table("index", H5T_NATIVE_UINT64);
  offsets.repeat = table("repeat", H5T_NATIVE_INT32);
  offsets.accepted = table("accepted", H5T_NATIVE_UINT8);
  offsets.num_connections = table("num_connections", H5T_NATIVE_UINT64);
  offsets.bytes_per_s = {table("bytes_per_s_mean", H5T_NATIVE_DOUBLE), table("bytes_per_s_harmonic", H5T_NATIVE_DOUBLE),
                         table("bytes_per_s_min", H5T_NATIVE_DOUBLE), table("bytes_per_s_max", H5T_NATIVE_DOUBLE),
                         table("bytes_per_s_full_load", H5T_NATIVE_DOUBLE)};
  offsets.slowest_from = table("slowest_from", H5T_NATIVE_INT32);
  offsets.slowest_to = table("slowest_to", H5T_NATIVE_INT32);
  offsets.begin_s = table("begin_s", H5T_NATIVE_DOUBLE);
  offsets.measuring_s = table("measuring_s", H5T_NATIVE_DOUBLE);
  return offsets;
}

BaselineOffsets allocate_baseline(const Handle& bisection, const Header& header) {
  const Handle group = make_group(bisection, "baseline");
  const auto table = [&](const char* name, hid_t type) {
    return allocate(group, name, type, {header.message_sizes_bytes.size(), header.max_baseline});
  };
  return {.number = table("number", H5T_NATIVE_UINT64),
          .from = table("from", H5T_NATIVE_INT32),
          .to = table("to", H5T_NATIVE_INT32),
          .time_ns = table("time_ns", H5T_NATIVE_DOUBLE)};
}

RowOffsets allocate_rows(const Handle& bisection, const Header& header) {
  const auto matrix = [&](const char* name, hid_t type) {
    return allocate(bisection, name, type,
                    {header.message_sizes_bytes.size(), static_cast<hsize_t>(header.num_ranks), header.max_patterns});
  };
  return {.send_to = matrix("send_to", H5T_NATIVE_INT32),
          .receive_from = matrix("receive_from", H5T_NATIVE_INT32),
          .time_ns = matrix("time_ns", H5T_NATIVE_DOUBLE),
          .full_load_time_ns = matrix("full_load_time_ns", H5T_NATIVE_DOUBLE)};
}

}  // namespace

Offsets create_structure(const std::string& path, const Header& header) {
  return hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = hdf5::create_file(path);
    offsets.run = hdf5::create_run_part(file, header, "bisection");
    {
      const Handle group = make_group(file, "bisection");
      write_facts(group, header);
      if (!header.pattern_names.empty()) {
        offsets.pattern_names =
            allocate(group, "pattern_names", hdf5::text_type(pattern_name_size).id(), {header.pattern_names.size()});
      }
      offsets.patterns = allocate_patterns(group, header);
      if (header.max_baseline > 0) offsets.baseline = allocate_baseline(group, header);
      offsets.rows = allocate_rows(group, header);
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

}  // namespace leadline::result::bisection
