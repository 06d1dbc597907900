// SPDX-License-Identifier: Apache-2.0
// Which kind a file is of, and files that are of none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "check.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "ib_sample.hpp"
#include "network/parse_network.hpp"
#include "support/folder.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const char* const slurm_text =
    "# Slurm\nSwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-04],x\nSwitchName=t Switches=s[1-2] LinkSpeed=1\n";

const char* const cables_text = "# cables\na s1 1\nb s1\nc s2 1.5e2\ns1 s2\nhosts: a b\nhosts: c\n";

std::string file_refusal(const std::string& text) {
  return test::refusal_of([&] { parse_topology("my.file", text); }, {text.substr(0, 60)});
}

TEST(topology_file, is_known_by_what_is_in_it) {
  EXPECT_THAT(kinds_of(parse_topology("f", slurm_text)), ElementsAre("leaf switch", "level-2 switch"));
  EXPECT_THAT(parse_topology("f", ib_sample).hosts, ElementsAre("node01", "node02", "node03"));
  EXPECT_THAT(parse_topology("f", cables_text).levels[0].names, ElementsAre("s1", "s2"));
  EXPECT_THAT(parse_topology("f", "Switch Ca\nblock1 Ca\nInclude Ca\n").levels[0].names, ElementsAre("Ca"));
  EXPECT_THAT(file_refusal("Include x\nSwitchName=a Nodes=n1"), HasSubstr("Include is not followed"));
  EXPECT_THAT(file_refusal("BlockName=b1 Nodes=n[1-4]\nBlockSizes=4"), HasSubstr("blocks are no tree"));
  EXPECT_THAT(parse_topology("f", "\xEF\xBB\xBF \n\n  switchname=s\u00e4 nodes=n1").levels[0].names,
              ElementsAre("s\u00e4"));
}

TEST(topology_file, is_text) {
  EXPECT_THAT(file_refusal(""), AllOf(HasSubstr("cannot use 'my.file' as a network (it is empty). Known are")));
  EXPECT_THAT(file_refusal(" \n\t\r\n"), HasSubstr("it is empty"));
  for (const std::string& wrong :
       {std::string(1, '\0'), std::string("\x1B["), std::string("\x7F"), std::string("\xFF"), std::string("\xC3"),
        std::string("\xC0\x80"), std::string("\xE0\x80\x80"), std::string("\xED\xA0\x80"),
        std::string("\xF4\x90\x80\x80"), std::string("\xF0\x9F")}) {
    EXPECT_THAT(file_refusal("SwitchName=a\nNodes=" + wrong), HasSubstr("line 2: it is no text"));
  }
}

TEST(read_topology, names_the_file_that_cannot_be_read) {
  const test::Folder folder;
  std::ofstream(folder / "my.conf") << slurm_text;
  EXPECT_EQ(read_topology(folder / "my.conf").source, folder / "my.conf");
  const auto refusal = [](const std::string& path) { return test::refusal_of([&] { read_topology(path); }, {path}); };
  EXPECT_THAT(refusal(folder / "none"), AllOf(HasSubstr("cannot read"), HasSubstr("No such file")));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("it is no file"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("it is no file"));
}

/// Read, or refused in words; nothing else may happen.
void expect_survived(const std::string& text) {
  try {
    expect_sound(parse_topology("my.file", text));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("my.file"));
  }
}

TEST(topology_file, survives_truncation_and_damage) {
  Random random(1);
  for (const std::string& whole : {std::string(slurm_text), std::string(ib_sample), std::string(cables_text)}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) expect_survived(whole.substr(0, size));
    for (int repetition = 0; repetition < 3000; ++repetition) {
      std::string damaged = whole;
      for (int change = 0; change < 3; ++change) {
        const std::size_t at = random.below(damaged.size());
        if (random.below(2) == 0) {
          damaged[at] = static_cast<char>(random.below(256));
        } else {
          damaged[at] = whole[random.below(whole.size())];
        }
      }
      expect_survived(damaged);
    }
  }
}

TEST(topology_file, survives_random_bytes) {
  Random random(2);
  for (int repetition = 0; repetition < 2000; ++repetition) {
    std::string text(random.below(200), ' ');
    for (char& letter : text) letter = static_cast<char>(random.below(repetition % 2 == 0 ? 256 : 96) + 32);
    expect_survived(text);
    expect_survived("SwitchName=" + text);
    expect_survived("Switch 36 \"S-1\"\n[" + text);
  }
}

}  // namespace
}  // namespace leadline::network
