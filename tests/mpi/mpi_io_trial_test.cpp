// SPDX-License-Identifier: Apache-2.0
// What is found out about the calls of MPI-IO in a child process, and what a module says before MPI starts.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/error.hpp"
#include "storage/table.hpp"
#include "storage/try_out.hpp"
#include "support/folder.hpp"

namespace leadline::storage {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr bool is_open_mpi = std::string_view(TRIAL_FLAVOUR) == "openmpi";
constexpr auto launcher = is_open_mpi ? cluster::Launcher::open_mpi : cluster::Launcher::mpich;

Trial try_out_with(const std::string& choice, FileCalls calls, bool collective) {
  const test::Folder folder;
  Trial trial = try_out(load_backend(choice, launcher), {.calls = calls, .collective = collective}, folder.path());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  return trial;
}

void expect_well(const std::string& choice, FileCalls calls, bool collective) {
  const Trial trial = try_out_with(choice, calls, collective);
  EXPECT_TRUE(trial.works) << choice << ": " << trial.why;
}

TEST(MpiIoTrial, BlockingCallsCanBeTrusted) {
  for (const bool collective : {false, true}) {
    if (is_open_mpi) {
      expect_well("mpi-io:ompio", FileCalls::blocking, collective);
      expect_well("mpi-io:romio", FileCalls::blocking, collective);
    } else {
      expect_well("mpi-io", FileCalls::blocking, collective);
    }
  }
}

TEST(MpiIoTrial, NonBlockingCallsOfOmpioCanBeTrustedTheWayWeMakeThem) {
  if (!is_open_mpi) return;  // MPICH has no OMPIO
  expect_well("mpi-io:ompio", FileCalls::non_blocking, false);
  expect_well("mpi-io:ompio", FileCalls::non_blocking, true);
}

TEST(MpiIoTrial, NonBlockingCallsOfRomioInOpenMpiAreAllOrNothing) {
  if (!is_open_mpi) return;  // this is MPICH
  expect_well("mpi-io:romio", FileCalls::non_blocking, false);
  const Trial collective = try_out_with("mpi-io:romio", FileCalls::non_blocking, true);
  EXPECT_THAT(collective.why, AnyOf("", HasSubstr("romio321")));
}

TEST(MpiIoTrial, NonBlockingCallsOfMpichAreSeenThrough) {
  if (is_open_mpi) return;  // this is Open MPI
  // As of MPICH 4.0.2; a later one may do better, and then be trusted.
  const Trial alone = try_out_with("mpi-io", FileCalls::non_blocking, false);
  EXPECT_THAT(alone.why, AnyOf("", "a write that the file system refused was never done"));
  const Trial collective = try_out_with("mpi-io", FileCalls::non_blocking, true);
  EXPECT_THAT(collective.why, AnyOf("", "a write that the file system refused was called a success"));
}

TEST(MpiIoTrial, IsNotLedAstrayByAPlaceInAnotherRun) {
  setenv("PMI_RANK", "3", 1);
  setenv("PMI_SIZE", "4", 1);
  setenv("PMI_FD", "99", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("PMIX_RANK", "3", 1);
  expect_well("mpi-io", FileCalls::blocking, false);
  for (const char* name : {"PMI_RANK", "PMI_SIZE", "PMI_FD", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) unsetenv(name);
}

TEST(MpiIoModule, RefusesAnImplementationThatIsNotThere) {
  for (const char* choice : {"mpi-io:posix", is_open_mpi ? "mpi-io:ROMIO" : "mpi-io:ompio"}) {
    try {
      load_backend(choice, launcher);
      ADD_FAILURE() << choice << " means something";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
      EXPECT_THAT(error.what(), HasSubstr("romio"));
    }
  }
}

TEST(MpiIoModule, NeedsAnMpiThatRuns) {
  try {
    load_backend("mpi-io", launcher)->make({});
    ADD_FAILURE() << "no transport has started MPI";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), HasSubstr("--backend mpi-io needs --transport mpi"));
  }
}

}  // namespace
}  // namespace leadline::storage
