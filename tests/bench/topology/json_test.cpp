// SPDX-License-Identifier: Apache-2.0
// The JSON document of a topology test says what the result says, with the keys of its schema and no others.
#include "bench/topology/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <nlohmann/json.hpp>

#include "bench/topology/result_fixture.hpp"
#include "support/schema.hpp"

namespace leadline::test::topology_json_test {
namespace {

using bench::topology::json_text;
using bench::topology::JsonStore;
using nlohmann::json;
using testing::Each;
using testing::IsEmpty;

const std::vector<schedule::Topology> topologies = topologies_of_5();

json document_of(const bench::topology::TopologyResult& result) { return json::parse(json_text(result)); }
json document_at(const std::string& path) { return json::parse(contents_of(path)); }

bench::topology::TopologyResult finished_load() {
  bench::topology::TopologyResult result = load_so_far(topologies);
  for (int number = 0; number < 3; ++number) result.load.push_back(load_point(number));
  result.complete = true;
  return result;
}

/// A cell of which nothing is known but that it is there.
bench::topology::TopologyResult nothing_measured() {
  bench::topology::TopologyResult result = topology_so_far(topologies);
  result.cells.resize(1);
  return result;
}

TEST(TopologyJson, FitsItsSchema) {
  const Schema schema(bench::topology::schema());
  EXPECT_THAT(schema.complaints(document_of(finished(topology_so_far(topologies)))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(topology_so_far(topologies))), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(nothing_measured())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of(finished_load())), IsEmpty());
  EXPECT_THAT(schema.complaints(document_of({})), IsEmpty());
  const std::vector<schedule::Topology> torus{
      {{.name = "torus:2x2", .shape = schedule::Shape::torus, .extents = {2, 2}}, 4}};
  EXPECT_THAT(schema.complaints(document_of(topology_so_far(torus))), IsEmpty());
}

TEST(TopologyJson, ThatDoesNotFitIsFound) {
  const Schema schema(bench::topology::schema());
  json document = document_of(finished(topology_so_far(topologies)));
  document["cells"][0]["exchange"]["at_mean"].erase("local_bytes_per_s");
  document["topologies"][1]["extra"] = 1;
  document["options"]["traced"] = "10";
  document["cells"][1]["slowest_channel"]["from"] = nullptr;
  EXPECT_EQ(schema.complaints(document).size(), 4U);
}

TEST(TopologyJson, HasTheTopologies) {
  const json list = document_of(topology_so_far(topologies))["topologies"];
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0], json({{"name", "star"},
                           {"shape", "star"},
                           {"mode", "answered"},
                           {"num_channels", 4},
                           {"max_channels_rank", 4},
                           {"num_ways", 2}}));
  EXPECT_EQ(list[2]["mode"], "one-way");
  EXPECT_EQ(list[2]["num_ways"], 1);
}

TEST(TopologyJson, HasTimesWithTheRatesThatBelongToThem) {
  const json document = document_of(finished(topology_so_far(topologies)));
  ASSERT_EQ(document["cells"].size(), 18U);
  const json cell = document["cells"][3];  // the first topology, 1024 bytes
  EXPECT_EQ(cell["topology_index"], 0);
  EXPECT_EQ(cell["topology"], "star");
  EXPECT_EQ(cell["repeat"], 0);
  EXPECT_EQ(cell["size_index"], 1);
  EXPECT_EQ(cell["message_size_bytes"], 1024);
  EXPECT_EQ(cell["num_channels"], 4);
  EXPECT_EQ(cell["max_channels_rank"], 4);
  EXPECT_EQ(cell["exchange"]["num"], 4);
  EXPECT_EQ(cell["exchange"]["time_ns_min"], 1999.5);
  EXPECT_EQ(cell["exchange"]["time_ns_median"], 2000);
  EXPECT_EQ(cell["exchange"]["time_ns_mean"], 2000.125);
  EXPECT_EQ(cell["exchange"]["time_ns_p99"], 2000.25);
  EXPECT_EQ(cell["exchange"]["time_ns_max"], 2000.5);
  EXPECT_EQ(cell["exchange"]["median_interval_ns"], json::array({1999.75, 2000.0625}));
  const json at_median = cell["exchange"]["at_median"];
  EXPECT_DOUBLE_EQ(at_median["average_bytes_per_s"], 2 * 1024 / 2000e-9);
  EXPECT_DOUBLE_EQ(at_median["local_bytes_per_s"], 4 * 2 * 1024 / 2000e-9);
  EXPECT_DOUBLE_EQ(at_median["total_bytes_per_s"], 4 * 2 * 1024 / 2000e-9);
  EXPECT_DOUBLE_EQ(cell["exchange"]["at_mean"]["average_bytes_per_s"], 2 * 1024 / 2000.125e-9);
  EXPECT_DOUBLE_EQ(cell["with_barrier"]["at_median"]["average_bytes_per_s"], 2 * 1024 / 4000e-9);
  EXPECT_EQ(cell["ranks"]["slowest"], json({{"rank", 3}, {"bytes_per_s", 1e6}}));
  EXPECT_EQ(cell["ranks"]["fastest"], json({{"rank", 1}, {"bytes_per_s", 3e6}}));
  EXPECT_EQ(cell["ranks"]["median_bytes_per_s"], 2e6);
  EXPECT_EQ(cell["slowest_channel"]["from"], 4);
  EXPECT_EQ(cell["slowest_channel"]["to"], 1);
  EXPECT_EQ(cell["slowest_channel"]["time_ns"], 1600);
  EXPECT_DOUBLE_EQ(cell["slowest_channel"]["bytes_per_s"], 1024 / 1600e-9);
  EXPECT_EQ(cell["fairness"], 0.75);
  EXPECT_EQ(cell["measuring_s"], 0.5);
}

TEST(TopologyJson, HasTheLoadWithItsRate) {
  const json load = document_of(finished_load())["load"];
  ASSERT_EQ(load.size(), 3U);
  EXPECT_EQ(load[1]["topology"], "halves");
  EXPECT_EQ(load[1]["size_index"], 1);
  EXPECT_EQ(load[1]["repeat"], 1);
  EXPECT_EQ(load[1]["begin_s"], 1.5);
  EXPECT_EQ(load[1]["elapsed_s"], 1.25);
  EXPECT_EQ(load[1]["num_exchanges"], 1001);
  EXPECT_EQ(load[1]["num_verified"], 501);
  EXPECT_EQ(load[1]["time_ns_median"], 2001);
  EXPECT_EQ(load[1]["time_ns_max"], 9001);
  EXPECT_EQ(load[1]["num_channels"], 11);
  EXPECT_EQ(load[1]["max_channels_rank"], 4);
  EXPECT_DOUBLE_EQ(load[1]["total_bytes_per_s"], 11 * 2 * 8 * 1001 / 1.25);
}

TEST(TopologyJson, SaysNullForWhatWasNotMeasured) {
  const json cell = document_of(nothing_measured())["cells"][0];
  EXPECT_EQ(cell["exchange"]["num"], 0);
  EXPECT_TRUE(cell["exchange"]["time_ns_median"].is_null());
  EXPECT_TRUE(cell["exchange"]["median_interval_ns"][1].is_null());
  EXPECT_TRUE(cell["with_barrier"]["at_mean"]["local_bytes_per_s"].is_null());
  EXPECT_TRUE(cell["ranks"]["slowest"].is_null());
  EXPECT_TRUE(cell["ranks"]["median_bytes_per_s"].is_null());
  EXPECT_TRUE(cell["slowest_channel"].is_null());
  EXPECT_TRUE(cell["fairness"].is_null());
}

TEST(TopologyJsonStore, ThatFailsHasWhatWasMeasuredAndSaysWhy) {
  const Folder folder;
  const auto errors = run_ranks({5}, [&](auto& cluster) {
    auto setup = topology_setup(cluster, folder / "cells.json", topologies);
    JsonStore cells(cluster, topology_so_far(topologies), setup);
    for (std::size_t index = 0; index < 2; ++index) write_cell(cells, cluster, index, setup.cells[index], topologies);
    std::thread([&] { cells.mark_incomplete("rank 3 is gone"); }).join();

    setup.path = folder / "load.json";
    JsonStore load(cluster, load_so_far(topologies), setup);
    load.write(0, load_point(1));
    load.mark_incomplete("rank 4 is gone");
  });
  EXPECT_THAT(errors, Each(""));
  const json cells = document_at(folder / "cells.json"), load = document_at(folder / "load.json");
  EXPECT_EQ(cells["incomplete_reason"], "rank 3 is gone");
  EXPECT_EQ(cells["complete"], false);
  ASSERT_EQ(cells["cells"].size(), 2U);
  EXPECT_EQ(cells["cells"][1]["topology"], "halves");
  EXPECT_EQ(load["incomplete_reason"], "rank 4 is gone");
  ASSERT_EQ(load["load"].size(), 1U);
  EXPECT_EQ(load["load"][0]["num_exchanges"], 1001);
}

}  // namespace
}  // namespace leadline::test::topology_json_test
