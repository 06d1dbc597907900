// SPDX-License-Identifier: Apache-2.0
// The record that the SION store writes is LinkTest's, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "bench/link/sion_store_fixture.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::test {
namespace {

using bench::link::LinkFileSetup;
using bench::link::SionReader;
using bench::link::SionRecord;
using bench::link::SionStore;
using testing::ElementsAre;

/// A request like that of the LinkTest run that made a sample, and the sample's own numbers as rows.
struct Rerun {
  explicit Rerun(const std::string& path) : sample(path) {
    const auto& header = sample.header();
    result.request.message_sizes_bytes = header.message_sizes_bytes;
    result.request.num_messages = static_cast<std::uint64_t>(header.linktest->num_iterations);
    result.request.serial = header.linktest->is_serial;
    if (header.num_all_to_all_slots > 0) result.request.all_to_all = bench::link::AllToAll::before_each_round;
    result.provenance.num_ranks = static_cast<int>(header.num_ranks);
    result.num_rounds = header.num_ranks - 1;
    for (std::int64_t rank = 0; rank < header.num_ranks; ++rank) {
      rows.push_back(sample.row(0, 0, rank));
      rounds.push_back(sample.rounds(0, rank));
      hosts.push_back(sample.placement(rank).host);
      all_to_all_ns.push_back(sample.all_to_all_ns(0, 0, rank));
    }
    bench::link::SliceSummary summary;
    for (const bench::link::Retest& retest : *header.retests) {
      summary.slowest.push_back({static_cast<std::uint32_t>(retest.from), static_cast<std::uint32_t>(retest.to),
                                 retest.time_ns, retest.retest_time_ns});
    }
    result.slices = {summary};
    result.complete = true;
  }

  void write(cluster::Cluster& cluster, const std::string& path, RowPath row_path) const {
    const auto rank = static_cast<std::size_t>(cluster.rank());
    LinkFileSetup setup = setup_for(cluster, path);
    setup.sion_record = SionRecord::plain;
    setup.row_path = row_path;
    setup.placement.host = hosts[rank];
    setup.rounds = [this](int of, int) { return rounds[static_cast<std::size_t>(of)]; };
    SionStore store(cluster, result, setup);
    store.reserve_repeats(1);
    store.write_all_to_all({}, all_to_all_ns[rank]);
    store.write({}, rows[rank]);
    store.finish(result);
  }

  SionReader sample;
  bench::link::LinkResult result;
  std::vector<PairRow> rows;
  std::vector<std::vector<std::int32_t>> rounds;
  std::vector<std::string> hosts;
  std::vector<std::vector<double>> all_to_all_ns;
};

TEST(SionRecord, IsThatOfLinkTestsOwnFilesByteForByte) {
  for (const char* name : {"ompi_n4_1B_par", "ompi_n8_1KiB_a2a", "ompi_n8_1MiB_ser"}) {
    for (const RowPath row_path : {RowPath::automatic, RowPath::funnel}) {
      SCOPED_TRACE(name);
      const std::string sample_path = std::string(SAMPLES) + "linktest/" + name + ".sion";
      const Rerun rerun(sample_path);
      const Folder folder;
      const std::string path = folder / "pingpong_results_bin.sion";
      expect_no_errors(
          run_ranks({rerun.result.provenance.num_ranks}, [&](auto& cluster) { rerun.write(cluster, path, row_path); }));
      std::string expected = contents_of(sample_path), written = contents_of(path);
      ASSERT_EQ(written.size(), expected.size());
      // Means depend on the order of addition: LinkTest's is that of its steps.
      constexpr std::size_t run_times = 4096 + 329;
      for (const std::size_t mean_offset : {run_times + 16, run_times + 40}) {
        EXPECT_NEAR(number_in<double>(written, mean_offset), number_in<double>(expected, mean_offset), 1e-9);
        written.replace(mean_offset, 8, expected, mean_offset, 8);
      }
      const auto differs = std::mismatch(written.begin(), written.end(), expected.begin()).first - written.begin();
      EXPECT_EQ(static_cast<std::size_t>(differs), written.size()) << "the first byte that differs";
    }
  }
}

TEST(SionRecord, HasTheSizesOfTheReference) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    LinkFileSetup setup = sion_setup(cluster, path);
    setup.sion_record = SionRecord::plain;
    write_all(cluster, setup);
  }));
  const auto reader = result::sion::Reader::open(path);
  const auto& layout = reader.files()[0].layout;
  EXPECT_THAT(layout.used_bytes, ElementsAre(553, 337, 337, 337));
  EXPECT_THAT(layout.chunk_size_bytes, ElementsAre(553, 337, 337, 2869));
  EXPECT_EQ(layout.meta2_offset, 8192);
  const std::string bytes = contents_of(path);
  EXPECT_EQ(bytes.size(), 8256U);
  constexpr std::size_t numbers = 4096 + 289, times = 4096 + 409, steps = times + 32;
  EXPECT_EQ(number_in<std::int32_t>(bytes, numbers), 100);
  EXPECT_EQ(number_in<std::int32_t>(bytes, numbers + 4), 8) << "the first message size";
  EXPECT_EQ(number_in<std::int32_t>(bytes, numbers + 20), 1) << "permuted";
  EXPECT_EQ(number_in<double>(bytes, times + 8), 1000001.3 / 1e9) << "the mean of the first repeat, in seconds";
  EXPECT_EQ(number_in<double>(bytes, times + 24), 0) << "not measured";
  EXPECT_EQ(number_in<std::int32_t>(bytes, steps + 12), 3);
  EXPECT_EQ(number_in<double>(bytes, numbers + 40), 1000000.3 / 1e9) << "the least of all times in the record";
}

TEST(SionRecord, KeepsTheTimesOfTheExchangeBeforeEachRound) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(4);
    so_far.request.all_to_all = bench::link::AllToAll::before_each_round;
    SionStore store(cluster, so_far, sion_setup(cluster, path));
    store.reserve_repeats(1);
    const double base = 1000.0 * (cluster.rank() + 1);
    store.write_all_to_all(slice_of(0, 0), std::array{base + 1, base + 2, base + 3});
    store.write_all_to_all(slice_of(0, 1), std::array{base + 11, base + 12});
    store.write(slice_of(0, 0), row_of(cluster, slice_of(0, 0)));
    store.finish(finished(so_far));
  }));
  SionReader reader(path);
  EXPECT_EQ(reader.header().num_all_to_all_slots, 3);
  EXPECT_THAT(reader.all_to_all_ns(0, 0, 2), ElementsAre(3001, 3002, 3003));
  EXPECT_THAT(reader.all_to_all_ns(0, 1, 2), ElementsAre(3011, 3012, 0));
  const std::string bytes = contents_of(path);
  constexpr std::size_t run_times = 4096 + 329, exchanges = 4096 + 409 + 4 * 12;
  EXPECT_EQ(number_in<double>(bytes, run_times + 24), 1001 / 1e9);
  EXPECT_EQ(number_in<double>(bytes, run_times + 32), 4003 / 1e9);
  EXPECT_EQ(number_in<double>(bytes, exchanges), 0) << "steps count from 1";
  EXPECT_EQ(number_in<double>(bytes, exchanges + 24), 1003 / 1e9);
}

}  // namespace
}  // namespace leadline::test
