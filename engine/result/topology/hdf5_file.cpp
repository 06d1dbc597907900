// SPDX-License-Identifier: Apache-2.0
// Groups and allocated datasets of a topology test in HDF5, written by rank 0.
#include "result/topology/hdf5_file.hpp"

#include <fmt/format.h>

#include "result/hdf5/structure.hpp"

namespace leadline::result::topology {

namespace {

using hdf5::allocate;
using hdf5::Handle;
using hdf5::make_group;
using hdf5::write_attribute;

void allocate_matrices(const Handle& group, const Header& header, std::uint64_t num_directions,
                       TopologyOffsets& offsets) {
  const auto matrix = [&](const char* name, auto row_length) {
    return allocate(group, name, H5T_NATIVE_DOUBLE,
                    {static_cast<hsize_t>(header.num_repeats), header.message_sizes_bytes.size(),
                     static_cast<hsize_t>(row_length)});
  };
  offsets.arrival_time_ns = matrix("arrival_time_ns", num_directions);
  offsets.rank_time_ns = {matrix("rank_time_ns_min", header.num_ranks), matrix("rank_time_ns_median", header.num_ranks),
                          matrix("rank_time_ns_mean", header.num_ranks), matrix("rank_time_ns_p99", header.num_ranks),
                          matrix("rank_time_ns_max", header.num_ranks)};
  offsets.exchange_time_ns = matrix("exchange_time_ns", header.num_iterations);
  offsets.exchange_with_barrier_time_ns = matrix("exchange_with_barrier_time_ns", header.num_iterations);
}

TopologyOffsets allocate_topology(const Handle& group, const Header& header, const KeptTopology& its) {
  write_attribute(group, "name", its.name);
  write_attribute(group, "shape", its.shape);
  write_attribute(group, "mode", its.mode);
  write_attribute(group, "num_channels", static_cast<long long>(its.num_channels));
  write_attribute(group, "max_channels_rank", its.max_channels_rank);
  write_attribute(group, "num_ways", its.num_ways);
  if (!its.extents.empty()) hdf5::write_list(group, "extents", H5T_NATIVE_INT32, its.extents);

  const std::uint64_t num_directions = 2 * static_cast<std::uint64_t>(its.num_channels);
  TopologyOffsets offsets;
  offsets.row_start = allocate(group, "row_start", H5T_NATIVE_INT64, {static_cast<hsize_t>(header.num_ranks) + 1});
  offsets.partner = allocate(group, "partner", H5T_NATIVE_INT32, {num_directions});
  offsets.starts = allocate(group, "starts", H5T_NATIVE_UINT8, {num_directions});
  if (!header.has_load) allocate_matrices(group, header, num_directions, offsets);
  return offsets;
}

LoadOffsets allocate_load(const Handle& file) {
  const Handle group = make_group(file, "load");
  const auto list = [&](const char* name, hid_t type) { return allocate(group, name, type, {max_load_points}); };
  return {.topology_index = list("topology_index", H5T_NATIVE_INT32),
          .size_index = list("size_index", H5T_NATIVE_INT32),
          .repeat = list("repeat", H5T_NATIVE_INT32),
          .begin_s = list("begin_s", H5T_NATIVE_DOUBLE),
          .elapsed_s = list("elapsed_s", H5T_NATIVE_DOUBLE),
          .num_exchanges = list("num_exchanges", H5T_NATIVE_UINT64),
          .num_verified = list("num_verified", H5T_NATIVE_UINT64),
          .time_ns_median = list("time_ns_median", H5T_NATIVE_DOUBLE),
          .time_ns_max = list("time_ns_max", H5T_NATIVE_DOUBLE)};
}

}  // namespace

Offsets create_structure(const std::string& path, const Header& header) {
  return hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = hdf5::create_file(path);
    offsets.run = hdf5::create_run_part(file, header, "topology");
    make_group(file, "topologies").close();
    for (const KeptTopology& its : header.topologies) {
      const Handle group = make_group(file, fmt::format("topologies/{:04}", offsets.topologies.size()).c_str());
      offsets.topologies.push_back(allocate_topology(group, header, its));
    }
    if (header.has_load) offsets.load = allocate_load(file);
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

}  // namespace leadline::result::topology
