// SPDX-License-Identifier: Apache-2.0
// The table of transports and the word that picks one.
#include "transport/table.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

TEST(Table, NamesAndBuildsAreUnique) {
  std::set<std::string> names, builds;
  for (const Entry& entry : transports()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.builds().empty());
    for (const Build& build : entry.builds()) EXPECT_TRUE(builds.insert(build.name).second) << build.name;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"tcp", "mpi", "model"}));
}

TEST(Table, TransportsOnMpiHaveABuildForEachAbi) {
  for (const Entry& entry : transports()) {
    std::vector<std::optional<mpi::Abi>> abis;
    for (const Build& build : entry.builds()) abis.push_back(build.abi);
    if (entry.needs_mpi()) {
      EXPECT_THAT(abis, testing::UnorderedElementsAre(mpi::Abi::open_mpi, mpi::Abi::mpich, mpi::Abi::standard));
    } else {
      EXPECT_THAT(abis, testing::ElementsAre(std::nullopt)) << entry.name;
    }
  }
}

TEST(Table, AnUnknownNameIsAnErrorThatListsTheNames) {
  try {
    transport_named("carrier_pigeon");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("carrier_pigeon"), testing::HasSubstr("tcp, mpi")));
  }
}

TEST(Table, SaysWhoseMessagesLieInMemoryOfTheirOwn) {
  EXPECT_EQ(default_allocator("tcp"), nullptr);
  EXPECT_EQ(default_allocator(""), nullptr);
  EXPECT_EQ(default_allocator("carrier_pigeon"), nullptr);
  EXPECT_STREQ(default_allocator("cuda"), "cuda");
  EXPECT_STREQ(default_allocator("nccl:"), "cuda");
}

TEST(Table, SaysOverWhichTransportsRanksMayStayAway) {
  const auto begins = [](const char* name, std::vector<std::string> settings) {
    return begins_without_absent(transport_named(name), settings);
  };
  for (const char* name : {"tcp", "libfabric", "verbs"}) EXPECT_TRUE(begins(name, {})) << name;
  for (const char* name : {"ucx", "mpi", "psm2", "nccl", "model"}) EXPECT_FALSE(begins(name, {})) << name;
  EXPECT_TRUE(begins("ucx", {"tls=tcp,self", "go-on=yes"}));
  EXPECT_FALSE(begins("ucx", {"tls=tcp,self", "go-on=no"}));
}

TEST(Choice, IsANameWithAnArgumentBehindTheFirstColon) {
  EXPECT_EQ(parse_choice("tcp").name, "tcp");
  EXPECT_EQ(parse_choice("tcp").argument, "");
  EXPECT_EQ(parse_choice("model:a:b.json").name, "model");
  EXPECT_EQ(parse_choice("model:a:b.json").argument, "a:b.json");
}

}  // namespace
}  // namespace leadline::transport
