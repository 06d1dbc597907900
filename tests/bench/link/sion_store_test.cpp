// SPDX-License-Identifier: Apache-2.0
// What the SION store writes is what LinkTest writes, and behind it what our reader reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/link/json.hpp"
#include "bench/link/sion_output.hpp"
#include "bench/link/sion_store_fixture.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::test::sion_store_test {
namespace {

using bench::link::KeptRepeats;
using bench::link::LinkFileSetup;
using bench::link::SionReader;
using bench::link::SionRecord;
using bench::link::SionStore;
using result::ExistingFile;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int num_ranks = 5;

void expect_row(const PairRow& row, int repeat, int size_index, int rank, const std::string& what) {
  for (std::size_t to = 0; to < row.size(); ++to) {
    SCOPED_TRACE(what + ", to " + std::to_string(to));
    const bool is_hole = to + 1 == row.size();
    const double base = 1e6 * (repeat + 1) + 1e4 * size_index + 1e2 * rank + static_cast<double>(to);
    EXPECT_EQ(row[&PairRecord::count][to], is_hole ? 0 : 20 + to);
    EXPECT_EQ(row[&PairRecord::time_ns_min][to], is_hole ? 0 : base + 0.1);
    EXPECT_EQ(row[&PairRecord::time_ns_median][to], is_hole ? 0 : base + 0.2);
    EXPECT_EQ(row[&PairRecord::time_ns_mean][to], is_hole ? 0 : base + 0.3);
    EXPECT_EQ(row[&PairRecord::time_ns_p99][to], is_hole ? 0 : base + 0.4);
    EXPECT_EQ(row[&PairRecord::time_ns_max][to], is_hole ? 0 : base + 0.5);
  }
}

TEST(SionStore, GivesBackEverythingThatAllRanksWrote) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({num_ranks, 2}, [&](auto& cluster) { write_all(cluster, sion_setup(cluster, path)); }));

  EXPECT_FALSE(result::sion::Reader::open(path).is_unfinished());
  SionReader reader(path);
  const bench::link::Header& header = reader.header();
  EXPECT_TRUE(reader.is_extended());
  EXPECT_TRUE(header.complete);
  EXPECT_EQ(header.incomplete_reason, "");
  EXPECT_EQ(header.nonce.size(), 32U);
  EXPECT_EQ(header.num_ranks, num_ranks);
  EXPECT_EQ(header.end_utc, "2026-01-31T23:59:59Z");
  EXPECT_EQ(header.summary, bench::link::json_text(finished(result_so_far(num_ranks))));
  EXPECT_EQ(result::option_text(header, "message_size"), "8,1024");
  EXPECT_EQ(result::provenance_text(header, "launcher"), "threads");
  EXPECT_THAT(header.message_sizes_bytes, ElementsAre(8, 1024));
  EXPECT_EQ(header.num_permutations, 2);
  ASSERT_EQ(header.repeats.size(), 2U);
  EXPECT_EQ(header.repeats[1].repeat, 1);
  EXPECT_EQ(header.repeats[1].permutation, 1);
  ASSERT_EQ(header.retests->size(), 2U);
  EXPECT_EQ(header.retests->at(0).from, 3);
  EXPECT_EQ(header.retests->at(0).retest_time_ns, 2000);

  for (int rank = 0; rank < num_ranks; ++rank) {
    const RankPlacement placement = reader.placement(rank);
    EXPECT_EQ(placement.host, "node" + std::to_string(rank / 2));
    EXPECT_EQ(placement.device, "eth" + std::to_string(rank));
    EXPECT_EQ(placement.adapter, "mlx5_" + std::to_string(rank));
    EXPECT_EQ(placement.cpus, "0-1");
    EXPECT_EQ(placement.pid, 100 + rank);
    EXPECT_EQ(placement.numa_node, -1);
    EXPECT_THAT(reader.ranks_on_seat(rank), ElementsAre((rank + 1) % num_ranks, (rank + 2) % num_ranks));
    for (std::size_t repeat = 0; repeat < 2; ++repeat) {
      const auto rounds = reader.rounds(repeat, rank);
      EXPECT_EQ(rounds[0], rank == 0 ? 0 : 1000 * static_cast<int>(repeat) + 10 * rank);
      for (std::size_t size = 0; size < 2; ++size) {
        expect_row(reader.row(repeat, size, rank), static_cast<int>(repeat), static_cast<int>(size), rank, "direct");
      }
    }
  }
}

std::string without_nonce(const std::string& path) {
  const std::string nonce = SionReader(path).header().nonce;
  std::string bytes = contents_of(path);
  bytes.replace(bytes.find(nonce), nonce.size(), nonce.size(), 'n');
  EXPECT_EQ(bytes.find(nonce), std::string::npos);
  return bytes;
}

TEST(SionStore, WritesTheSameBytesDirectlyAndThroughRank0) {
  const Folder here, there;
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    write_all(cluster, sion_setup(cluster, here / "run.sion"));
    LinkFileSetup setup = sion_setup(cluster, there / "run.sion");
    setup.row_path = RowPath::funnel;
    write_all(cluster, setup);
  }));
  EXPECT_EQ(without_nonce(here / "run.sion"), without_nonce(there / "run.sion"));
}

TEST(SionStore, IsRefusedByReadersUntilItsEndAndReadByOurOwn) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({3}, [&](auto& cluster) {
    SionStore store(cluster, result_so_far(3), sion_setup(cluster, path));
    store.reserve_repeats(2);
    const bench::link::Slice slice = slice_of(1, 1);
    store.write(slice, part_of(row_of(cluster, slice), 1));
    cluster.barrier();
    if (cluster.rank() == 0) {
      try {
        result::sion::Reader::open(path);
        ADD_FAILURE() << "an unfinished file was opened";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("UNCLOSED"));
      }
      SionReader reader(path);
      EXPECT_FALSE(reader.header().complete);
      EXPECT_EQ(reader.header().incomplete_reason, "still running, or killed without a word");
      EXPECT_EQ(reader.header().message_sizes_bytes.size(), 2U);
      EXPECT_FALSE(reader.header().end_utc);
      EXPECT_EQ(reader.row(1, 1, 2)[&PairRecord::time_ns_max][0], 2010200.5);
      EXPECT_EQ(reader.row(1, 1, 2)[&PairRecord::count][1], 0U);
      EXPECT_THAT(reader.row(0, 0, 2)[&PairRecord::count], Each(0));
      store.mark_incomplete("rank 1 on node0 is gone");
      EXPECT_EQ(SionReader(path).header().incomplete_reason, "rank 1 on node0 is gone");
    }
    cluster.barrier();
    store.finish(finished(result_so_far(3)));
  }));
  EXPECT_FALSE(SionReader(path).header().complete) << "what has failed is not complete";
}

TEST(SionStore, OfARunThatFailedInOrderKeepsItsSummary) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({2}, [&](auto& cluster) {
    bench::link::LinkResult result = finished(result_so_far(2));
    SionStore store(cluster, result, sion_setup(cluster, path));
    store.reserve_repeats(1);
    result.complete = false;
    result.incomplete_reason = "rank 1 received a wrong byte";
    store.finish(result);
  }));
  const SionReader reader(path);
  EXPECT_FALSE(reader.header().complete);
  EXPECT_EQ(reader.header().incomplete_reason, "rank 1 received a wrong byte");
  EXPECT_TRUE(reader.header().summary);
}

TEST(SionStore, ThatIsCompleteStaysSo) {
  const Folder folder;
  expect_no_errors(run_ranks({1}, [&](auto& cluster) {
    SionStore store(cluster, result_so_far(1), sion_setup(cluster, folder / "run.sion"));
    store.reserve_repeats(1);
    store.finish(finished(result_so_far(1)));
    store.mark_incomplete("too late");
  }));
  EXPECT_TRUE(SionReader(folder / "run.sion").header().complete);
}

TEST(SionStore, OfTheLastRepeatForgetsTheOthers) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  expect_no_errors(run_ranks({num_ranks}, [&](auto& cluster) {
    LinkFileSetup setup = sion_setup(cluster, path);
    setup.kept_repeats = KeptRepeats::last;
    const bench::link::LinkResult so_far = result_so_far(num_ranks);
    SionStore store(cluster, so_far, setup);
    store.reserve_repeats(1);
    for (int repeat = 0; repeat < 3; ++repeat) {
      store.reserve_repeats(repeat + 1);
      write_repeat(store, cluster, repeat);
    }
    // The fourth one meets fewer partners; nothing of the third may show through.
    const bench::link::Slice slice = slice_of(3, 0);
    store.write(slice, part_of(row_of(cluster, slice), 2));
    store.finish(finished(so_far));
  }));
  SionReader reader(path);
  ASSERT_EQ(reader.header().repeats.size(), 1U);
  EXPECT_EQ(reader.header().repeats[0].repeat, 3);
  EXPECT_EQ(reader.header().repeats[0].permutation, 1);
  const PairRow row = reader.row(0, 0, 3);
  EXPECT_THAT(row[&PairRecord::count], ElementsAre(20, 21, 0, 0, 0));
  EXPECT_EQ(row[&PairRecord::time_ns_min][1], 4000301.1);
  EXPECT_EQ(row[&PairRecord::time_ns_max][2], 0);
  EXPECT_EQ(reader.rounds(0, 3)[1], 3031);
  expect_row(reader.row(0, 1, 3), 2, 1, 3, "a size that the last repeat did not come to");
}

TEST(SionStore, OfOneFileEachHasThemAllComplete) {
  const Folder folder;
  for (const SionRecord record : {SionRecord::plain, SionRecord::extended}) {
    expect_no_errors(run_ranks({4}, [&](auto& cluster) {
      LinkFileSetup setup = sion_setup(cluster, folder / "run.sion");
      setup.kept_repeats = KeptRepeats::one_file_each;
      setup.sion_record = record;
      setup.existing = ExistingFile::overwrite;
      SionStore store(cluster, result_so_far(4), setup);
      store.reserve_repeats(1);
      write_repeat(store, cluster, 0);
      if (cluster.rank() == 0) {
        EXPECT_TRUE(SionReader(folder / "run_i001.sion").header().complete) << "before the run ends";
      }
      write_repeat(store, cluster, 1);
      store.finish(finished(result_so_far(4)));
    }));
    SionReader first(folder / "run_i001.sion"), second(folder / "run_i002.sion");
    EXPECT_EQ(second.is_extended(), record == SionRecord::extended);
    EXPECT_TRUE(second.header().complete);
    EXPECT_NEAR(first.row(0, 0, 2)[&PairRecord::time_ns_mean][1], 1000201.3, 1e-6);
    EXPECT_NEAR(second.row(0, 0, 2)[&PairRecord::time_ns_mean][1], 2000201.3, 1e-6);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sion"));
}

TEST(SionStore, HasNoRoomForRepeatsThatComeLater) {
  const Folder folder;
  const auto errors = run_ranks({3}, [&](auto& cluster) {
    SionStore store(cluster, result_so_far(3), sion_setup(cluster, folder / "run.sion"));
    store.reserve_repeats(2);
    store.reserve_repeats(2);
    store.reserve_repeats(3);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("run.sion"), HasSubstr("2 repeats"), HasSubstr("--format"))));
}

TEST(SionStore, RefusesNumbersThatTheRecordCannotHold) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  const auto errors_of = [&](const std::function<void(bench::link::LinkRequest&)>& change) {
    return run_ranks({2}, [&](auto& cluster) {
      bench::link::LinkResult so_far = result_so_far(2);
      change(so_far.request);
      try {
        bench::link::open_link_file(cluster, so_far, sion_setup(cluster, path));
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
        throw;
      }
    });
  };
  constexpr std::uint64_t too_large = std::uint64_t{1} << 31;
  EXPECT_THAT(errors_of([](auto& request) { request.message_sizes_bytes = {too_large}; }),
              Each(AllOf(HasSubstr("--message-size"), HasSubstr("--format"))));
  EXPECT_THAT(errors_of([](auto& request) { request.num_messages = too_large; }), Each(HasSubstr("--messages")));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THAT(errors_of([](auto& request) {
                request.message_sizes_bytes = {8, too_large};
              }),
              Each(""))
      << "later sizes are in the extension alone";
}

TEST(SionStore, TreatsAnOlderFileAsItIsTold) {
  const Folder folder;
  const std::string path = folder / "run.sion";
  std::ofstream(path) << std::string(1 << 20, 'x');
  const auto errors = run_ranks({4}, [&](auto& cluster) { write_all(cluster, sion_setup(cluster, path)); });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr(path), HasSubstr("--overwrite"))));
  EXPECT_EQ(contents_of(path).size(), std::size_t{1} << 20);
  expect_no_errors(run_ranks({4}, [&](auto& cluster) {
    LinkFileSetup setup = sion_setup(cluster, path);
    setup.existing = ExistingFile::overwrite;
    write_all(cluster, setup);
  }));
  EXPECT_TRUE(SionReader(path).header().complete);
}

std::uint64_t bytes_written_by_this_process() {
  std::ifstream counts("/proc/self/io");
  for (std::string name; counts >> name;) {
    std::uint64_t number = 0;
    counts >> number;
    if (name == "wchar:") return number;
  }
  return 0;
}

TEST(SionStore, WritesEachValueOnce) {
  const Folder folder;
  const int status = in_child([&] {
    constexpr int many = 16;
    const std::uint64_t before = bytes_written_by_this_process();
    if (before == 0 && !std::ifstream("/proc/self/io")) return 77;
    run_ranks({many}, [&](auto& cluster) {
      bench::link::LinkResult so_far = result_so_far(many);
      SionStore store(cluster, so_far, sion_setup(cluster, folder / "run.sion"));
      store.reserve_repeats(8);
      for (int repeat = 0; repeat < 8; ++repeat) {
        for (int size_index = 0; size_index < 2; ++size_index) {
          const PairRow row = row_of(cluster, slice_of(repeat, size_index));
          for (std::size_t known = 0; known <= many; ++known)
            store.write(slice_of(repeat, size_index), part_of(row, known));
        }
      }
      store.finish(finished(so_far));
    });
    const std::uint64_t written = bytes_written_by_this_process() - before;
    return written < 2 * std::filesystem::file_size(folder / "run.sion") ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "this kernel does not count what a process writes";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace leadline::test::sion_store_test
