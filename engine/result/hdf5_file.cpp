// SPDX-License-Identifier: Apache-2.0
// Groups, attributes and allocated datasets of an HDF5 result, written by rank 0.
#include "result/hdf5_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/options.hpp"
#include "result/library.hpp"
#include "result/output_file.hpp"

namespace leadline::result {

namespace {

using hdf5::check;
using hdf5::Handle;
using hdf5::write_attribute;

/// Runs `write` with a quiet library; its failure becomes the error that names the file.
template <typename Write>
auto with_library(const std::string& path, Write write) {
  const hdf5::Session session;
  try {
    return write();
  } catch (const hdf5::Failure& failure) {
    if (failure.error_number() != 0) throw write_error(path, failure.error_number());
    throw write_error(path, failure.what());
  }
}

Handle file_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  // Locks fail on parallel file systems that are mounted without them; only rank 0 ever has the file open here.
  check(H5Pset_file_locking(access.id(), false, true));
#endif
  return access;
}

Handle open_file(const std::string& path) {
  return Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, file_access().id()), H5Fclose);
}

Handle make_group(const Handle& parent, const char* name) {
  return Handle(H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

Handle make_space(const std::vector<hsize_t>& shape) {
  if (shape.empty()) return hdf5::scalar();
  return Handle(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
}

/// A contiguous dataset with a place in the file and nothing written there: a hole, read as zeros.
std::uint64_t allocate(const Handle& parent, const char* name, hid_t type, const std::vector<hsize_t>& shape) {
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check(H5Pset_layout(properties.id(), H5D_CONTIGUOUS));
  check(H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY));
  check(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER));
  check(H5Pset_obj_track_times(properties.id(), false));
  const Handle space = make_space(shape);
  Handle dataset(H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose);
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF) throw hdf5::Failure(fmt::format("the HDF5 library gives {} no place in the file", name));
  dataset.close();
  return offset;
}

template <typename Value>
void write_list(const Handle& parent, const char* name, hid_t type, const std::vector<Value>& values) {
  const Handle space = make_space({values.size()});
  Handle dataset(H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  if (!values.empty()) check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  dataset.close();
}

void write_provenance(const Handle& file, const LinkResult& so_far) {
  const Provenance& from = so_far.provenance;
  const nlohmann::json command_line = so_far.request.command_line;
  const Handle group = make_group(file, "provenance");
  write_attribute(group, "version", from.version);
  write_attribute(group, "commit", from.commit);
  write_attribute(group, "command_line", command_line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  write_attribute(group, "start_utc", from.start_utc);
  write_attribute(group, "launcher", from.launcher);
  write_attribute(group, "kernel", from.kernel);
  write_attribute(group, "transport", from.transport.name);
  write_attribute(group, "transport_library", from.transport.library);
  write_attribute(group, "transport_device", from.transport.device);
  write_attribute(group, "simulated", from.transport.simulated ? 1 : 0);
  write_attribute(group, "clock_source", from.clock.source);
  write_attribute(group, "clock_resolution_ns", from.clock.resolution_ns);
  write_attribute(group, "clock_cost_ns", from.clock.cost_ns);
  write_attribute(group, "wait", name_of(from.wait));
  write_attribute(group, "control_plane_on_loopback", from.control_plane_on_loopback ? 1 : 0);
  write_attribute(group, "num_ranks", from.num_ranks);
  write_attribute(group, "num_hosts", from.num_hosts);
  write_attribute(group, "num_rounds", static_cast<long long>(so_far.num_rounds));
  write_attribute(group, "direction", name_of(so_far.request.direction));
}

void write_options(const Handle& file, const LinkRequest& request) {
  const Handle group = make_group(file, "options");
  for (const auto& [name, value] : options_as_text(request)) write_attribute(group, name.c_str(), value);
}

void allocate_ranks(const Handle& file, std::uint64_t num_ranks, FixedOffsets& offsets) {
  const Handle group = make_group(file, "ranks");
  offsets.host = allocate(group, "host", hdf5::text_type(host_size).id(), {num_ranks});
  offsets.device = allocate(group, "device", hdf5::text_type(device_size).id(), {num_ranks});
  offsets.cpus = allocate(group, "cpus", hdf5::text_type(cpus_size).id(), {num_ranks});
  offsets.pid = allocate(group, "pid", H5T_NATIVE_INT32, {num_ranks});
  offsets.num_cpus = allocate(group, "num_cpus", H5T_NATIVE_INT32, {num_ranks});
  offsets.numa_node = allocate(group, "numa_node", H5T_NATIVE_INT32, {num_ranks});
}

RepeatOffsets allocate_repeat(const Handle& group, MatrixShape shape) {
  const std::vector<hsize_t> dimensions{shape.num_sizes, shape.num_ranks, shape.num_ranks};
  RepeatOffsets offsets;
  offsets.count = allocate(group, "count", H5T_NATIVE_UINT32, dimensions);
  offsets.time_ns_min = allocate(group, "time_ns_min", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_median = allocate(group, "time_ns_median", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_mean = allocate(group, "time_ns_mean", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_p99 = allocate(group, "time_ns_p99", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_max = allocate(group, "time_ns_max", H5T_NATIVE_DOUBLE, dimensions);
  return offsets;
}

void write_retest(const Handle& file, const LinkResult& result) {
  std::vector<std::int32_t> repeat, size_index, from, to;
  std::vector<double> time_ns, retest_time_ns;
  for (const SliceSummary& summary : result.slices) {
    for (const SlowPair& pair : summary.slowest) {
      repeat.push_back(summary.slice.repeat);
      size_index.push_back(summary.slice.size_index);
      from.push_back(static_cast<std::int32_t>(pair.from));
      to.push_back(static_cast<std::int32_t>(pair.to));
      time_ns.push_back(pair.time_ns);
      retest_time_ns.push_back(pair.retest_time_ns);
    }
  }
  const Handle group = make_group(file, "retest");
  write_list(group, "repeat", H5T_NATIVE_INT32, repeat);
  write_list(group, "size_index", H5T_NATIVE_INT32, size_index);
  write_list(group, "from", H5T_NATIVE_INT32, from);
  write_list(group, "to", H5T_NATIVE_INT32, to);
  write_list(group, "time_ns", H5T_NATIVE_DOUBLE, time_ns);
  write_list(group, "retest_time_ns", H5T_NATIVE_DOUBLE, retest_time_ns);
}

}  // namespace

FixedOffsets create_structure(const std::string& path, const LinkResult& so_far, MatrixShape shape,
                              const std::string& nonce) {
  return with_library(path, [&] {
    FixedOffsets offsets;
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access().id()), H5Fclose);
    write_attribute(file, "nonce", nonce);
    write_attribute(file, "format", "leadline");
    write_attribute(file, "format_version", 1);
    write_attribute(file, "benchmark", "link");
    {
      const Handle status = make_group(file, "status");
      offsets.complete = allocate(status, "complete", H5T_NATIVE_UINT8, {});
      offsets.reason = allocate(status, "reason", hdf5::text_type(reason_size).id(), {});
    }
    write_provenance(file, so_far);
    write_options(file, so_far.request);
    offsets.message_size = allocate(file, "message_size_bytes", H5T_NATIVE_UINT64, {shape.num_sizes});
    if (so_far.request.shuffle_ranks > 0) {
      const auto num_permutations = static_cast<hsize_t>(so_far.request.shuffle_ranks);
      offsets.permutations = allocate(file, "permutations", H5T_NATIVE_INT32, {num_permutations, shape.num_ranks});
    }
    allocate_ranks(file, shape.num_ranks, offsets);
    make_group(file, "repeats").close();
    file.close();
    return offsets;
  });
}

std::vector<RepeatOffsets> add_repeats(const std::string& path, RepeatRange repeats, MatrixShape shape,
                                       const std::function<int(int repeat)>& permutation_of_repeat) {
  return with_library(path, [&] {
    std::vector<RepeatOffsets> offsets;
    Handle file = open_file(path);
    for (int repeat = repeats.first; repeat < repeats.last; ++repeat) {
      const Handle group = make_group(file, fmt::format("repeats/{:04}", repeat).c_str());
      write_attribute(group, "repeat", repeat);
      write_attribute(group, "permutation", permutation_of_repeat ? permutation_of_repeat(repeat) : -1);
      offsets.push_back(allocate_repeat(group, shape));
    }
    file.close();
    return offsets;
  });
}

void add_end(const std::string& path, const LinkResult& result, const std::string& summary) {
  with_library(path, [&] {
    Handle file = open_file(path);
    {
      const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
      write_attribute(provenance, "end_utc", result.provenance.end_utc);
    }
    write_retest(file, result);
    const Handle type = hdf5::text_type();
    const Handle space = hdf5::scalar();
    Handle dataset(H5Dcreate2(file.id(), "summary", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Dclose);
    const char* text = summary.c_str();
    check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &text));
    dataset.close();
    file.close();
  });
}

}  // namespace leadline::result
