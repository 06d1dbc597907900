// SPDX-License-Identifier: Apache-2.0
// Files that cannot be created, disks that fill up, and processes that vanish in the middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "bench/link/result_fixture.hpp"

namespace leadline::test {
namespace {

using bench::link::Hdf5Store;
using bench::link::LinkFileSetup;
using result::ExistingFile;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// What every rank gets to hear.
std::vector<std::string> errors_of_creating(const std::string& path, ExistingFile existing = ExistingFile::refuse) {
  return run_ranks({3}, [&](auto& cluster) {
    LinkFileSetup setup = setup_for(cluster, path);
    setup.existing = existing;
    Hdf5Store(cluster, result_so_far(3), setup);
  });
}

ExitStatus status_of_creating(const std::string& path) {
  ExitStatus status = ExitStatus::ok;
  run_ranks({1}, [&](auto& cluster) {
    try {
      Hdf5Store(cluster, result_so_far(1), setup_for(cluster, path));
    } catch (const Error& error) {
      status = error.status();
    }
  });
  return status;
}

TEST(Hdf5Faults, AnExistingFileIsNotTouched) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  std::ofstream(path) << "precious";
  EXPECT_THAT(errors_of_creating(path), Each(AllOf(HasSubstr(path), HasSubstr("--overwrite"))));
  EXPECT_EQ(status_of_creating(path), ExitStatus::bad_command_line);
  EXPECT_EQ(contents_of(path), "precious");
}

TEST(Hdf5Faults, AnExistingFileIsReplacedWhereThatIsAllowed) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  std::ofstream(path) << std::string(1 << 20, 'x');
  EXPECT_THAT(errors_of_creating(path, ExistingFile::overwrite), Each(""));
  EXPECT_THAT(Reader(path).ints("/status/complete"), ElementsAre(0));
}

TEST(Hdf5Faults, ADirectoryIsNoFile) {
  const Folder folder;
  for (const auto existing : {ExistingFile::refuse, ExistingFile::overwrite}) {
    EXPECT_THAT(errors_of_creating(folder.path(), existing),
                Each(AllOf(HasSubstr(folder.path()), HasSubstr("Is a directory"))));
  }
  EXPECT_EQ(status_of_creating(folder.path()), ExitStatus::bad_command_line);
}

TEST(Hdf5Faults, AMissingDirectoryIsNamed) {
  const Folder folder;
  const std::string path = folder / "missing/run.h5";
  EXPECT_THAT(errors_of_creating(path), Each(AllOf(HasSubstr(path), HasSubstr("No such file or directory"))));
  EXPECT_EQ(status_of_creating(path), ExitStatus::bad_command_line);
}

TEST(Hdf5Faults, ADirectoryThatMayNotBeWrittenIsSomethingMissing) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const int status = in_child([&] {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) return 77;
    const auto errors = errors_of_creating(path);
    for (const auto& error : errors) {
      if (error.find(path) == std::string::npos || error.find("Permission denied") == std::string::npos) return 1;
    }
    return status_of_creating(path) == ExitStatus::something_missing ? 0 : 2;
  });
  ::chmod(folder.path().c_str(), 0755);
  if (status == 77) GTEST_SKIP() << "root that cannot become another user writes everywhere";
  EXPECT_EQ(status, 0);
}

/// A full disk of its own for the process that calls it.
bool mount_small_disk(const Folder& folder, const char* options) {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, options) == 0;
}

constexpr int no_permission = 77;

TEST(Hdf5Faults, ADiskTooFullForMoreRepeatsLeavesThoseThatAreThere) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  const auto body = [&] {
    if (!mount_small_disk(folder, "size=256k")) return no_permission;
    const auto errors = run_ranks({4}, [&](auto& cluster) {
      Hdf5Store store(cluster, result_so_far(4), setup_for(cluster, path));
      store.reserve_repeats(2);
      const bench::link::Slice slice{.repeat = 1, .permutation = 0, .size_index = 0, .message_size_bytes = 8};
      store.write(slice, row_of(cluster, slice));
      store.reserve_repeats(1000);
    });
    for (const auto& error : errors) {
      EXPECT_THAT(error, AllOf(HasSubstr(path), HasSubstr("No space left on device"), HasSubstr("--output")));
    }
    const Reader reader(path);
    EXPECT_TRUE(reader.is_open());
    EXPECT_EQ(reader.doubles("/repeats/0001/time_ns_max").at(4 * 3 + 2), 2000302.5);
    return ::testing::Test::HasFailure() ? 1 : 0;
  };
  const int status = in_child(body);
  if (status == no_permission) GTEST_SKIP() << "no permission to mount a small file system";
  EXPECT_EQ(status, 0);
}

TEST(Hdf5Faults, ADiskThatFillsUpAmidRowsKeepsTheRowsBefore) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  const auto body = [&] {
    if (!mount_small_disk(folder, "size=512k")) return no_permission;
    const auto errors = run_ranks({64}, [&](auto& cluster) {
      Hdf5Store store(cluster, result_so_far(64), setup_for(cluster, path));
      store.reserve_repeats(4);
      for (int repeat = 0; repeat < 4; ++repeat) {
        const bench::link::Slice slice{.repeat = repeat, .permutation = 0, .size_index = 1, .message_size_bytes = 8};
        std::optional<Error> error;
        try {
          store.write(slice, row_of(cluster, slice));
        } catch (const Error& failure) {
          error = failure;
          store.mark_incomplete(failure.what());
        }
        cluster.agree(error ? &*error : nullptr);
      }
    });
    EXPECT_THAT(errors, Each(AllOf(HasSubstr(path), HasSubstr("No space left on device"))));
    const Reader reader(path);
    EXPECT_TRUE(reader.is_open());
    EXPECT_THAT(reader.ints("/status/complete"), ElementsAre(0));
    EXPECT_THAT(reader.texts("/status/reason").at(0), HasSubstr("No space left on device"));
    EXPECT_EQ(reader.doubles("/repeats/0000/time_ns_median").at(64 * 64 + 64 * 3 + 5), 1010305.2);
    return ::testing::Test::HasFailure() ? 1 : 0;
  };
  const int status = in_child(body);
  if (status == no_permission) GTEST_SKIP() << "no permission to mount a small file system";
  EXPECT_EQ(status, 0);
}

TEST(Hdf5Faults, AFileSizeLimitIsNamed) {
  const Folder folder;
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return no_permission;
    const auto errors = run_ranks({16}, [&](auto& cluster) {
      Hdf5Store store(cluster, result_so_far(16), setup_for(cluster, folder / "run.h5"));
      store.reserve_repeats(100);
    });
    EXPECT_THAT(errors, Each(HasSubstr("File too large")));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(Hdf5Faults, AKillLeavesAFileThatOpensWithTheRowsSoFar) {
  const Folder folder;
  const std::string path = folder / "run.h5";
  expect_left_by_a_kill(path, 4, [&](auto& cluster) {
    Hdf5Store store(cluster, result_so_far(4), setup_for(cluster, path));
    store.reserve_repeats(2);
    const bench::link::Slice slice{.repeat = 1, .permutation = 0, .size_index = 0, .message_size_bytes = 8};
    store.write(slice, row_of(cluster, slice));
    kill_rank_2(cluster);
  });
  const Reader reader(path);
  EXPECT_EQ(reader.doubles("/repeats/0001/time_ns_max").at(4 * 3 + 2), 2000302.5);
  EXPECT_THAT(reader.doubles("/repeats/0000/time_ns_max"), Each(0));
}

}  // namespace
}  // namespace leadline::test
