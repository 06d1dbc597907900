// SPDX-License-Identifier: Apache-2.0
// Groups, attributes and allocated datasets of a link test in HDF5, written by rank 0.
#include "result/hdf5/hdf5_file.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "result/hdf5/structure.hpp"

namespace leadline::result {

namespace {

using hdf5::allocate;
using hdf5::Handle;
using hdf5::make_group;
using hdf5::write_attribute;
using hdf5::write_list;

void write_linktest(const Handle& file, const LinkResultHeader& header, FixedOffsets& offsets) {
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

/// What the beginning of a run could only guess.
void correct_num_rounds(const Handle& file, std::int64_t num_rounds) {
  const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
  hdf5::check(H5Adelete(provenance.id(), "num_rounds"));
  write_attribute(provenance, "num_rounds", static_cast<long long>(num_rounds));
}

RepeatOffsets allocate_repeat(const Handle& group, const LinkResultHeader& header) {
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

}  // namespace

FixedOffsets create_structure(const std::string& path, const LinkResultHeader& header) {
  return hdf5::writing(path, [&] {
    FixedOffsets offsets;
    Handle file = hdf5::create_file(path);
    static_cast<RunOffsets&>(offsets) = hdf5::create_run_part(file, header, "link");
    if (header.num_permutations > 0) {
      const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
      const auto num_permutations = static_cast<hsize_t>(header.num_permutations);
      offsets.permutations = allocate(file, "permutations", H5T_NATIVE_INT32, {num_permutations, num_ranks});
    }
    if (header.linktest) write_linktest(file, header, offsets);
    make_group(file, "repeats").close();
    file.close();
    return offsets;
  });
}

std::vector<RepeatOffsets> add_repeats(const std::string& path, const LinkResultHeader& header,
                                       std::span<const KeptRepeat> repeats) {
  return hdf5::writing(path, [&] {
    std::vector<RepeatOffsets> offsets;
    Handle file = hdf5::open_file(path);
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

void add_end(const std::string& path, const LinkResultHeader& header) {
  hdf5::writing(path, [&] {
    Handle file = hdf5::open_file(path);
    if (header.retests) write_retest(file, *header.retests);
    if (header.num_rounds_run) correct_num_rounds(file, *header.num_rounds_run);
    hdf5::add_run_end(file, header);
    file.close();
  });
}

}  // namespace leadline::result
