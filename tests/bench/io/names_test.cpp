// SPDX-License-Identifier: Apache-2.0
// Names as ranks agree on them, and files as they are looked at before anything is written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "memory/block_pattern.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;
using test::error_of;
using test::Folder;
using test::refusal_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Hosts = std::vector<std::uint32_t>;

TEST(IoNames, AreExpanded) {
  const NameParts parts{7, "node3", 4711};
  EXPECT_EQ(expand_target("a b/%h.%r.%p%%", parts), "a b/node3.7.4711%");
  EXPECT_EQ(expand_target("%%r", parts), "%r");
  EXPECT_EQ(expand_target("", parts), "");
  EXPECT_THAT(refusal_of([&] { expand_target("a.%d", parts); }), AllOf(HasSubstr("'a.%d'"), HasSubstr("%d stands")));
  EXPECT_THAT(refusal_of([&] { expand_target("a%", parts); }), HasSubstr("a % ends it"));
}

Plan plan_of(const IoRequest& request, const Hosts& host_of, std::vector<std::string> targets = {}) {
  Names names;
  for (std::uint32_t host = 0; host <= *std::max_element(host_of.begin(), host_of.end()); ++host) {
    names.hosts.push_back("node" + std::to_string(host));
  }
  names.targets = std::move(targets);
  const int num = static_cast<int>(host_of.size());
  return plan(request, {num, num, host_of}, names);
}

/// By rank; a rank that throws has the problem as its only name.
std::vector<std::vector<std::string>> agreed(const IoRequest& request, const Plan& plan, const Hosts& host_of) {
  std::vector<std::vector<std::string>> names(host_of.size());
  test::run_on_threads(host_of, [&](test::ThreadCluster& cluster) {
    RankPlacement placement;
    placement.host = cluster.host();
    placement.pid = 100 + cluster.rank() / 2;  // ranks of a pair have the same, as if on two hosts
    auto& own = names[static_cast<std::size_t>(cluster.rank())];
    try {
      own = agree_on_names(request, plan, cluster, placement);
    } catch (const AgreedError& error) {
      own = {error.problem()};
    }
  });
  return names;
}

TEST(IoNames, AreKnownToAllRanks) {
  const Hosts hosts{0, 0, 1, 1};
  IoRequest request;
  request.target = "/x/%h.%r";
  for (const auto& names : agreed(request, plan_of(request, hosts), hosts)) {
    EXPECT_THAT(names, ElementsAre("/x/node0.0", "/x/node0.1", "/x/node1.2", "/x/node1.3"));
  }
}

TEST(IoNames, OfSharedFilesAreThoseOfTheLowestRank) {
  const Hosts hosts{0, 0, 0, 0};
  IoRequest request;
  request.movement = Movement::n_1;
  request.target = "/x/%h";
  for (const auto& names : agreed(request, plan_of(request, hosts), hosts)) EXPECT_THAT(names, ElementsAre("/x/node0"));
  request.movement = Movement::n_m;
  request.num_files = 2;
  request.target = "/x/%r";  // the file's number
  const auto names = agreed(request, plan_of(request, hosts), hosts);
  EXPECT_THAT(names[0], ElementsAre("/x/0", "/x/1"));
  EXPECT_THAT(names[3], ElementsAre("/x/0", "/x/1"));
}

TEST(IoNames, OfFunnelsHaveTheNumberOfTheIoRank) {
  const Hosts hosts{0, 0, 0, 0};
  IoRequest request;
  request.movement = Movement::n_m_m;
  request.io_ranks = {2};
  request.target = "/x/%r";
  const auto names = agreed(request, plan_of(request, hosts), hosts);
  EXPECT_THAT(names[0], ElementsAre("/x/0", "/x/2"));
  EXPECT_THAT(names[3], ElementsAre("/x/0", "/x/2"));
  request.no_file = true;
  EXPECT_THAT(agreed(request, plan_of(request, hosts), hosts)[0], IsEmpty());
}

TEST(IoNames, ComeFromAList) {
  const Hosts hosts{0, 0};
  IoRequest request;
  request.targets_file = "list";
  const auto names = agreed(request, plan_of(request, hosts, {"/x/a b", "/x/c%%"}), hosts);
  EXPECT_THAT(names[0], ElementsAre("/x/a b", "/x/c%"));
}

TEST(IoNames, AreRefusedOnAllRanksWhereTwoFilesHaveOne) {
  const Hosts hosts{0, 0, 1, 1};
  IoRequest request;
  request.target = "/x/%p";
  for (const auto& names : agreed(request, plan_of(request, hosts), hosts)) {
    EXPECT_THAT(names, ElementsAre(AllOf(HasSubstr("--target"), HasSubstr("ranks 0 and 1"), HasSubstr("/x/100"))));
  }
  request = {};
  request.targets_file = "list";
  const Plan plan = plan_of(request, hosts, {"/x/a", "/x/b", "/x/y/../b", "/x/c"});
  EXPECT_THAT(agreed(request, plan, hosts)[3], ElementsAre(AllOf(HasSubstr("--targets"), HasSubstr("ranks 1 and 2"))));
}

/// One rank with a file of its own, in a folder.
class IoTargets : public ::testing::Test {
 protected:
  IoTargets() {
    request_.num_objects = 2;
    request_.object_size_bytes = 4096;
  }
  void check(const std::string& path) { check_targets(request_, plan_of(request_, host_of_), {path}, 0); }
  Error error(const std::string& path) {
    const Error error = error_of([&] { check(path); });
    EXPECT_THAT(error.what(), HasSubstr(path));
    return error;
  }
  std::string write(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }
  /// As a run leaves it.
  std::string write_block(const std::string& name) {
    std::vector<std::byte> object(4096);
    memory::fill_object(object, {}, {});
    return write(name, std::string(reinterpret_cast<const char*>(object.data()), object.size()));
  }

  Folder folder_;
  Hosts host_of_{0};
  IoRequest request_;
};

TEST_F(IoTargets, MayBeNewOrEmptyOrOurs) {
  EXPECT_NO_THROW(check(folder_ / "new"));
  EXPECT_NO_THROW(check(write("empty", "")));
  EXPECT_NO_THROW(check(write_block("ours")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));  // it only looks
}

TEST_F(IoTargets, ThatAreNotOursAreKeptUnlessAsked) {
  const std::string path = write("thesis.txt", "Chapter 1");
  const Error refused = error(path);
  EXPECT_EQ(refused.status(), ExitStatus::bad_command_line);
  EXPECT_THAT(refused.what(), AllOf(HasSubstr("9 B"), HasSubstr("--overwrite-targets")));
  request_.overwrite_targets = true;
  EXPECT_NO_THROW(check(path));
  EXPECT_EQ(test::contents_of(path), "Chapter 1");
}

TEST_F(IoTargets, ThatAreNoRegularFilesAreRefusedAlways) {
  request_.overwrite_targets = true;
  for (const IoOperations operations : {IoOperations::both, IoOperations::read}) {
    request_.operations = operations;
    EXPECT_THAT(error(folder_.path().string()).what(), HasSubstr("it is a directory"));
    EXPECT_THAT(error("/dev/null").what(), HasSubstr("no regular file"));
    const std::string fifo = folder_ / ("fifo" + std::to_string(static_cast<int>(operations)));
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_THAT(error(fifo).what(), HasSubstr("no regular file"));
  }
}

TEST_F(IoTargets, NeedADirectory) {
  EXPECT_THAT(error(folder_ / "none/file").what(), AllOf(HasSubstr("No such file"), HasSubstr("--target")));
  write("plain", "");
  EXPECT_THAT(error(folder_ / "plain/file").what(), HasSubstr("no directory"));
  EXPECT_EQ(error(folder_ / "none/file").status(), ExitStatus::bad_command_line);
}

TEST_F(IoTargets, NeedPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0500), 0);
  EXPECT_EQ(error(folder_ / "new").status(), ExitStatus::something_missing);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
}

TEST_F(IoTargets, NeedRoom) {
  request_.num_objects = std::uint64_t{1} << 50;
  const Error refused = error(folder_ / "new");
  EXPECT_EQ(refused.status(), ExitStatus::something_missing);
  EXPECT_THAT(refused.what(), AllOf(HasSubstr("4096.0 PiB"), HasSubstr("are free"), HasSubstr("--objects")));
}

TEST_F(IoTargets, CountTheFilesOfAllRanksThere) {
  host_of_ = Hosts(1 << 14, 0);  // 2^14 ranks of 2^49 bytes: one alone could not tell
  request_.num_objects = std::uint64_t{1} << 37;
  const Error refused = error_of([&] {
    check_targets(request_, plan_of(request_, host_of_), std::vector<std::string>(1 << 14, folder_ / "new"), 5);
  });
  EXPECT_THAT(refused.what(), HasSubstr("8192.0 PiB"));
}

TEST_F(IoTargets, ThatAreReadMustBeThereAndLongEnough) {
  request_.operations = IoOperations::read;
  EXPECT_EQ(error(folder_ / "none").status(), ExitStatus::something_missing);
  EXPECT_THAT(error(folder_ / "none").what(), HasSubstr("it is not there"));
  const std::string path = write_block("half");
  EXPECT_THAT(error(path).what(), AllOf(HasSubstr("it has 4 KiB"), HasSubstr("read 8 KiB")));
  ASSERT_EQ(::truncate(path.c_str(), 8192), 0);
  EXPECT_NO_THROW(check(path));
  EXPECT_NO_THROW(check(write("whatever", std::string(9000, 'x'))));  // the check of contents will tell
}

TEST_F(IoTargets, AreLookedAtByThoseWhoOpenThem) {
  host_of_ = {0, 0, 0};
  request_.movement = Movement::n_m_m;
  request_.io_ranks = {1};
  const Plan plan = plan_of(request_, host_of_);
  EXPECT_THROW(check_targets(request_, plan, {folder_ / "none/file"}, 0), Error);
  EXPECT_NO_THROW(check_targets(request_, plan, {""}, 1));
  request_.no_file = true;
  EXPECT_NO_THROW(check_targets(request_, plan_of(request_, host_of_), {}, 0));
}

}  // namespace
}  // namespace leadline::bench::io
