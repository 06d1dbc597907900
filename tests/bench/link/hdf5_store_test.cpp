// SPDX-License-Identifier: Apache-2.0
// What the HDF5 store writes is what the library reads: structure, rows of all ranks, marks.
#include "bench/link/hdf5_store.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "bench/link/json.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/result_fixture.hpp"

namespace leadline::test::hdf5_store_test {
namespace {

using bench::link::Hdf5Store;
using bench::link::LinkFileSetup;

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;

/// A whole run of two repeats, the second reserved late.
void write_all(cluster::Cluster& cluster, LinkFileSetup setup) {
  const bench::link::LinkResult so_far = result_so_far(cluster.size());
  Hdf5Store store(cluster, so_far, std::move(setup));
  store.reserve_repeats(1);
  for (int repeat = 0; repeat < 2; ++repeat) {
    store.reserve_repeats(repeat + 1);
    for (int size_index = 0; size_index < 2; ++size_index) {
      const bench::link::Slice slice{
          .repeat = repeat, .permutation = repeat, .size_index = size_index, .message_size_bytes = 8};
      store.write(slice, PairRow(static_cast<std::size_t>(cluster.size())));
      store.write(slice, row_of(cluster, slice));
    }
  }
  store.finish(finished(so_far));
}

void expect_no_errors(const std::vector<std::string>& errors) { EXPECT_THAT(errors, Each("")); }

void expect_rows(const Reader& reader, const std::string& group, int repeat) {
  const auto count = reader.ints(group + "/count");
  for (const auto& [name, offset] : std::vector<std::pair<std::string, double>>{
           {"min", 0.1}, {"median", 0.2}, {"mean", 0.3}, {"p99", 0.4}, {"max", 0.5}}) {
    const auto values = reader.doubles(group + "/time_ns_" + name);
    std::size_t at = 0;
    for (int size_index = 0; size_index < 2; ++size_index) {
      for (int from = 0; from < num_ranks; ++from) {
        for (int to = 0; to < num_ranks; ++to, ++at) {
          const double base = 1e6 * (repeat + 1) + 1e4 * size_index + 1e2 * from + to;
          const bool is_hole = to == num_ranks - 1;
          EXPECT_EQ(values[at], is_hole ? 0 : base + offset) << name << " " << from << " " << to;
          EXPECT_EQ(count[at], is_hole ? 0 : 20 + to);
        }
      }
    }
  }
}

TEST(Hdf5Store, GivesBackEverythingThatAllRanksWrote) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({num_ranks, 2}, [&](auto& cluster) { write_all(cluster, setup_for(cluster, path)); }));

  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_EQ(reader.text_attribute("/", "format"), "leadline");
  EXPECT_EQ(reader.number_attribute("/", "format_version"), 1);
  EXPECT_EQ(reader.text_attribute("/", "benchmark"), "link");
  EXPECT_EQ(reader.text_attribute("/", "nonce").size(), 32U);
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(1));
  EXPECT_THAT(reader.texts("/status/reason"), ElementsAre(""));

  EXPECT_EQ(reader.text_attribute("/provenance", "launcher"), "threads");
  EXPECT_EQ(reader.text_attribute("/provenance", "transport_device"), "");
  EXPECT_EQ(reader.text_attribute("/provenance", "direction"), "semidirectional");
  EXPECT_EQ(reader.text_attribute("/provenance", "wait"), "yield");
  EXPECT_EQ(reader.text_attribute("/provenance", "end_utc"), "2026-01-31T23:59:59Z");
  EXPECT_EQ(reader.number_attribute("/provenance", "clock_cost_ns"), 21.5);
  EXPECT_EQ(reader.number_attribute("/provenance", "num_rounds"), num_ranks - 1);
  EXPECT_EQ(nlohmann::json::parse(reader.text_attribute("/provenance", "command_line"))[3], "7");
  EXPECT_EQ(reader.text_attribute("/options", "message_size"), "8,1024");
  EXPECT_EQ(reader.text_attribute("/options", "seed"), "7");

  EXPECT_THAT(reader.ints("/message_size_bytes"), ElementsAre(8, 1024));
  EXPECT_THAT(reader.shape("/permutations"), ElementsAre(2, num_ranks));
  EXPECT_THAT(reader.ints("/permutations"), ElementsAre(1, 2, 3, 4, 0, 2, 3, 4, 0, 1));
  EXPECT_THAT(reader.texts("/ranks/host"), ElementsAre("node0", "node0", "node1", "node1", "node2"));
  EXPECT_THAT(reader.texts("/ranks/device"), ElementsAre("eth0", "eth1", "eth2", "eth3", "eth4"));
  EXPECT_THAT(reader.texts("/ranks/adapter"), ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4"));
  EXPECT_THAT(reader.texts("/ranks/cpus"), Each("0-1"));
  EXPECT_THAT(reader.ints("/ranks/pid"), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_THAT(reader.ints("/ranks/num_cpus"), Each(2));
  EXPECT_THAT(reader.ints("/ranks/numa_node"), Each(-1));

  EXPECT_THAT(reader.shape("/repeats/0000/time_ns_p99"), ElementsAre(2, num_ranks, num_ranks));
  EXPECT_EQ(reader.number_attribute("/repeats/0001", "repeat"), 1);
  EXPECT_EQ(reader.number_attribute("/repeats/0001", "permutation"), 1);
  EXPECT_FALSE(reader.has("/repeats/0002"));
  expect_rows(reader, "/repeats/0000", 0);
  expect_rows(reader, "/repeats/0001", 1);

  EXPECT_THAT(reader.ints("/retest/repeat"), ElementsAre(1, 1));
  EXPECT_THAT(reader.ints("/retest/size_index"), ElementsAre(1, 1));
  EXPECT_THAT(reader.ints("/retest/from"), ElementsAre(3, 0));
  EXPECT_THAT(reader.ints("/retest/to"), ElementsAre(1, 2));
  EXPECT_THAT(reader.doubles("/retest/time_ns"), ElementsAre(8000, 3000));
  EXPECT_THAT(reader.doubles("/retest/retest_time_ns"), ElementsAre(2000, 0));
  EXPECT_EQ(reader.variable_text("/summary"), bench::link::json_text(finished(result_so_far(num_ranks))));
}

TEST(Hdf5Store, OfOneRankWithoutPermutationsOrSlowPairs) {
  const Folder folder;
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(1);
    so_far.request.shuffle_ranks = 0;
    LinkFileSetup setup = setup_for(cluster, folder / "one.h5");
    setup.permutation_of_repeat = nullptr;
    Hdf5Store store(cluster, so_far, setup);
    store.reserve_repeats(1);
    so_far.complete = true;
    store.finish(so_far);
  }));
  const Reader reader(folder / "one.h5");
  EXPECT_FALSE(reader.has("/permutations"));
  EXPECT_EQ(reader.number_attribute("/repeats/0000", "permutation"), -1);
  EXPECT_THAT(reader.doubles("/repeats/0000/time_ns_median"), ElementsAre(0, 0));
  EXPECT_TRUE(reader.ints("/retest/from").empty());
}

/// Times of partner 0 to 3; the last is a hole.
PairRow rounded_row(const cluster::Cluster& cluster, const bench::link::Slice& slice) {
  PairRow row = row_of(cluster, slice);
  for (std::size_t to = 0; to < row.size(); ++to) row.set(to, record_of(pair_cell(row.at(to))));
  return row;
}

TEST(Hdf5Store, InTheCompactFormHasFourBytesOfAPair) {
  for (const RowPath row_path : {RowPath::automatic, RowPath::funnel}) {
    const Folder folder;
    const std::string path = folder / "run.h5";
    std::vector<std::vector<PairRow>> expected(num_ranks);
    expect_no_errors(run_ranks({num_ranks, 2}, [&](auto& cluster) {
      bench::link::LinkResult so_far = result_so_far(cluster.size());
      so_far.request.statistics = bench::link::PairStatistics::compact;
      LinkFileSetup setup = setup_for(cluster, path);
      setup.row_path = row_path;
      setup.rounds = [](int rank, int) {
        std::vector<std::int32_t> rounds(num_ranks, 1);
        rounds[static_cast<std::size_t>(rank)] = 0;
        return rounds;
      };
      Hdf5Store store(cluster, so_far, setup);
      store.reserve_repeats(2);
      for (const bench::link::Slice& slice :
           {bench::link::Slice{.repeat = 0, .size_index = 1}, bench::link::Slice{.repeat = 1, .size_index = 0}}) {
        store.write(slice, PairRow(num_ranks));
        store.write(slice, row_of(cluster, slice));
        expected[static_cast<std::size_t>(cluster.rank())].push_back(rounded_row(cluster, slice));
      }
      store.finish(finished(so_far));
    }));
    {
      const Reader reader(path);
      EXPECT_EQ(reader.number_attribute("/", "format_version"), 2);
      EXPECT_EQ(reader.text_attribute("/options", "statistics"), "compact");
      EXPECT_THAT(reader.shape("/repeats/0000/pair"), ElementsAre(2, num_ranks, num_ranks));
      EXPECT_THAT(reader.text_attribute("/repeats/0000/pair", "meaning"), HasSubstr("codes of the median (16 bits"));
      for (const char* const name : {"count", "time_ns_median", "round"})
        EXPECT_FALSE(reader.has(std::string("/repeats/0000/") + name));
      const auto cells = reader.values<PairCell>("/repeats/0000/pair", H5T_NATIVE_UINT32);
      EXPECT_THAT(std::vector(cells.begin(), cells.begin() + num_ranks * num_ranks), Each(0));
      EXPECT_EQ(cells.back(), pair_not_in_schedule);       // rank 4 with itself
      EXPECT_EQ(cells[cells.size() - num_ranks - 1], 0U);  // 3 to 4
    }
    const auto file = bench::link::ResultReader::open(path);
    EXPECT_TRUE(file->header().is_compact);
    EXPECT_TRUE(file->header().has_rounds);
    auto rounds = file->rounds(0, 0);
    std::ranges::sort(rounds);
    EXPECT_THAT(rounds, ElementsAre(0, testing::Ge(1), testing::Ge(2), testing::Ge(3), testing::Le(5)));
    EXPECT_EQ(std::ranges::adjacent_find(rounds), rounds.end());
    for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
      const auto& rows = expected[static_cast<std::size_t>(rank)];
      for (const std::size_t repeat : {0U, 1U}) {
        const PairRow found = file->row(repeat, 1 - repeat, rank);
        EXPECT_EQ(found[&PairRecord::count], rows[repeat][&PairRecord::count]);
        EXPECT_EQ(found[&PairRecord::time_ns_median], rows[repeat][&PairRecord::time_ns_median]);
        EXPECT_EQ(found[&PairRecord::time_ns_p99], rows[repeat][&PairRecord::time_ns_p99]);
        EXPECT_THAT(found[&PairRecord::time_ns_mean], Each(0));
        EXPECT_EQ(file->times_ns(repeat, 1 - repeat, rank, &PairRecord::time_ns_median),
                  rows[repeat][&PairRecord::time_ns_median]);
        EXPECT_NEAR(found[&PairRecord::time_ns_median][0], 1e6 * (1.0 + static_cast<double>(repeat)), 2e4);
      }
    }
  }
}

TEST(Hdf5Store, InTheCompactFormKnowsWhomRandomRoundsDrewBehindThem) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({3}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(cluster.size());
    so_far.request.statistics = bench::link::PairStatistics::compact;
    so_far.request.rounds = 1;
    LinkFileSetup setup = setup_for(cluster, path);
    setup.rounds = [](int, int) { return std::vector<std::int32_t>(3); };
    Hdf5Store store(cluster, so_far, setup);
    store.reserve_repeats(1);
    const bench::link::Slice slice{};
    store.write(slice, PairRow(3));
    EXPECT_THAT(Reader(path).values<PairCell>("/repeats/0000/pair", H5T_NATIVE_UINT32), Each(0));
    cluster.barrier();
    store.write_rounds(0, std::vector<std::int32_t>{0, 1, 0});
    store.write(slice, PairRow(3));
    store.finish(finished(so_far));
  }));
  const auto cells = Reader(path).values<PairCell>("/repeats/0000/pair", H5T_NATIVE_UINT32);
  EXPECT_THAT(std::vector(cells.begin(), cells.begin() + 9), ElementsAre(1, 0, 1, 1, 0, 1, 1, 0, 1));
}

TEST(Hdf5Store, InTheCompactFormSaysWhyAPairIsMissing) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(cluster.size());
    so_far.request.statistics = bench::link::PairStatistics::compact;
    bench::link::LinkFileSetup setup = setup_for(cluster, path);
    setup.rounds = [](int rank, int) {
      std::vector<std::int32_t> rounds{1, 2, 3, 0};
      rounds[static_cast<std::size_t>(rank)] = 0;
      return rounds;
    };
    Hdf5Store store(cluster, so_far, setup);
    store.reserve_repeats(1);
    PairRow row(4);
    if (cluster.rank() == 0) {
      row.set(1, {.count = 5, .time_ns_median = 1024, .time_ns_p99 = 1024});
      for (const int partner : {1, 3}) store.note_lost(partner, pair_rank_lost);
      store.note_lost(2, pair_link_lost);
    }
    store.write({}, row);
    store.finish(finished(so_far));
  }));
  const auto cells = Reader(path).values<PairCell>("/repeats/0000/pair", H5T_NATIVE_UINT32);
  EXPECT_TRUE(is_measured(cells[1]));  // before its rank was lost
  EXPECT_EQ(cells[2], pair_link_lost);
  EXPECT_EQ(cells[3], pair_not_in_schedule);
  EXPECT_EQ(cells[4], 0U);
}

TEST(Hdf5Store, OfSampledRoundsHasFourBytesOfARankAndRound) {
  constexpr std::size_t num = 4, num_rounds = 3;
  const schedule::Sample sample{num_rounds, 3, {{0, 0}}};
  const auto partners = schedule::partners_by_round(
      schedule::SampledRounds(std::vector<std::uint32_t>{0, 0, 1, 1}, sample), num, num_rounds);
  const auto record_of_round = [](int rank, std::size_t round) {
    const double median_ns = std::exp2(10 + rank + 5 * static_cast<double>(round));
    return PairRecord{.count = 20, .time_ns_median = median_ns, .time_ns_p99 = 2 * median_ns};
  };
  for (const RowPath row_path : {RowPath::automatic, RowPath::funnel}) {
    const Folder folder;
    const std::string path = folder / "run.h5";
    expect_no_errors(run_ranks({num, 2}, [&](auto& cluster) {
      bench::link::LinkResult so_far = result_so_far(cluster.size());
      so_far.request.statistics = bench::link::PairStatistics::compact;
      so_far.request.rounds = num_rounds;
      so_far.request.shuffle_ranks = 0;
      LinkFileSetup setup = setup_for(cluster, path);
      setup.row_path = row_path;
      const auto hosts = cluster.host_of();
      setup.stored_rounds = bench::link::StoredRounds{sample, {hosts.begin(), hosts.end()}};
      Hdf5Store store(cluster, so_far, setup);
      store.reserve_repeats(1);
      const bench::link::Slice slice{.size_index = 1};
      std::vector<PairCell> cells(num_rounds);
      for (std::size_t round = 0; round < num_rounds; ++round) {
        cells[round] = pair_cell(record_of_round(cluster.rank(), round));
        if (cluster.rank() == 0 && round == num_rounds - 1) cells[round] = 0;  // lost
        store.write(slice, PairRow(num));
        store.write_cells_of_rounds(slice, cells);
      }
      so_far.num_rounds = num_rounds;
      bench::link::LinkResult result = so_far;
      result.complete = true;
      store.finish(result);
    }));
    {
      const Reader reader(path);
      EXPECT_EQ(reader.number_attribute("/", "format_version"), 3);
      EXPECT_THAT(reader.shape("/repeats/0000/sampled_pair"), ElementsAre(2, num, num_rounds));
      EXPECT_FALSE(reader.has("/repeats/0000/pair"));
      EXPECT_THAT(reader.ints("/sampled_rounds/host_of_rank"), ElementsAre(0, 0, 1, 1));
      EXPECT_THAT(reader.ints("/sampled_rounds/groups_of_hosts"), ElementsAre(0, 0));
    }
    const auto file = bench::link::ResultReader::open(path);
    ASSERT_TRUE(file->header().stored_rounds);
    for (int rank = 0; rank < static_cast<int>(num); ++rank) {
      std::vector<double> median_ns(num);
      std::vector<std::int32_t> rounds(num);
      for (std::size_t round = 0; round < num_rounds; ++round) {
        const auto partner = static_cast<std::size_t>(partners[static_cast<std::size_t>(rank) * num_rounds + round]);
        rounds[partner] = static_cast<std::int32_t>(round + 1);
        const bool is_lost = rank == 0 && round == num_rounds - 1;
        if (!is_lost) median_ns[partner] = record_of_round(rank, round).time_ns_median;
      }
      const PairRow row = file->row(0, 1, rank);
      EXPECT_EQ(row[&PairRecord::time_ns_median], median_ns) << rank;
      EXPECT_EQ(file->rounds(0, rank), rounds) << rank;
      const auto measured = file->measured_ns(0, 1, rank, &PairRecord::time_ns_p99);
      EXPECT_TRUE(std::ranges::is_sorted(measured.partners));
      for (std::size_t at = 0; at < measured.partners.size(); ++at) {
        EXPECT_EQ(measured.times_ns[at], 2 * median_ns[measured.partners[at]]);
      }
      EXPECT_EQ(measured.partners.size(), num - static_cast<std::size_t>(std::ranges::count(median_ns, 0.0)));
      EXPECT_TRUE(file->measured_ns(0, 0, rank, &PairRecord::time_ns_median).partners.empty());
    }
  }
}

TEST(Hdf5Store, InTheCompactFormATimeOfNoBatchIsDamage) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(1);
    so_far.request.statistics = bench::link::PairStatistics::compact;
    Hdf5Store store(cluster, so_far, setup_for(cluster, path));
    store.reserve_repeats(1);
    so_far.complete = true;
    store.finish(so_far);
  }));
  {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/repeats/0000/pair", H5P_DEFAULT);
    const std::vector<PairCell> wrong{0x12340000U, 0x00000007U};
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong.data()), 0);
    H5Dclose(dataset);
    H5Fclose(file);
  }
  const auto file = bench::link::ResultReader::open(path);
  EXPECT_THAT([&] { file->row(0, 0, 0); },
              testing::ThrowsMessage<Error>(HasSubstr("damaged: /repeats/0000/pair has the value 0x12340000")));
  EXPECT_EQ(file->row(0, 1, 0)[&PairRecord::count][0], 0U);  // a reason that is not known yet
}

/// Row of `rank` in the second repeat.
int round_of(int rank, int partner) { return rank == partner ? 0 : 100 + 10 * rank + partner; }

TEST(Hdf5Store, HasTheRoundInWhichEachPairMeets) {
  for (const RowPath row_path : {RowPath::automatic, RowPath::funnel}) {
    const Folder folder;
    expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
      LinkFileSetup setup = setup_for(cluster, folder / "run.h5");
      setup.row_path = row_path;
      setup.rounds = [&](int rank, int repeat) {
        std::vector<std::int32_t> rounds;
        for (int partner = 0; partner < num_ranks; ++partner) {
          rounds.push_back(repeat * round_of(rank, partner));
        }
        return rounds;
      };
      write_all(cluster, setup);
    }));
    const Reader reader(folder / "run.h5");
    EXPECT_THAT(reader.shape("/repeats/0000/round"), ElementsAre(num_ranks, num_ranks));
    EXPECT_THAT(reader.ints("/repeats/0000/round"), Each(0));
    const auto rounds = reader.ints("/repeats/0001/round");
    for (int rank = 0; rank < num_ranks; ++rank) {
      for (int partner = 0; partner < num_ranks; ++partner) {
        EXPECT_EQ(rounds[static_cast<std::size_t>(rank * num_ranks + partner)], round_of(rank, partner));
      }
    }
  }
}

TEST(Hdf5Store, HasTheExchangeBeforeEachRoundWhereThereIsOne) {
  const Folder folder;
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(4);
    so_far.request.all_to_all = bench::link::AllToAll::before_each_round;
    Hdf5Store store(cluster, so_far, setup_for(cluster, folder / "run.h5"));
    store.reserve_repeats(1);
    const bench::link::Slice slice{.repeat = 0, .permutation = 0, .size_index = 1, .message_size_bytes = 1024};
    store.write_all_to_all(slice, std::vector<double>{10.0 * cluster.rank() + 1, 2});
    store.finish(finished(so_far));
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_FALSE(reader.has("/repeats/0000/round"));
  EXPECT_THAT(reader.shape("/repeats/0000/all_to_all_time_ns"), ElementsAre(2, 4, 3));
  const auto times = reader.doubles("/repeats/0000/all_to_all_time_ns");
  EXPECT_EQ(times.at(0), 0);
  EXPECT_EQ(times.at(3 * (4 + 2)), 21);
  EXPECT_EQ(times.at(3 * (4 + 2) + 1), 2);
  EXPECT_EQ(times.at(3 * (4 + 2) + 2), 0);
}

TEST(Hdf5Store, WritesTheSameBytesDirectlyAndThroughRank0) {
  const Folder folder;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    LinkFileSetup setup = setup_for(cluster, folder / "direct.h5");
    write_all(cluster, setup);
    setup.path = folder / "funnel.h5";
    setup.row_path = RowPath::funnel;
    write_all(cluster, setup);
  }));
  EXPECT_EQ(without_nonce(folder / "direct.h5"), without_nonce(folder / "funnel.h5"));
}

TEST(Hdf5Store, IsDirectWhereAllSeeTheFileAndOtherwiseNot) {
  const Folder folder;
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    const bench::link::LinkResult so_far = result_so_far(4);
    EXPECT_TRUE(Hdf5Store(cluster, so_far, setup_for(cluster, folder / "direct.h5")).is_direct());
    LinkFileSetup setup = setup_for(cluster, folder / "funnel.h5");
    setup.row_path = RowPath::funnel;
    EXPECT_FALSE(Hdf5Store(cluster, so_far, setup).is_direct());
  }));
}

TEST(Hdf5Store, GoesThroughRank0WhereOthersSeeNoFile) {
  const Folder here, there;
  expect_no_errors(run_ranks({num_ranks, 1}, [&](auto& cluster) {
    go_apart(cluster, here, there);
    write_all(cluster, setup_for(cluster, "run.h5"));
  }));
  const Reader reader(here / "run.h5");
  expect_rows(reader, "/repeats/0001", 1);
  EXPECT_THAT(reader.ints("/ranks/pid"), ElementsAre(100, 101, 102, 103, 104));
  EXPECT_TRUE(std::filesystem::is_empty(there.path()));
}

TEST(Hdf5Store, GoesThroughRank0WhereOthersSeeAnotherFileOfThatName) {
  const Folder here, there;
  expect_no_errors(
      run_ranks({num_ranks, 1}, [&](auto& cluster) { write_all(cluster, setup_for(cluster, there / "run.h5")); }));
  const std::string before = contents_of(there / "run.h5");
  expect_no_errors(run_ranks({num_ranks, 1}, [&](auto& cluster) {
    go_apart(cluster, here, there);
    write_all(cluster, setup_for(cluster, "run.h5"));
  }));
  EXPECT_EQ(contents_of(there / "run.h5"), before);
  expect_rows(Reader(here / "run.h5"), "/repeats/0000", 0);
}

TEST(Hdf5Store, IsAHoleUntilWritten) {
  const Folder folder;
  constexpr int many = 16;
  expect_no_errors(run_ranks({many}, [&](auto& cluster) {
    bench::link::LinkResult so_far = result_so_far(many);
    so_far.request.message_sizes_bytes.assign(64, 8);
    Hdf5Store store(cluster, so_far, setup_for(cluster, folder / "run.h5"));
    store.reserve_repeats(100);
  }));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "run.h5").c_str(), &status), 0);
  EXPECT_GT(status.st_size, 64 * many * many * 44 * 100);
  EXPECT_LT(status.st_blocks * 512, status.st_size / 10);
}

TEST(Hdf5Store, SaysWhyItIsIncompleteUntilItIsComplete) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  const auto reason_now = [&] { return Reader(path).texts("/status/reason").at(0); };
  expect_no_errors(run_ranks({2}, [&](auto& cluster) {
    Hdf5Store store(cluster, result_so_far(2), setup_for(cluster, path));
    store.reserve_repeats(1);
    if (cluster.rank() == 0) {
      EXPECT_EQ(reason_now(), "still running, or killed without a word");
    }
    cluster.barrier();
    if (cluster.rank() == 1) std::thread([&] { store.mark_incomplete("rank 0 on node0 is gone"); }).join();
    cluster.barrier();
    if (cluster.rank() == 0) {
      EXPECT_EQ(reason_now(), "rank 0 on node0 is gone");
      store.mark_incomplete("a later cause");
      EXPECT_EQ(reason_now(), "rank 0 on node0 is gone");
    }
  }));
  EXPECT_THAT(Reader(path).ints("/status/complete"), ElementsAre(0));
}

TEST(Hdf5Store, CutsALongReasonBetweenCharacters) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    Hdf5Store(cluster, result_so_far(1), setup_for(cluster, path))
        .mark_incomplete(std::string(1020, 'y') + "\xc3\xa4\xc3\xa4\xc3\xa4");
  }));
  EXPECT_EQ(Reader(path).texts("/status/reason").at(0), std::string(1020, 'y') + "...");
}

TEST(Hdf5Store, ThatIsCompleteStaysSo) {
  const Folder folder;
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    Hdf5Store store(cluster, result_so_far(1), setup_for(cluster, folder / "run.h5"));
    store.finish(finished(result_so_far(1)));
    store.mark_incomplete("too late");
  }));
  EXPECT_THAT(Reader(folder / "run.h5").ints("/status/complete"), ElementsAre(1));
  EXPECT_THAT(Reader(folder / "run.h5").texts("/status/reason"), ElementsAre(""));
}

TEST(Hdf5Store, OfARunThatFailedInOrderHasASummaryAndAReason) {
  const Folder folder;
  expect_no_errors(run_ranks({2}, [&](auto& cluster) {
    bench::link::LinkResult result = finished(result_so_far(2));
    Hdf5Store store(cluster, result, setup_for(cluster, folder / "run.h5"));
    result.complete = false;
    result.incomplete_reason = "rank 1 received a wrong byte";
    store.finish(result);
  }));
  const Reader reader(folder / "run.h5");
  EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(0));
  EXPECT_THAT(reader.texts("/status/reason"), ElementsAre("rank 1 received a wrong byte"));
  EXPECT_FALSE(nlohmann::json::parse(reader.variable_text("/summary"))["complete"]);
}

TEST(Hdf5Store, CutsLongNamesVisibly) {
  const Folder folder;
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    LinkFileSetup setup = setup_for(cluster, folder / "run.h5");
    setup.placement.host = std::string(64, 'h');
    setup.placement.device = std::string(65, 'd');
    Hdf5Store(cluster, result_so_far(1), setup);
  }));
  EXPECT_THAT(Reader(folder / "run.h5").texts("/ranks/host"), ElementsAre(std::string(64, 'h')));
  EXPECT_THAT(Reader(folder / "run.h5").texts("/ranks/device"), ElementsAre(std::string(61, 'd') + "..."));
}

}  // namespace
}  // namespace leadline::test::hdf5_store_test
