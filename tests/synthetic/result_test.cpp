// SPDX-License-Identifier: Apache-2.0
// A simulated result in files of either format: the same numbers come back, and the file says that it is simulated.
#include "synthetic/result.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "bench/link/convert.hpp"
#include "bench/link/slice_facts.hpp"
#include "small_machine.hpp"
#include "support/folder.hpp"

namespace leadline::synthetic {
namespace {

Machine broken_machine() {
  Machine machine = small_machine();
  PlantedFault fault;
  fault.component = {ComponentKind::link, -1, 1, 6};
  fault.factor = 4;
  machine.faults = {fault};
  return machine;
}

void expect_same(bench::link::ResultReader& file, Reader& reader) {
  for (std::int64_t rank = 0; rank < reader.header().num_ranks; ++rank) {
    const PairRow expected = reader.row(0, 0, rank), found = file.row(0, 0, rank);
    EXPECT_EQ(found[&PairRecord::count], expected[&PairRecord::count]);
    EXPECT_EQ(found[&PairRecord::time_ns_min], expected[&PairRecord::time_ns_min]);
    EXPECT_EQ(found[&PairRecord::time_ns_median], expected[&PairRecord::time_ns_median]);
    EXPECT_EQ(found[&PairRecord::time_ns_mean], expected[&PairRecord::time_ns_mean]);
    EXPECT_EQ(found[&PairRecord::time_ns_p99], expected[&PairRecord::time_ns_p99]);
    EXPECT_EQ(found[&PairRecord::time_ns_max], expected[&PairRecord::time_ns_max]);
    EXPECT_EQ(file.rounds(0, rank), reader.rounds(0, rank));
    EXPECT_EQ(file.placement(rank).host, "node" + std::to_string(rank / 4));
    EXPECT_EQ(file.placement(rank).numa_node, rank % 4 / 2);
  }
}

class written : public testing::TestWithParam<const char*> {};

TEST_P(written, reads_back_with_the_same_numbers) {
  const leadline::test::Folder folder;
  const Simulator simulator(broken_machine());
  Reader reader(simulator, link_result(simulator, {{"leadline", "simulate", "link"}, "1", "abc"}));
  const std::string path = folder / (std::string("result") + GetParam());
  if (path.ends_with(".h5")) {
    EXPECT_TRUE(bench::link::write_hdf5(reader, path).empty());
  } else {
    EXPECT_EQ(bench::link::write_sion(reader, path, bench::link::SionRecord::extended, path),
              bench::link::LeftOut{"time_ns_p999 of each pair"});
  }
  const auto file = bench::link::ResultReader::open(path);
  EXPECT_TRUE(file->header().complete);
  EXPECT_EQ(result::provenance_text(file->header(), "transport"), "model");
  EXPECT_EQ(result::option_text(file->header(), "seed"), "1");
  expect_same(*file, reader);
}

INSTANTIATE_TEST_SUITE_P(as, written, testing::Values(".h5", ".sion"));

TEST(result, says_that_it_is_simulated) {
  const Simulator simulator(broken_machine());
  const bench::link::LinkResult result = link_result(simulator, {});
  EXPECT_TRUE(result.provenance.transport.simulated);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].id, "simulated");
  EXPECT_EQ(result.provenance.num_hosts, 8);
  EXPECT_EQ(result.hosts.size(), 8U);
  EXPECT_EQ(result.hosts[1].ranks, "4-7");
}

TEST(result, has_the_summary_of_its_rows) {
  const Simulator simulator(broken_machine());
  const bench::link::LinkResult result = link_result(simulator, {});
  const bench::link::SliceSummary& slice = result.slices.at(0);
  EXPECT_EQ(slice.all.num_pairs, 32U * 31);
  EXPECT_EQ(slice.same_host.num_pairs, 32U * 3);
  EXPECT_EQ(slice.between_hosts.num_pairs, 32U * 28);
  Reader reader(simulator, result);
  const bench::link::PairSummary told = bench::link::slice_facts(reader, 0, 0);
  double least = 1e9, most = 0;
  for (std::int64_t rank = 0; rank < 32; ++rank) {
    for (const double time_ns : reader.row(0, 0, rank)[&PairRecord::time_ns_median]) {
      if (time_ns > 0) least = std::min(least, time_ns);
      most = std::max(most, time_ns);
    }
  }
  EXPECT_EQ(told.time_ns_min, least);
  EXPECT_EQ(told.time_ns_max, most);
}

TEST(result, retests_the_slowest_pairs_alone) {
  const Simulator simulator(broken_machine());
  const bench::link::LinkResult result = link_result(simulator, {}, 5);
  ASSERT_EQ(result.slices[0].slowest.size(), 5U);
  for (const SlowPair& pair : result.slices[0].slowest) {
    EXPECT_EQ(pair.time_ns, simulator.record(pair.from, pair.to).time_ns_median);
    EXPECT_EQ(pair.retest_time_ns, simulator.retest_median_ns(pair.from, pair.to, 1));
    EXPECT_EQ(std::set({pair.from / 4, pair.to / 4}), std::set({1U, 6U}));
  }
}

TEST(result, has_the_rounds_of_an_ordinary_test) {
  const Simulator simulator(small_machine());
  Reader reader(simulator, link_result(simulator, {}));
  for (std::int64_t rank = 0; rank < 32; ++rank) {
    const std::vector<std::int32_t> rounds = reader.rounds(0, rank);
    EXPECT_EQ(rounds[static_cast<std::size_t>(rank)], 0);
    EXPECT_EQ(std::set(rounds.begin(), rounds.end()).size(), 32U);
  }
}

}  // namespace
}  // namespace leadline::synthetic
