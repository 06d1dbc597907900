// SPDX-License-Identifier: Apache-2.0
// Fake backends that succeed, complain, crash and hang, and what is found out about them.
#include "storage/try_out.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/error.hpp"
#include "storage/posix/posix.hpp"
#include "storage/table.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::storage {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Calls = std::string (*)(const CallKind&, const std::string&);

Trial try_out_calls(Calls calls, const std::string& directory, std::chrono::milliseconds patience = 20s) {
  static constexpr Entry entry{"fake", "", false};
  const Module module{.prepare = [](const std::string&) {}, .try_calls = calls, .make = nullptr};
  return try_out(LoadedBackend(entry, "", module), {}, directory, patience);
}

bool is_empty(const test::Folder& folder) { return std::filesystem::is_empty(folder.path()); }

/// Dies as a process without anybody's handlers does.
[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  ::_exit(99);
}

TEST(TryingOut, IsWellWhereThereIsNothingToSay) {
  const test::Folder folder;
  const Trial trial = try_out_calls([](const CallKind&, const std::string&) { return std::string(); }, folder.path());
  EXPECT_TRUE(trial.works);
  EXPECT_EQ(trial.why, "");
  EXPECT_TRUE(is_empty(folder));
}

TEST(TryingOut, RepeatsWhatTheBackendSays) {
  const test::Folder folder;
  Trial trial =
      try_out_calls([](const CallKind&, const std::string&) { return std::string(2000, 'x'); }, folder.path());
  EXPECT_FALSE(trial.works);
  EXPECT_EQ(trial.why, std::string(2000, 'x'));
  trial =
      try_out_calls([](const CallKind&,
                       const std::string&) -> std::string { throw Error(ExitStatus::run_failed, "no", "it is ill"); },
                    folder.path());
  EXPECT_FALSE(trial.works);
  EXPECT_EQ(trial.why, "no (it is ill)");
}

TEST(TryingOut, NamesTheSignalThatEndedIt) {
  const test::Folder folder;
  EXPECT_EQ(
      try_out_calls([](const CallKind&, const std::string&) -> std::string { die_of(SIGSEGV); }, folder.path()).why,
      "it died of signal 11 (Segmentation fault)");
  EXPECT_EQ(
      try_out_calls([](const CallKind&, const std::string&) -> std::string { die_of(SIGABRT); }, folder.path()).why,
      "it died of signal 6 (Aborted)");
}

TEST(TryingOut, NamesTheStatusItEndedWith) {
  const test::Folder folder;
  const Trial trial =
      try_out_calls([](const CallKind&, const std::string&) -> std::string { ::_exit(0); }, folder.path());
  EXPECT_FALSE(trial.works);  // it never came to its end
  EXPECT_EQ(trial.why, "it ended with status 0");
}

TEST(TryingOut, DoesNotWaitForEver) {
  const test::Folder folder;
  const auto hang = [](const CallKind&, const std::string&) -> std::string {
    for (;;) ::pause();
  };
  EXPECT_EQ(try_out_calls(hang, folder.path(), 50ms).why, "it was not done within 50 ms");
  EXPECT_EQ(try_out_calls(hang, folder.path(), 1s).why, "it was not done within 1 s");
}

TEST(TryingOut, LeavesNothingBehind) {
  const test::Folder folder;
  const Trial trial = try_out_calls(
      [](const CallKind&, const std::string& path) -> std::string {
        std::ofstream(path) << "scratch";
        std::ofstream(path + ".shfp") << "what a library puts beside it";
        if (!std::filesystem::exists(path)) return "no scratch file";
        die_of(SIGBUS);
      },
      folder.path());
  EXPECT_THAT(trial.why, HasSubstr("signal 7"));
  EXPECT_TRUE(is_empty(folder));
}

/// Its write end stays open as long as anybody lives who has it.
std::array<int, 2> alive{};

TEST(TryingOut, EndsChildrenOfTheChild) {
  const test::Folder folder;
  ASSERT_EQ(::pipe(alive.data()), 0);
  const Trial trial = try_out_calls(
      [](const CallKind&, const std::string&) -> std::string {
        if (::fork() == 0) {
          for (;;) ::pause();
        }
        die_of(SIGILL);
      },
      folder.path(), 300ms);
  EXPECT_EQ(trial.why, "it died of signal 4 (Illegal instruction)");
  ::close(alive[1]);
  pollfd end{alive[0], 0, 0};
  EXPECT_EQ(::poll(&end, 1, 20'000), 1) << "a grandchild lives on";
  ::close(alive[0]);
}

TEST(TryingOut, HappensOutsideTheLaunchersReach) {
  const test::Folder folder;
  const std::map<const char*, bool> is_kept{
      {"OMPI_COMM_WORLD_SIZE", false}, {"PMIX_RANK", false}, {"SLURM_PROCID", false}, {"OMPI_MCA_io", true}};
  for (const auto& one : is_kept) setenv(one.first, "1", 1);
  const Trial trial = try_out_calls(
      [](const CallKind&, const std::string&) {
        std::string left;
        for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_PROCID", "OMPI_MCA_io"}) {
          if (std::getenv(name) != nullptr) left += std::string(name) + " ";
        }
        return left;
      },
      folder.path());
  EXPECT_EQ(trial.why, "OMPI_MCA_io ");
  for (const auto& one : is_kept) {
    EXPECT_NE(std::getenv(one.first), nullptr) << "the child's loss is not ours";
    unsetenv(one.first);
  }
}

TEST(TryingOut, IsSilent) {
  const test::Folder folder;
  const Trial trial = try_out_calls(
      [](const CallKind&, const std::string&) -> std::string {
        struct stat nowhere {
        }, own{};
        ::stat("/dev/null", &nowhere);
        for (const int fd : {0, 1, 2}) {
          if (::fstat(fd, &own) != 0 || own.st_rdev != nowhere.st_rdev) return std::to_string(fd);
        }
        return {};
      },
      folder.path());
  EXPECT_EQ(trial.why, "");
}

TEST(TryingOut, NeedsAPlaceForItsFile) {
  const auto calls = [](const CallKind&, const std::string&) { return std::string(); };
  const Error error = test::error_of([&] { try_out_calls(calls, "/nowhere/at all"); });
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/at all"));
}

TEST(TryingOut, FindsPosixAsItSays) {
  const auto num_threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  if (num_threads > 1) GTEST_SKIP() << "a test before this one has left threads, which a child would miss";
  const test::Folder folder;
  const LoadedBackend posix = load_backend("posix", cluster::Launcher::none);
  for (const auto calls : {FileCalls::blocking, FileCalls::non_blocking}) {
    const Trial trial = try_out(posix, {calls, false, CachePath::buffered}, folder.path());
    EXPECT_TRUE(trial.works) << trial.why;
    EXPECT_THAT(try_out(posix, {calls, true, CachePath::buffered}, folder.path()).why, HasSubstr("no collective"));
  }
  EXPECT_TRUE(is_empty(folder));
}

TEST(LauncherVariables, AreKnownByTheirBeginnings) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess", "OMPI_MCA_ess_base_jobid",
        "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_pmix", "PMIX_RANK", "PMIX_MCA_mca_base_component_show_load_errors", "PMI_FD",
        "PMI_RANK", "PMI2_MAPPING", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_JOB_ID", "PALS_RANKID",
        "FLUX_KVS_NAMESPACE"}) {
    EXPECT_TRUE(is_of_launcher(name)) << name;
  }
}

TEST(LauncherVariables, AreNotTheSettingsOfUsers) {
  for (const char* name :
       {"OMPI_MCA_io", "OMPI_MCA_fbtl_posix_read_datasieving", "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "ROMIO_HINTS", "MPIR_CVAR_ENABLE_GPU", "MPICH_VERSION_DISPLAY", "SLURM_CONF",
        "PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR", "MPIEXEC", ""}) {
    EXPECT_FALSE(is_of_launcher(name)) << name;
  }
}

}  // namespace
}  // namespace leadline::storage
