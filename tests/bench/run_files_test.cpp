// SPDX-License-Identifier: Apache-2.0
// What the result files of all benchmarks but the link test have in common: kinds, ways of rows, marks, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/hdf5_store.hpp"
#include "bench/bisection/json.hpp"
#include "bench/bisection/result_fixture.hpp"
#include "bench/congestion/hdf5_reader.hpp"
#include "bench/congestion/hdf5_store.hpp"
#include "bench/congestion/json.hpp"
#include "bench/congestion/result_fixture.hpp"
#include "bench/io/hdf5_reader.hpp"
#include "bench/io/hdf5_store.hpp"
#include "bench/io/json.hpp"
#include "bench/io/result_fixture.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/result_fixture.hpp"
#include "bench/topology/hdf5_reader.hpp"
#include "bench/topology/hdf5_store.hpp"
#include "bench/topology/json.hpp"
#include "bench/topology/result_fixture.hpp"
#include "result/file_kind.hpp"

namespace leadline::test::run_files_test {
namespace {

using bench::link::ResultReader;
using result::FileKind;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr int num_ranks = 5;

struct OfTopology {
  using Store = bench::topology::Hdf5Store;
  using Reader = bench::topology::Hdf5Reader;
  using OtherReader = bench::bisection::Hdf5Reader;
  static constexpr const char* name = "topology";
  static inline const std::vector<schedule::Topology> topologies = topologies_of_5();

  static auto setup(const cluster::Cluster& cluster, const std::string& path) {
    return topology_setup(cluster, path, topologies);
  }
  static auto so_far() { return topology_so_far(topologies); }
  static constexpr auto write = write_topologies;
  static constexpr auto open = bench::topology::open_topology_file;
  static constexpr auto json_text = bench::topology::json_text;
  static void write_some(bench::topology::TopologyFile& file, cluster::Cluster& cluster) {
    write_cell(file, cluster, 0, cells_of(so_far()).front(), topologies);
  }
};

struct OfBisection {
  using Store = bench::bisection::Hdf5Store;
  using Reader = bench::bisection::Hdf5Reader;
  using OtherReader = bench::io::Hdf5Reader;
  static constexpr const char* name = "bisection";

  static auto setup(const cluster::Cluster& cluster, const std::string& path) { return bisection_setup(cluster, path); }
  static auto so_far() { return bisection_so_far(); }
  static constexpr auto write = write_bisection;
  static constexpr auto open = bench::bisection::open_bisection_file;
  static constexpr auto json_text = bench::bisection::json_text;
  static constexpr auto write_some = write_all_patterns;
};

struct OfCongestion {
  using Store = bench::congestion::Hdf5Store;
  using Reader = bench::congestion::Hdf5Reader;
  using OtherReader = bench::topology::Hdf5Reader;
  static constexpr const char* name = "congestion";

  static auto setup(const cluster::Cluster& cluster, const std::string& path) { return run_setup_for(cluster, path); }
  static auto so_far() { return congestion_so_far(); }
  static constexpr auto write = write_congestion;
  static constexpr auto open = bench::congestion::open_congestion_file;
  static constexpr auto json_text = bench::congestion::json_text;
  static constexpr auto write_some = write_rounds;
};

struct OfIo {
  using Store = bench::io::Hdf5Store;
  using Reader = bench::io::Hdf5Reader;
  using OtherReader = bench::topology::Hdf5Reader;
  static constexpr const char* name = "io";

  static auto setup(const cluster::Cluster& cluster, const std::string& path) { return io_setup(cluster, path); }
  static auto so_far() { return io_so_far(); }
  static constexpr auto write = write_io;
  static constexpr auto open = bench::io::open_io_file;
  static constexpr auto json_text = bench::io::json_text;
  static constexpr auto write_some = write_all_phases;
};

template <class Benchmark>
class RunFiles : public testing::Test {
 protected:
  static std::vector<std::string> errors_of_writing(const std::string& path, ResultFormat format, int per_host = 2) {
    return run_ranks({num_ranks, per_host}, [&](auto& cluster) {
      auto setup = Benchmark::setup(cluster, path);
      setup.format = format;
      Benchmark::write(cluster, setup);
    });
  }

  Folder folder_;
};

using Benchmarks = testing::Types<OfTopology, OfBisection, OfCongestion, OfIo>;
TYPED_TEST_SUITE(RunFiles, Benchmarks, );

TYPED_TEST(RunFiles, AreOfTheKindAskedFor) {
  const Folder& folder = this->folder_;
  EXPECT_THAT(this->errors_of_writing(folder / "run.h5", ResultFormat::hdf5), Each(""));
  EXPECT_THAT(this->errors_of_writing(folder / "run.json", ResultFormat::json), Each(""));
  EXPECT_THAT(this->errors_of_writing(folder / "none", ResultFormat::none), Each(""));
  EXPECT_EQ(result::kind_of_file(folder / "run.h5"), FileKind::hdf5);
  EXPECT_EQ(contents_of(folder / "run.json").front(), '{');
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
  const auto errors = this->errors_of_writing(folder / "run.sion", ResultFormat::sion);
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("cannot be kept as SION"), HasSubstr(".h5"), HasSubstr(".json"))));
  EXPECT_FALSE(std::filesystem::exists(folder / "run.sion"));
}

TYPED_TEST(RunFiles, AreRefusedByReadersOfOtherTestsAndTheOtherWayRound) {
  const std::string path = this->folder_ / "run.h5", link = this->folder_ / "link.h5";
  this->errors_of_writing(path, ResultFormat::hdf5);
  run_ranks({2}, [&](auto& cluster) { bench::link::Hdf5Store(cluster, result_so_far(2), setup_for(cluster, link)); });
  EXPECT_EQ(result::benchmark_of(path, FileKind::hdf5), TypeParam::name);
  EXPECT_EQ(result::benchmark_of(link, FileKind::hdf5), "link");
  EXPECT_EQ(result::benchmark_of("anything", FileKind::sion), "link");
  const std::string own = std::string("leadline ") + TypeParam::name;
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return ResultReader::open(path); }),
              AllOf(HasSubstr(path), HasSubstr(own), HasSubstr("leadline info")));
  using Reader = typename TypeParam::Reader;
  using OtherReader = typename TypeParam::OtherReader;
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return OtherReader(path).placement(0); }),
              AllOf(HasSubstr(path), HasSubstr(own)));
  EXPECT_THAT(error_of(ExitStatus::bad_command_line, [&] { return Reader(link).placement(0); }),
              AllOf(HasSubstr(link), HasSubstr("leadline link")));
}

TYPED_TEST(RunFiles, HaveTheSameBytesWhicheverWayRowsTake) {
  const Folder here, there;
  const Folder& folder = this->folder_;
  EXPECT_THAT(run_ranks({num_ranks, 1},
                        [&](auto& cluster) {
                          auto setup = TypeParam::setup(cluster, folder / "direct.h5");
                          TypeParam::write(cluster, setup);
                          setup.path = folder / "funnel.h5";
                          setup.row_path = RowPath::funnel;
                          TypeParam::write(cluster, setup);
                          setup.path = folder / "other.h5";
                          EXPECT_FALSE(typename TypeParam::Store(cluster, TypeParam::so_far(), setup).is_direct());
                          setup.path = folder / "another.h5";
                          setup.row_path = RowPath::automatic;
                          EXPECT_TRUE(typename TypeParam::Store(cluster, TypeParam::so_far(), setup).is_direct());
                        }),
              Each(""));
  // Others than rank 0 see no file.
  EXPECT_THAT(run_ranks({num_ranks, 1},
                        [&](auto& cluster) {
                          go_apart(cluster, here, there);
                          TypeParam::write(cluster, TypeParam::setup(cluster, "run.h5"));
                        }),
              Each(""));
  const std::string direct = without_nonce(folder / "direct.h5");
  EXPECT_EQ(direct, without_nonce(folder / "funnel.h5"));
  EXPECT_EQ(direct, without_nonce(here / "run.h5"));
  EXPECT_TRUE(std::filesystem::is_empty(there.path()));
}

TYPED_TEST(RunFiles, SayWhyTheyAreIncompleteUntilTheyAreComplete) {
  const Folder& folder = this->folder_;
  const auto reason_of = [&](const std::string& name) { return Reader(folder / name).texts("/status/reason").at(0); };
  const auto complete_of = [&](const std::string& name) {
    return Reader(folder / name).ints("/status/complete").at(0);
  };
  const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
    using Store = typename TypeParam::Store;
    Store store(cluster, TypeParam::so_far(), TypeParam::setup(cluster, folder / "lost.h5"));
    if (cluster.rank() == 0) std::thread([&] { store.mark_incomplete("rank 1 on node0 is gone"); }).join();
    cluster.barrier();
    // The reason of a failure outlives an end that comes all the same.
    store.finish(finished(TypeParam::so_far()));

    Store other(cluster, TypeParam::so_far(), TypeParam::setup(cluster, folder / "whole.h5"));
    other.finish(finished(TypeParam::so_far()));
    other.mark_incomplete("too late");
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(reason_of("lost.h5"), "rank 1 on node0 is gone");
  EXPECT_EQ(complete_of("lost.h5"), 0);
  EXPECT_EQ(reason_of("whole.h5"), "");
  EXPECT_EQ(complete_of("whole.h5"), 1);
}

TYPED_TEST(RunFiles, AsJsonAreValidFromTheirCreationOn) {
  const std::string path = this->folder_ / "run.json";
  const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
    auto setup = TypeParam::setup(cluster, path);
    setup.format = ResultFormat::json;
    const auto file = TypeParam::open(cluster, TypeParam::so_far(), setup);
    if (cluster.rank() == 0) {
      const auto document = nlohmann::json::parse(contents_of(path));
      EXPECT_EQ(document["benchmark"], TypeParam::name);
      EXPECT_EQ(document["complete"], false);
      EXPECT_EQ(document["incomplete_reason"], "still running, or killed without a word");
    }
    cluster.barrier();
    TypeParam::write_some(*file, cluster);
    file->finish(finished(TypeParam::so_far()));
    file->mark_incomplete("too late");
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(contents_of(path), TypeParam::json_text(finished(TypeParam::so_far())));
}

TYPED_TEST(RunFiles, AFileSizeLimitIsNamedBeforeTheFirstMessage) {
  const std::string path = this->folder_ / "run.h5";
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 10, 1 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    const auto errors = run_ranks({num_ranks}, [&](auto& cluster) {
      typename TypeParam::Store(cluster, TypeParam::so_far(), TypeParam::setup(cluster, path));
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("File too large"), HasSubstr("run.h5"))));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TYPED_TEST(RunFiles, ThatAreTruncatedAreAnError) {
  const std::string path = this->folder_ / "run.h5";
  this->errors_of_writing(path, ResultFormat::hdf5);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(error_of(ExitStatus::run_failed, [&] { return typename TypeParam::Reader(path).placement(0); }),
              AllOf(HasSubstr(path), HasSubstr("truncated")));
}

}  // namespace
}  // namespace leadline::test::run_files_test
