// SPDX-License-Identifier: Apache-2.0
// Which transports are built, which of them fits a launcher, and what probing says of each.
#include "transport/module.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "core/error.hpp"
#include "mpi/library_search.hpp"

namespace leadline::transport {
namespace {

using cluster::Launcher;
using testing::HasSubstr;

Error error_of(const char* name, Launcher launcher) {
  try {
    open_module(name, launcher);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << name << " opens";
  return Error(ExitStatus::ok, "");
}

TEST(Modules, OpenUnderAnyLauncherWhereTheyNeedNone) {
  for (const Launcher launcher : {Launcher::none, Launcher::open_mpi, Launcher::environment}) {
    const LoadedModule tcp = open_module("tcp", launcher);
    EXPECT_STREQ(tcp.build(), "tcp");
    EXPECT_STREQ(tcp.entry().name, "tcp");
    EXPECT_EQ(tcp->bootstrap(), nullptr);
  }
}

TEST(Modules, ThatNeedALauncherSayHowToGetOne) {
  const Error error = error_of("mpi", Launcher::none);
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.hint(), HasSubstr("mpirun"));
  EXPECT_EQ(error_of("mpi", Launcher::environment).status(), ExitStatus::something_missing);
}

TEST(Modules, OfMpiAreChosenByTheLibraryOfTheLauncher) {
  for (const Launcher launcher : {Launcher::open_mpi, Launcher::slurm_pmix, Launcher::mpich, Launcher::slurm_pmi2}) {
    const bool is_open_mpi = launcher == Launcher::open_mpi || launcher == Launcher::slurm_pmix;
    if (!leadline::mpi::is_built_for(is_open_mpi ? leadline::mpi::Abi::open_mpi : leadline::mpi::Abi::mpich)) continue;
    EXPECT_STREQ(open_module("mpi", launcher).build(), is_open_mpi ? "mpi_openmpi" : "mpi_mpich");
  }
}

TEST(Modules, AreThoseOfTheTableAndBuiltOrSayWhyNot) {
  std::set<std::string> in_table;
  for (const Entry& entry : transports()) {
    for (const Build& build : entry.builds()) in_table.insert(build.name);
  }
  std::set<std::string> all;
  for (const BuiltModule& one : built_modules()) {
    EXPECT_TRUE(all.insert(one.name).second) << one.name;
    EXPECT_EQ(one.module == nullptr, *one.why_not_built != '\0') << one.name;
  }
  EXPECT_EQ(all, in_table);
}

TEST(Modules, ProbingAllTellsThoseThatCanBeUsedFromThoseThatCannot) {
  std::map<std::string, std::string> why_not_built;
  for (const BuiltModule& one : built_modules()) why_not_built[one.name] = one.why_not_built;
  std::set<std::string> usable;
  for (const Availability& one : probe_all()) {
    if (one.is_usable()) usable.insert(one.build->name);
    EXPECT_EQ(one.is_usable(), !one.facts.empty()) << one.build->name;
    const std::string& why = why_not_built[one.build->name];
    if (!why.empty()) {
      EXPECT_EQ(one.why_absent, "not built: " + why);
    }
  }
  EXPECT_THAT(usable, testing::IsSupersetOf({"tcp", "model"}));
}

}  // namespace
}  // namespace leadline::transport
