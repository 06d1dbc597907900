// SPDX-License-Identifier: Apache-2.0
// Which backends there are, which file is opened for one, and what is said where that fails.
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

class Backends : public testing::Test {
 protected:
  void SetUp() override { look_in("/nowhere"); }
  void TearDown() override { unsetenv("LEADLINE_MODULE_PATH"); }

  static void look_in(const std::string& folder) { setenv("LEADLINE_MODULE_PATH", folder.c_str(), 1); }

  static Error error_of(const char* choice, Launcher launcher) {
    return test::error_of([&] { load_backend(choice, launcher); }, {choice});
  }
};

TEST_F(Backends, PosixNeedsNothing) {
  for (const Launcher launcher : {Launcher::none, Launcher::open_mpi, Launcher::mpich, Launcher::environment}) {
    const LoadedBackend posix = load_backend("posix", launcher);
    EXPECT_STREQ(posix.entry().name, "posix");
    EXPECT_FALSE(posix.entry().needs_mpi);
    EXPECT_EQ(posix->make({})->library(), "POSIX");
  }
}

TEST_F(Backends, PosixTakesNoArgument) {
  const Error error = error_of("posix:fast", Launcher::none);
  EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
  EXPECT_THAT(error.what(), HasSubstr("posix:fast"));
}

TEST_F(Backends, ThatAreNotThereAreAnsweredByTheNamesOfThoseThatAre) {
  const Error error = error_of("mpiio", Launcher::open_mpi);
  EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
  for (const Entry& entry : backends()) EXPECT_THAT(error.why(), HasSubstr(entry.name));
  EXPECT_EQ(error_of("", Launcher::none).status(), ExitStatus::bad_command_line);
}

TEST_F(Backends, MpiIoNeedsALauncherAndSaysHowToGetOne) {
  for (const Launcher launcher : {Launcher::none, Launcher::environment}) {
    const Error error = error_of("mpi-io", launcher);
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.hint(), HasSubstr("mpirun"));
  }
}

TEST_F(Backends, MpiIoIsThatOfTheLauncher) {
  EXPECT_THAT(error_of("mpi-io", Launcher::open_mpi).what(), HasSubstr("leadline_storage_mpi_io_openmpi.so"));
  EXPECT_THAT(error_of("mpi-io:romio", Launcher::slurm_pmix).what(), HasSubstr("leadline_storage_mpi_io_openmpi.so"));
  EXPECT_THAT(error_of("mpi-io", Launcher::mpich).what(), HasSubstr("leadline_storage_mpi_io_mpich.so"));
  EXPECT_THAT(error_of("mpi-io", Launcher::slurm_pmi2).what(), HasSubstr("leadline_storage_mpi_io_mpich.so"));
}

TEST_F(Backends, ThatCannotBeLoadedGiveTheLoadersReason) {
  EXPECT_THAT(error_of("mpi-io", Launcher::mpich).why(), HasSubstr("cannot open shared object file"));
  const test::Folder folder;
  std::ofstream(folder / "leadline_storage_mpi_io_mpich.so") << std::string(500, 'x');
  look_in(folder.path());
  const Error error = error_of("mpi-io", Launcher::mpich);
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.why(), HasSubstr("invalid ELF header"));
}

}  // namespace
}  // namespace leadline::storage
