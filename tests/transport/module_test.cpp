// SPDX-License-Identifier: Apache-2.0
// Finding, opening and probing modules, and the reasons given where that fails.
#include "transport/module.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

using cluster::Launcher;
using testing::HasSubstr;

class Modules : public testing::Test {
 protected:
  void SetUp() override { look_in(MODULE_FOLDER); }
  void TearDown() override { unsetenv("LEADLINE_MODULE_PATH"); }

  static void look_in(const std::string& folder) { setenv("LEADLINE_MODULE_PATH", folder.c_str(), 1); }

  static Error error_of(const char* name, Launcher launcher) {
    try {
      open_module(name, launcher);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << name << " opens";
    return Error(ExitStatus::ok, "");
  }
};

TEST_F(Modules, OpenUnderAnyLauncherWhereTheyNeedNone) {
  for (const Launcher launcher : {Launcher::none, Launcher::open_mpi, Launcher::environment}) {
    const LoadedModule tcp = open_module("tcp", launcher);
    EXPECT_STREQ(tcp.stem(), "tcp");
    EXPECT_STREQ(tcp.entry().name, "tcp");
    EXPECT_EQ(tcp->bootstrap(), nullptr);
  }
}

TEST_F(Modules, ThatNeedALauncherSayHowToGetOne) {
  const Error error = error_of("mpi", Launcher::none);
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.hint(), HasSubstr("mpirun"));
  EXPECT_EQ(error_of("mpi", Launcher::environment).status(), ExitStatus::something_missing);
}

TEST_F(Modules, AreChosenByTheLauncher) {
  look_in("/nowhere");
  EXPECT_THAT(error_of("mpi", Launcher::open_mpi).what(), HasSubstr("mpi_openmpi.so"));
  EXPECT_THAT(error_of("mpi", Launcher::slurm_pmix).what(), HasSubstr("mpi_openmpi.so"));
  EXPECT_THAT(error_of("mpi", Launcher::mpich).what(), HasSubstr("mpi_mpich.so"));
  EXPECT_THAT(error_of("mpi", Launcher::slurm_pmi2).what(), HasSubstr("mpi_mpich.so"));
}

TEST_F(Modules, ThatAreNotThereGiveTheLoadersReason) {
  look_in("/nowhere");
  const Error error = error_of("tcp", Launcher::none);
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.why(), HasSubstr("cannot open shared object file"));
}

TEST_F(Modules, ProbingAllTellsThoseThatLoadFromThoseThatDoNot) {
  const std::string folder = testing::TempDir() + "leadline_modules_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(MODULE_FOLDER "/leadline_transport_tcp.so", folder + "/leadline_transport_tcp.so");
  std::ofstream(folder + "/leadline_transport_model.so") << std::string(500, 'x');
  look_in(folder);
  const auto all = probe_all();
  std::filesystem::remove_all(folder);

  std::size_t num_files = 0;
  for (const Entry& entry : transports()) num_files += entry.files().size();
  EXPECT_EQ(all.size(), num_files);
  for (const Availability& one : all) {
    const std::string stem = one.file->stem;
    const char* reason = stem == "tcp" ? "" : stem == "model" ? "invalid ELF header" : "No such file";
    EXPECT_THAT(one.why_absent, HasSubstr(reason)) << stem;
    EXPECT_EQ(one.why_absent.empty(), stem == "tcp");
  }
}

TEST(ModuleFolder, LiesBesideTheProgramsOwn) {
  unsetenv("LEADLINE_MODULE_PATH");
  EXPECT_THAT(module_directory().string(), testing::EndsWith("/lib/leadline"));
}

}  // namespace
}  // namespace leadline::transport
