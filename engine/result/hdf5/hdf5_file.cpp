// SPDX-License-Identifier: Apache-2.0
// Groups, attributes and allocated datasets of an HDF5 result, written by rank 0.
#include "result/hdf5/hdf5_file.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "result/hdf5/library.hpp"
#include "result/output_file.hpp"

namespace leadline::result {

namespace {

using hdf5::check;
using hdf5::file_access;
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

/// The types that readers have seen from the beginning: the number of rounds is the one that outgrows 32 bits.
void write_value(const Handle& group, const std::string& name, const HeaderValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const bool is_long = name == "num_rounds" || *number != static_cast<int>(*number);
    if (is_long) return write_attribute(group, name.c_str(), static_cast<long long>(*number));
    return write_attribute(group, name.c_str(), static_cast<int>(*number));
  }
  if (const auto* number = std::get_if<double>(&value)) return write_attribute(group, name.c_str(), *number);
  write_attribute(group, name.c_str(), std::get<std::string>(value));
}

void write_linktest(const Handle& file, const ResultHeader& header, FixedOffsets& offsets) {
  const LinkTestOrigin& its = *header.linktest;
  const Handle group = make_group(file, "linktest");
  write_attribute(group, "num_iterations", its.num_iterations);
  write_attribute(group, "message_size_bytes", its.message_size_bytes);
  write_attribute(group, "has_all_to_all", its.has_all_to_all ? 1 : 0);
  write_attribute(group, "is_serial", its.is_serial ? 1 : 0);
  write_attribute(group, "is_permuted", its.is_permuted ? 1 : 0);
  write_attribute(group, "time_s_min", its.times_s[0]);
  write_attribute(group, "time_s_max", its.times_s[1]);
  write_attribute(group, "time_s_mean", its.times_s[2]);
  write_attribute(group, "all_to_all_time_s_min", its.all_to_all_times_s[0]);
  write_attribute(group, "all_to_all_time_s_max", its.all_to_all_times_s[1]);
  write_attribute(group, "all_to_all_time_s_mean", its.all_to_all_times_s[2]);
  const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
  offsets.location = allocate(group, "location", H5T_NATIVE_INT32, {num_ranks, location_size});
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

RepeatOffsets allocate_repeat(const Handle& group, const ResultHeader& header) {
  const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
  const auto num_slots = static_cast<hsize_t>(header.num_all_to_all_slots);
  const hsize_t num_sizes = header.message_sizes_bytes.size();
  const std::vector<hsize_t> dimensions{num_sizes, num_ranks, num_ranks};
  RepeatOffsets offsets;
  if (header.has_rounds) offsets.round = allocate(group, "round", H5T_NATIVE_INT32, {num_ranks, num_ranks});
  if (num_slots > 0) {
    offsets.all_to_all_time_ns =
        allocate(group, "all_to_all_time_ns", H5T_NATIVE_DOUBLE, {num_sizes, num_ranks, num_slots});
  }
  offsets.count = allocate(group, "count", H5T_NATIVE_UINT32, dimensions);
  offsets.time_ns_min = allocate(group, "time_ns_min", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_median = allocate(group, "time_ns_median", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_mean = allocate(group, "time_ns_mean", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_p99 = allocate(group, "time_ns_p99", H5T_NATIVE_DOUBLE, dimensions);
  offsets.time_ns_max = allocate(group, "time_ns_max", H5T_NATIVE_DOUBLE, dimensions);
  return offsets;
}

void write_retest(const Handle& file, const std::vector<Retest>& retests) {
  const auto column = [&](auto member) {
    std::vector<std::decay_t<decltype(retests.front().*member)>> values;
    for (const Retest& retest : retests) values.push_back(retest.*member);
    return values;
  };
  const Handle group = make_group(file, "retest");
  write_list(group, "repeat", H5T_NATIVE_INT32, column(&Retest::repeat));
  write_list(group, "size_index", H5T_NATIVE_INT32, column(&Retest::size_index));
  write_list(group, "from", H5T_NATIVE_INT32, column(&Retest::from));
  write_list(group, "to", H5T_NATIVE_INT32, column(&Retest::to));
  write_list(group, "time_ns", H5T_NATIVE_DOUBLE, column(&Retest::time_ns));
  write_list(group, "retest_time_ns", H5T_NATIVE_DOUBLE, column(&Retest::retest_time_ns));
}

void write_text(const Handle& file, const char* name, const std::string& text) {
  const Handle type = hdf5::text_type();
  const Handle space = hdf5::scalar();
  Handle dataset(H5Dcreate2(file.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  const char* characters = text.c_str();
  check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &characters));
  dataset.close();
}

}  // namespace

FixedOffsets create_structure(const std::string& path, const ResultHeader& header) {
  return with_library(path, [&] {
    FixedOffsets offsets;
    const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access().id()), H5Fclose);
    write_attribute(file, "nonce", header.nonce);
    write_attribute(file, "format", "leadline");
    write_attribute(file, "format_version", result_format_version);
    write_attribute(file, "benchmark", "link");
    {
      const Handle status = make_group(file, "status");
      offsets.complete = allocate(status, "complete", H5T_NATIVE_UINT8, {});
      offsets.reason = allocate(status, "reason", hdf5::text_type(reason_size).id(), {});
    }
    {
      const Handle provenance = make_group(file, "provenance");
      for (const auto& [name, value] : header.provenance) write_value(provenance, name, value);
    }
    {
      const Handle options = make_group(file, "options");
      for (const auto& [name, value] : header.options) write_attribute(options, name.c_str(), value);
    }
    offsets.message_size = allocate(file, "message_size_bytes", H5T_NATIVE_UINT64, {header.message_sizes_bytes.size()});
    if (header.num_permutations > 0) {
      const auto num_permutations = static_cast<hsize_t>(header.num_permutations);
      offsets.permutations = allocate(file, "permutations", H5T_NATIVE_INT32, {num_permutations, num_ranks});
    }
    allocate_ranks(file, num_ranks, offsets);
    if (header.linktest) write_linktest(file, header, offsets);
    make_group(file, "repeats").close();
    file.close();
    return offsets;
  });
}

std::vector<RepeatOffsets> add_repeats(const std::string& path, const ResultHeader& header,
                                       std::span<const KeptRepeat> repeats) {
  return with_library(path, [&] {
    std::vector<RepeatOffsets> offsets;
    Handle file = open_file(path);
    for (const KeptRepeat& repeat : repeats) {
      const Handle group = make_group(file, fmt::format("repeats/{:04}", repeat.repeat).c_str());
      write_attribute(group, "repeat", repeat.repeat);
      write_attribute(group, "permutation", repeat.permutation);
      offsets.push_back(allocate_repeat(group, header));
    }
    file.close();
    return offsets;
  });
}

void add_end(const std::string& path, const ResultHeader& header) {
  with_library(path, [&] {
    Handle file = open_file(path);
    if (header.end_utc) {
      const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
      write_attribute(provenance, "end_utc", *header.end_utc);
    }
    if (header.retests) write_retest(file, *header.retests);
    if (header.summary) write_text(file, "summary", *header.summary);
    file.close();
  });
}

}  // namespace leadline::result
