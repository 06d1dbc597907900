// SPDX-License-Identifier: Apache-2.0
// The command line of `linktest`: every option, every other spelling, every range, and what goes before what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "compat/linktest/option_table.hpp"
#include "compat/linktest/options.hpp"
#include "core/error.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::linktest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Line = std::vector<std::string>;

Variables variables(const std::map<std::string, std::string>& set) {
  return [set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}
const Variables no_variables = variables({});

Line required(const Line& more = {}) {
  Line line{"linktest", "--mode", "tcp", "-w", "10", "-n", "100", "-s", "1024"};
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

bench::link::LinkRequest parsed(const Line& more) { return parse(required(more), no_variables).request; }

Error error_of(const Line& line, const Variables& given = no_variables) {
  return test::error_of([&] { parse(line, given); }, line);
}

std::string refusal(const Line& more) {
  return test::refusal_of([&] { parse(required(more), no_variables); }, more);
}

TEST(LinktestOptions, HaveTheDefaultsOfLinktest) {
  const bench::link::LinkRequest request = parsed({});
  EXPECT_EQ(request.transport, "tcp");
  EXPECT_EQ(request.num_warmup, 10u);
  EXPECT_EQ(request.num_messages, 100u);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024));
  EXPECT_EQ(request.num_batches, 1u);
  EXPECT_EQ(request.direction, Direction::semidirectional);
  EXPECT_EQ(request.output, "pingpong_results_bin.sion");
  EXPECT_EQ(request.format, ResultFormat::sion);
  EXPECT_EQ(request.row_path, RowPath::funnel);
  EXPECT_TRUE(request.overwrite);
  EXPECT_EQ(request.retest, 10);
  EXPECT_EQ(request.repeat, 1);
  EXPECT_EQ(request.min_time_s, 0);
  EXPECT_EQ(request.allocator, "posix");
  EXPECT_EQ(request.all_to_all, bench::link::AllToAll::none);
  EXPECT_EQ(request.fill, Fill::ramp);
  EXPECT_EQ(request.num_buffers, 1u);
  EXPECT_EQ(request.shuffle_ranks, 0);
  EXPECT_EQ(request.wait, WaitMode::automatic);
  EXPECT_FALSE(request.bisection || request.between_hosts || request.serial || request.shuffle_rounds ||
               request.check_buffers);
}

TEST(LinktestOptions, SetTheirMember) {
  EXPECT_EQ(parsed({"--unidirectional"}).direction, Direction::unidirectional);
  EXPECT_EQ(parsed({"--bidirectional"}).direction, Direction::bidirectional);
  EXPECT_EQ(parsed({"--semidirectional"}).direction, Direction::semidirectional);
  EXPECT_TRUE(parsed({"--bisection"}).bisection);
  EXPECT_TRUE(parsed({"--serial-tests"}).serial);
  EXPECT_TRUE(parsed({"--group-processes-by-hostname"}).between_hosts);
  EXPECT_EQ(parsed({"--all-to-all"}).all_to_all, bench::link::AllToAll::around);
  EXPECT_EQ(parsed({"--num-slowest", "3"}).retest, 3);
  EXPECT_EQ(parsed({"--num-slowest", "0"}).retest, 0);
  EXPECT_TRUE(parsed({"--check-buffers"}).check_buffers);
  EXPECT_EQ(parsed({"-o", "a.sion"}).output, "a.sion");
  EXPECT_EQ(parsed({"--output=b.sion"}).output, "b.sion");
  EXPECT_EQ(parsed({"--parallel-sion-file"}).row_path, RowPath::automatic);
  const bench::link::LinkRequest none = parsed({"--no-sion-file"});
  EXPECT_EQ(none.format, ResultFormat::none);
  EXPECT_EQ(none.output, "");
}

TEST(LinktestOptions, ReadSizesInBytesAndWithUnits) {
  const auto size = [](const std::string& text) {
    return parse({"linktest", "-m", "tcp", "-w", "0", "-n", "1", "-s", text}, no_variables).request.message_sizes_bytes;
  };
  EXPECT_THAT(size("16777216"), ElementsAre(16777216));
  EXPECT_THAT(size("16MiB"), ElementsAre(16777216));
  EXPECT_THAT(size("0"), ElementsAre(0));
  for (const char* text : {"-1", "", "4x", "1,2", "99999999999999999999", "2TiB"}) {
    const Error error = error_of({"linktest", "-m", "tcp", "-w", "0", "-n", "1", "-s", text});
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--size-messages"), HasSubstr(text)));
  }
}

TEST(LinktestOptions, CountABidirectionalMessageThereAndBack) {
  const bench::link::LinkRequest request = parsed({"--bidirectional"});
  EXPECT_EQ(request.num_messages, 200u);
  EXPECT_EQ(request.num_warmup, 20u);
  EXPECT_EQ(request.window, 1u);
  EXPECT_EQ(num_messages_as_asked(request), 100u);
  EXPECT_EQ(num_warmup_as_asked(request), 10u);
}

TEST(LinktestOptions, SendUnidirectionalMessagesBackToBack) {
  EXPECT_EQ(parsed({"--unidirectional"}).window, 64u);
  EXPECT_EQ(parse({"linktest", "-m", "tcp", "-w", "0", "-n", "7", "-s", "1", "--unidirectional"}, no_variables)
                .request.window,
            7u);
}

struct Spelling {
  const char* canonical;
  const char* other;
  Line more;  ///< what it needs
};

TEST(LinktestOptions, HaveOtherSpellings) {
  const std::vector<Spelling> spellings{
      {"--randomize-steps", "--randomize", {}},
      {"--use-gpu-memory", "--use-gpus", {}},
      {"--memory-buffer-allocator", "--memory_buffer_allocator", {"DEFAULT"}},
      {"--multi-buffer", "--multi_-buffers_buf", {}},
      {"--num-multi-buffer", "--num_multi_buf", {"5", "--multi-buffer"}},
      {"--check-buffers", "--check_buffers", {}},
      {"--bidirectional", "--bidir", {}},
      {"--bidirectional", "--bidirection", {}},
      {"--bidirectional", "--bidirictional", {}},
      {"--bisection", "--bisect", {}},
      {"--serial-tests", "--serial", {}},
      {"--serial-tests", "--serial-testing", {}},
      {"--num-warmup-messages", "-w", {"3"}},
      {"--num-messages", "-n", {"3"}},
      {"--size-messages", "-s", {"3"}},
      {"--output", "-o", {"x"}},
      {"--mode", "-m", {"tcp"}},
  };
  for (const Spelling& spelling : spellings) {
    Line canonical{"linktest", spelling.canonical}, other{"linktest", spelling.other};
    canonical.insert(canonical.end(), spelling.more.begin(), spelling.more.end());
    other.insert(other.end(), spelling.more.begin(), spelling.more.end());
    EXPECT_EQ(GivenOptions(canonical).value(spelling.canonical), GivenOptions(other).value(spelling.canonical))
        << spelling.other;
    EXPECT_TRUE(GivenOptions(other).has(spelling.canonical)) << spelling.other;
  }
}

TEST(LinktestOptions, TakeValuesInEveryUsualWay) {
  for (const Line& words : std::vector<Line>{{"-n", "5"}, {"-n5"}, {"--num-messages=5"}, {"--num-messages", "5"}}) {
    Line line{"linktest"};
    line.insert(line.end(), words.begin(), words.end());
    EXPECT_EQ(GivenOptions(line).value("--num-messages"), "5");
  }
}

TEST(LinktestOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("--frobnicate"));
  EXPECT_THAT(refusal({"-x"}), HasSubstr("-x"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
  EXPECT_THAT(refusal({"=size-messages"}), HasSubstr("=size-messages"));
  EXPECT_THAT(refusal({"--num"}), HasSubstr("--num"));
  EXPECT_THAT(refusal({"--mix"}), AllOf(HasSubstr("--mix"), HasSubstr("--num-randomize-tasks")));
  EXPECT_THAT(refusal({"--output"}), HasSubstr("--output needs a value"));
  EXPECT_THAT(refusal({"--bisection=yes"}), HasSubstr("--bisection takes no value"));
  EXPECT_THAT(refusal({"-n", "3"}), HasSubstr("--num-messages is given twice"));
  EXPECT_THAT(refusal({"--bidir", "--bidirectional"}), HasSubstr("--bidirectional is given twice"));
}

TEST(LinktestOptions, RefuseNumbersOutOfRange) {
  const auto line = [](const char* warmup, const char* messages) {
    return Line{"linktest", "-m", "tcp", "-w", warmup, "-n", messages, "-s", "1"};
  };
  for (const char* bad : {"-1", "", "1.5", "ten", "99999999999999999999"}) {
    EXPECT_THAT(error_of(line(bad, "1")).what(), AllOf(HasSubstr("--num-warmup-messages"), HasSubstr("from 0 to")));
    EXPECT_THAT(error_of(line("0", bad)).what(), AllOf(HasSubstr("--num-messages"), HasSubstr("from 1 to")));
  }
  EXPECT_THAT(error_of(line("0", "0")).what(),
              AllOf(HasSubstr("--num-messages cannot be '0'"), HasSubstr("from 1 to")));
  const std::vector<std::pair<Line, const char*>> cases{
      {{"--num-slowest", "-1"}, "from 0 to 100000"},
      {{"--num-slowest", "100001"}, "from 0 to 100000"},
      {{"--min-iterations", "0"}, "from 1 to 100000"},
      {{"--min-iterations", "100001"}, "from 1 to 100000"},
      {{"--min-runtime", "-1"}, "from 0"},
      {{"--min-runtime", "long"}, "from 0"},
      {{"--min-runtime", "inf"}, "from 0"},
      {{"--min-runtime", "nan"}, "from 0"},
      {{"--num-randomize-tasks", "-1"}, "from 0 to 10000"},
      {{"--num-randomize-tasks", "10001"}, "from 0 to 10000"},
      {{"--randomize-steps", "--seed-randomize-steps", "0"}, "from 1 to 18446744073709551615"},
      {{"--randomize-steps", "--seed-randomize-steps", "18446744073709551616"}, "from 1 to"},
      {{"--randomize-buffers", "--seed-randomize-buffers", "0"}, "from 1 to"},
      {{"--num-randomize-tasks", "2", "--seed-randomize-tasks", "0"}, "from 1 to"},
      {{"--multi-buffer", "--num-multi-buffer", "1"}, "from 2 to 100"},
      {{"--multi-buffer", "--num-multi-buffer", "101"}, "from 2 to 100"},
      {{"--output", ""}, "it must name a file"},
      {{"--output", "-"}, "it must name a file"},
      {{"--memory-buffer-allocator", "heap"}, "POSIX_aligned-memory_allocator"},
  };
  for (const auto& [more, range] : cases) {
    EXPECT_THAT(refusal(more), AllOf(HasSubstr(*(more.end() - 2)), HasSubstr(range))) << testing::PrintToString(more);
  }
}

TEST(LinktestOptions, RefuseWhatContradicts) {
  EXPECT_THAT(refusal({"--unidirectional", "--bidirectional"}), HasSubstr("--bidirectional cannot be had together"));
  EXPECT_THAT(refusal({"--unidirectional", "--semidirectional"}), HasSubstr("cannot be had together"));
  EXPECT_THAT(refusal({"--bidir", "--semidirectional"}), HasSubstr("cannot be had together"));
  EXPECT_THAT(refusal({"--use-gpus", "--memory-buffer-allocator", "aligned-memory_allocator"}),
              HasSubstr("--use-gpu-memory contradicts"));
}

TEST(LinktestOptions, SayWhatHasNoEffectAndGoOn) {
  const auto remarks = [](const Line& more) { return parse(required(more), no_variables).remarks; };
  EXPECT_THAT(remarks({}), IsEmpty());
  EXPECT_THAT(remarks({"--output", "x", "--num-slowest", "4"}), IsEmpty());
  EXPECT_THAT(remarks({"--no-sion-file", "--parallel-sion-file", "--output", "x"}),
              ElementsAre(HasSubstr("--output has no effect"), HasSubstr("--parallel-sion-file has no effect")));
  EXPECT_THAT(remarks({"--min-iterations", "2", "--parallel-sion-file"}),
              ElementsAre(HasSubstr("a repeated test writes no file without --output")));
  EXPECT_THAT(remarks({"--num-multi-buffer", "4"}), ElementsAre(HasSubstr("--num-multi-buffer has no effect")));
  EXPECT_THAT(remarks({"--seed-randomize-steps", "4"}), ElementsAre(HasSubstr("--seed-randomize-steps has no effect")));
  EXPECT_THAT(remarks({"--seed-randomize-buffers", "4"}), ElementsAre(HasSubstr("--seed-randomize-buffers")));
  EXPECT_THAT(remarks({"--seed-randomize-tasks", "4"}), ElementsAre(HasSubstr("--seed-randomize-tasks")));
  EXPECT_THAT(remarks({"--num-randomize-tasks", "0", "--seed-randomize-tasks", "4"}),
              ElementsAre(HasSubstr("--seed-randomize-tasks has no effect")));
  const Command one_message =
      parse({"linktest", "-m", "tcp", "-w", "0", "-n", "1", "-s", "1", "--multi-buffer"}, no_variables);
  EXPECT_THAT(one_message.remarks, ElementsAre("--multi-buffer has no effect: one message needs one buffer"));
  EXPECT_EQ(one_message.request.num_buffers, 1u);
  EXPECT_EQ(parsed({"--no-sion-file", "--output", "x"}).format, ResultFormat::none);
}

TEST(LinktestOptions, SayWhatIsMissing) {
  const Error all = error_of({"linktest", "--mode", "mpi"});
  EXPECT_EQ(all.status(), ExitStatus::bad_command_line);
  EXPECT_THAT(all.what(), HasSubstr("lacks --num-warmup-messages, --num-messages, --size-messages"));
  EXPECT_THAT(error_of({"linktest", "--mode", "mpi", "-n", "1", "-s", "1"}).what(),
              HasSubstr("lacks --num-warmup-messages ("));
  EXPECT_THAT(error_of({"linktest", "-w", "1", "-n", "1", "-s", "1"}).what(),
              AllOf(HasSubstr("--mode"), HasSubstr("linktest.LAYER"), HasSubstr("LINKTEST_VCLUSTER_IMPL")));
}

TEST(LinktestOptions, FindTheTransportInTheOrderOfLinktest) {
  const Variables set = variables({{"LINKTEST_VCLUSTER_IMPL", "mpi"}});
  const auto transport = [](Line line, const Variables& given) {
    line.insert(line.end(), {"-w", "1", "-n", "1", "-s", "1"});
    return parse(line, given).request.transport;
  };
  EXPECT_EQ(transport({"linktest"}, set), "mpi");
  EXPECT_EQ(transport({"/opt/bin/linktest.tcp"}, set), "tcp");
  EXPECT_EQ(transport({"linktest.TCP"}, no_variables), "tcp");
  EXPECT_EQ(transport({"linktest.mpi", "--mode", "tcp"}, set), "tcp");
  EXPECT_EQ(transport({"linktest.mpi", "--mode", "model:Fabric.json"}, set), "model:Fabric.json");
  EXPECT_EQ(transport({"linktest", "-m", "MPI"}, no_variables), "mpi");
}

TEST(LinktestOptions, SayWhichTransportsThereAre) {
  const auto of_mode = [](const std::string& mode) {
    return error_of({"linktest", "--mode", mode, "-w", "1", "-n", "1", "-s", "1"});
  };
  const Error unknown = of_mode("pigeon");
  EXPECT_EQ(unknown.status(), ExitStatus::bad_command_line);
  EXPECT_THAT(unknown.what(), AllOf(HasSubstr("pigeon"), HasSubstr("--mode"), HasSubstr("mpi"), HasSubstr("tcp")));
  EXPECT_THAT(error_of({"linktest.pigeon", "-w", "1", "-n", "1", "-s", "1"}).what(), HasSubstr("the program's name"));
  EXPECT_THAT(
      error_of({"linktest", "-w", "1", "-n", "1", "-s", "1"}, variables({{"LINKTEST_VCLUSTER_IMPL", "x"}})).what(),
      HasSubstr("LINKTEST_VCLUSTER_IMPL"));
}

TEST(LinktestOptions, KeepTheLastIterationOnlyWhereAFileIsNamed) {
  for (const Line& repeated : std::vector<Line>{{"--min-iterations", "2"}, {"--min-runtime", "0.5"}}) {
    const bench::link::LinkRequest without = parsed(repeated);
    EXPECT_TRUE(is_repeated(without));
    EXPECT_EQ(without.format, ResultFormat::none);
    Line named = repeated;
    named.insert(named.end(), {"--output", "x.sion"});
    EXPECT_EQ(parsed(named).format, ResultFormat::sion);
  }
  EXPECT_EQ(parsed({"--min-iterations", "2"}).repeat, 2);
  EXPECT_EQ(parsed({"--min-runtime", "0.5"}).min_time_s, 0.5);
  EXPECT_FALSE(is_repeated(parsed({"--min-iterations", "1", "--min-runtime", "0.0"})));
}

TEST(LinktestOptions, HaveSeedsOf64Bits) {
  EXPECT_EQ(parsed({"--randomize-steps"}).shuffle_rounds_seed, 9876543210u);
  EXPECT_EQ(parsed({"--randomize-steps", "--seed-randomize-steps", "9876543210"}).shuffle_rounds_seed, 9876543210u);
  EXPECT_EQ(parsed({"--randomize-buffers"}).fill_seed, 1234567890u);
  EXPECT_EQ(parsed({"--randomize-buffers"}).fill, Fill::mersenne);
  EXPECT_EQ(parsed({"--randomize-buffers", "--seed-randomize-buffers", "18446744073709551615"}).fill_seed, UINT64_MAX);
  const bench::link::LinkRequest tasks = parsed({"--num-randomize-tasks", "3"});
  EXPECT_EQ(tasks.shuffle_ranks, 3);
  EXPECT_EQ(tasks.shuffle_ranks_seed, 29309775u);
}

TEST(LinktestOptions, HaveSeveralBuffers) {
  EXPECT_EQ(parsed({"--multi-buffer"}).num_buffers, 2u);
  EXPECT_EQ(parsed({"--multi-buffer", "--num-multi-buffer", "100"}).num_buffers, 100u);
  // Counted in messages as LinkTest counts them, also where the engine has two exchanges a message.
  EXPECT_THAT(refusal({"--bidirectional", "--multi-buffer", "--num-multi-buffer", "101"}), HasSubstr("from 2 to 100"));
}

TEST(LinktestOptions, KnowTheAllocatorsOfLinktest) {
  const auto allocator = [](const char* name) { return parsed({"--memory-buffer-allocator", name}).allocator; };
  EXPECT_EQ(allocator("DEFAULT"), "posix");
  EXPECT_EQ(allocator("aligned-memory_allocator"), "aligned");
  EXPECT_EQ(allocator("pinned-memory-map_allocator"), "pinned");
  EXPECT_EQ(allocator("POSIX_aligned-memory_allocator"), "posix");
  EXPECT_EQ(allocator("CUDA_memory_allocator"), "cuda");
  EXPECT_EQ(allocator("huge"), "huge");
  EXPECT_EQ(parsed({"--use-gpu-memory"}).allocator, "cuda");
  EXPECT_EQ(parsed({"--use-gpus", "--memory-buffer-allocator", "CUDA_memory_allocator"}).allocator, "cuda");
}

TEST(LinktestOptions, TakeTheNetworkFromTheEnvironment) {
  const bench::link::LinkRequest request =
      parse(required(), variables({{"LINKTEST_SYSTEM_NODENAME_SUFFIX", "i"}})).request;
  EXPECT_EQ(request.host_name_suffix, "i");
}

TEST(LinktestOptions, PutHelpBeforeVersionBeforeAllElse) {
  EXPECT_EQ(parse({"linktest", "--frobnicate", "-v", "-h"}, no_variables).action, Action::help);
  EXPECT_EQ(parse({"linktest", "--help", "-n"}, no_variables).action, Action::help);
  EXPECT_EQ(parse({"linktest", "-n", "ten", "--version"}, no_variables).action, Action::version);
  EXPECT_EQ(version_line(), "FZJ Linktest (2.1.17)\n");
}

TEST(LinktestOptions, AreAllInTheHelp) {
  const std::string text = help();
  EXPECT_THAT(text, testing::StartsWith(version_line()));
  EXPECT_THAT(text, HasSubstr("Usage: linktest"));
  for (const OptionEntry& entry : option_table()) {
    EXPECT_THAT(text, HasSubstr(entry.name));
    EXPECT_THAT(text, HasSubstr(entry.otherwise != nullptr ? entry.otherwise : ""));
  }
  EXPECT_THAT(text, HasSubstr("Transports built in: tcp, mpi"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace
}  // namespace leadline::compat::linktest
