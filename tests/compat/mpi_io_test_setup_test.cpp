// SPDX-License-Identifier: Apache-2.0
// Setup files of `mpi_io_test.x`: lines, quotes, comments, what goes before what, and that a printed one says the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/mpi_io_test/option_table.hpp"
#include "compat/mpi_io_test/options.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Line = std::vector<std::string>;

/// With `text` in the file master.txt.
Command command(const std::string& text, Line words = {"-setup", "master.txt"}) {
  words.insert(words.begin(), "mpi_io_test.x");
  return parse(words, [&](const std::string& path) {
    EXPECT_EQ(path, "master.txt");
    return text;
  });
}

std::string refusal(const std::string& text) {
  return test::refusal_of([&] { command(text); }, {text});
}

constexpr const char* example =
    "# master file\n"
    "-type     2\n"
    "-size     64K          # 65536 bytes\n"
    "-nobj     20480\r\n"
    "\n"
    "\t-hints    striping_factor 4 cb_nodes 6\n"
    "-deletefile";

TEST(MpiIoTestSetup, HasOneOptionInEachLine) {
  const bench::io::IoRequest request = command(example).request;
  EXPECT_EQ(request.movement, schedule::Movement::n_1);
  EXPECT_EQ(request.object_size_bytes, 65536u);
  EXPECT_EQ(request.num_objects, 20480u);
  EXPECT_THAT(request.hints, ElementsAre(Pair("striping_factor", "4"), Pair("cb_nodes", "6")));
  EXPECT_TRUE(request.delete_files);
}

TEST(MpiIoTestSetup, GoesBehindTheCommandLineWhereverItStands) {
  for (const Line& words : {Line{"-nobj", "3", "-deletefile=0", "-hints", "cb_nodes", "1", "-setup", "master.txt"},
                            Line{"-setup", "master.txt", "-hints", "cb_nodes=1", "-deletefile=0", "-nobj", "3"}}) {
    const bench::io::IoRequest request = command(example, words).request;
    EXPECT_EQ(request.num_objects, 3u);
    EXPECT_FALSE(request.delete_files);
    EXPECT_THAT(request.hints, ElementsAre(Pair("striping_factor", "4"), Pair("cb_nodes", "1")));
    EXPECT_EQ(request.object_size_bytes, 65536u);
  }
}

TEST(MpiIoTestSetup, GroupsWordsByQuotes) {
  const bench::io::IoRequest request =
      command("-type 3\n-size 8\n-num_io \"2 2\"\n-host 'a b'\n-target \"/s/it's \"#'\"'.%r\n").request;
  EXPECT_THAT(request.io_ranks, ElementsAre(2, 2));
  EXPECT_THAT(request.io_hosts, ElementsAre("a", "b"));
  EXPECT_EQ(request.target, "/s/it's #\".%r");
}

TEST(MpiIoTestSetup, CountsAHashWithinAWordAsALetter) {
  EXPECT_EQ(command("-type 2\n-size 8 # -nobj 3\n-target a#b\n").request.target, "a#b");
}

TEST(MpiIoTestSetup, NamesFileAndLineOfAMistake) {
  EXPECT_THAT(refusal("-type 2\n-siz 8\n"),
              AllOf(HasSubstr("knows no argument '-siz'"), HasSubstr("master.txt, line 2")));
  EXPECT_THAT(refusal("-type 2\n\n-size 1.5M\n"),
              AllOf(HasSubstr("-size (master.txt, line 3)"), HasSubstr("cannot be '1.5M'")));
  EXPECT_THAT(refusal("-nobj\n"), AllOf(HasSubstr("-nobj (master.txt, line 1) needs a value"), HasSubstr("the line")));
  EXPECT_THAT(refusal("-target \"a\n"), HasSubstr("has no second one"));
  EXPECT_THAT(refusal("-sync -barrier\n"), HasSubstr("Write one option a line"));
  EXPECT_THAT(refusal("-setup other.txt\n"), HasSubstr("cannot name another one"));
  EXPECT_THAT(refusal(std::string("-type \x01\n", 8)), HasSubstr("a byte that is no text"));
  EXPECT_THAT(test::refusal_of([] {
                command(example, {"-setup", "master.txt", "-setup", "master.txt"});
              }),
              HasSubstr("-setup is given twice"));
}

TEST(MpiIoTestSetup, IsPrintedWithWhereItComesFrom) {
  const Command all = command(example, {"-print_setup", "-setup", "master.txt", "-nobj", "3", "-hints", "a=-1"});
  EXPECT_EQ(all.action, Action::print_setup);
  EXPECT_THAT(all.setup, HasSubstr("-size          64K                       # master.txt, line 3\n"));
  EXPECT_THAT(all.setup, HasSubstr("-nobj          3                         # command line\n"));
  EXPECT_THAT(all.setup, HasSubstr("-deletefile                              # master.txt, line 7\n"));
  EXPECT_THAT(all.setup,
              HasSubstr("-hints         striping_factor 4 cb_nodes 6 a=-1  # master.txt, line 6; command line\n"));
  EXPECT_THAT(all.setup, HasSubstr("-chkdata       1                         # default\n"));
  EXPECT_THAT(all.setup, HasSubstr("-target        ./test_file.out           # default\n"));
}

/// What a run depends on.
void expect_same(const bench::io::IoRequest& one, const bench::io::IoRequest& other) {
  EXPECT_EQ(one.movement, other.movement);
  EXPECT_EQ(one.object_size_bytes, other.object_size_bytes);
  EXPECT_EQ(one.num_objects, other.num_objects);
  EXPECT_EQ(one.order, other.order);
  EXPECT_EQ(one.io_ranks, other.io_ranks);
  EXPECT_EQ(one.io_hosts, other.io_hosts);
  EXPECT_EQ(one.buffer_size_bytes, other.buffer_size_bytes);
  EXPECT_EQ(one.num_ahead, other.num_ahead);
  EXPECT_EQ(one.target, other.target);
  EXPECT_EQ(one.targets_file, other.targets_file);
  EXPECT_EQ(one.hints, other.hints);
  EXPECT_EQ(one.collective, other.collective);
  EXPECT_EQ(one.sync, other.sync);
  EXPECT_EQ(one.touch, other.touch);
  EXPECT_EQ(one.check, other.check);
  EXPECT_EQ(one.preallocate_bytes, other.preallocate_bytes);
  EXPECT_EQ(one.operations, other.operations);
}

TEST(MpiIoTestSetup, SaysTheSameWhenItIsReadAgain) {
  const std::vector<Line> lines{
      {"-type", "2", "-size", "64K", "-strided", "1", "-hints", "a", "b c", "d=", "e=-1", "-target", "a \"b' #c"},
      {"-type", "4", "-size", "1M", "-num_io", "2 1", "-host", "x y", "-ahead", "2", "-csize", "4M", "-collective"},
      {"-type", "5", "-size", "8", "-targets", "list", "-num_io", "3", "-touch", "3", "-chkdata", "0", "-sync"},
      {"-type", "1", "-size", "2b", "-preallocate", "-1", "-op", "write", "-collective=0"}};
  for (Line words : lines) {
    words.insert(words.begin(), "-print_setup");
    const Command first = command("", words);
    const Command again = command(first.setup);
    expect_same(first.request, again.request);
    Line printing{"-print_setup", "-setup", "master.txt"};
    EXPECT_EQ(first.setup.size() > 100, true);
    expect_same(first.request, command(first.setup, printing).request);
  }
}

}  // namespace
}  // namespace leadline::compat::mpi_io_test
