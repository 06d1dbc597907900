// SPDX-License-Identifier: Apache-2.0
// Which backends there are, and what is said where one cannot be had.
#include "storage/table.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/error.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::storage {
namespace {

using cluster::Launcher;
using testing::HasSubstr;

Error error_of(const char* choice, Launcher launcher) {
  return test::error_of([&] { load_backend(choice, launcher); }, {choice});
}

TEST(Backends, PosixNeedsNothing) {
  for (const Launcher launcher : {Launcher::none, Launcher::open_mpi, Launcher::mpich, Launcher::environment}) {
    const LoadedBackend posix = load_backend("posix", launcher);
    EXPECT_STREQ(posix.entry().name, "posix");
    EXPECT_FALSE(posix.entry().needs_mpi);
    EXPECT_EQ(posix->make({})->library(), "POSIX");
  }
}

TEST(Backends, PosixTakesNoArgument) {
  const Error error = error_of("posix:fast", Launcher::none);
  EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
  EXPECT_THAT(error.what(), HasSubstr("posix:fast"));
}

TEST(Backends, ThatAreNotThereAreAnsweredByTheNamesOfThoseThatAre) {
  const Error error = error_of("mpiio", Launcher::open_mpi);
  EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
  for (const Entry& entry : backends()) EXPECT_THAT(error.why(), HasSubstr(entry.name));
  EXPECT_EQ(error_of("", Launcher::none).status(), ExitStatus::bad_command_line);
}

TEST(Backends, MpiIoNeedsALauncherAndSaysHowToGetOne) {
  for (const Launcher launcher : {Launcher::none, Launcher::environment}) {
    const Error error = error_of("mpi-io", launcher);
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.hint(), HasSubstr("mpirun"));
  }
}

TEST(Backends, MpiIoIsBuiltForTheAbisThatTheProgramHas) {
  for (const mpi::Abi abi : {mpi::Abi::open_mpi, mpi::Abi::mpich, mpi::Abi::standard}) {
    EXPECT_EQ(mpi_io_module(abi) != nullptr, mpi::is_built_for(abi)) << mpi::name_of(abi);
  }
}

TEST(Backends, MpiIoWithoutALibraryGivesTheLoadersReason) {
  if (!mpi::is_built_for(mpi::Abi::mpich)) GTEST_SKIP() << "built without the ABI of MPICH";
  const test::Folder folder;
  const std::string file = folder / "libmpi.so";
  std::ofstream(file) << std::string(500, 'x');
  setenv("LEADLINE_LIBMPI", file.c_str(), 1);
  const Error error = error_of("mpi-io", Launcher::mpich);
  unsetenv("LEADLINE_LIBMPI");
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.why(), HasSubstr("invalid ELF header"));
}

}  // namespace
}  // namespace leadline::storage
