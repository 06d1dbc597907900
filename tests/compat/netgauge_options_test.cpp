// SPDX-License-Identifier: Apache-2.0
// The command line of `netgauge`: every option, every spelling, both parsers, and what cannot be meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/netgauge/options.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::netgauge {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Line = std::vector<std::string>;

Command command(Line words) {
  words.insert(words.begin(), "netgauge");
  return parse(words);
}

/// With -x ebb behind them.
Command general(Line words) {
  words.insert(words.end(), {"-x", "ebb"});
  return command(words);
}

/// With -x ebb before them.
Command ebb(Line words) {
  words.insert(words.begin(), {"-x", "ebb"});
  return command(words);
}

std::vector<std::uint64_t> sizes(const Line& words) { return general(words).request.message_sizes_bytes; }

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { command(words); }, words);
}

std::string refusal_of_ebb(Line words) {
  words.insert(words.begin(), {"-x", "ebb"});
  return refusal(words);
}

TEST(NetgaugeOptions, AreThoseOfThePage) {
  const Command first = command({"-s", "1048576-1048576", "-x", "ebb", "-r", "10"});
  EXPECT_EQ(first.action, Action::run);
  EXPECT_THAT(first.request.message_sizes_bytes, ElementsAre(1048576));
  EXPECT_EQ(first.request.rounds, 10u);
  EXPECT_EQ(first.request.num_exchanges, 20u);
  EXPECT_EQ(first.request.num_buckets, 1u);
  EXPECT_THAT(first.shown.remarks, IsEmpty());
  EXPECT_THAT(first.request.command_line, SizeIs(7));
  const Command second = command({"-s", "1048576-1048576", "-x", "ebb", "-r", "1000", "-b", "50"});
  EXPECT_EQ(second.request.rounds, 1000u);
  EXPECT_EQ(second.request.num_buckets, 50u);
  EXPECT_EQ(command({"-x", "ebb", "--help"}).action, Action::pattern_help);
}

TEST(NetgaugeOptions, AreThoseOfRuns) {
  const Command sweep =
      command({"-v", "2", "-s", "1024-65536", "-g", "1", "-x", "ebb", "-r", "2", "-n", "5", "-b", "4", "-p"});
  EXPECT_THAT(sweep.request.message_sizes_bytes, ElementsAre(1024, 2048, 4096, 8192, 16384, 32768, 65536));
  EXPECT_EQ(sweep.request.rounds, 2u);
  EXPECT_EQ(sweep.request.num_exchanges, 5u);
  EXPECT_EQ(sweep.request.num_buckets, 4u);
  EXPECT_EQ(sweep.shown.verbosity, 2);
  EXPECT_EQ(sweep.shown.pairs, Flag::on);
  EXPECT_EQ(sweep.shown.host_names, Flag::off);
  const Command hosts = command({"--hostnames", "-s", "4096", "-x", "ebb", "-h", "-r", "1", "-n", "1"});
  EXPECT_EQ(hosts.action, Action::run);
  EXPECT_EQ(hosts.shown.host_names, Flag::on);
  EXPECT_THAT(hosts.request.message_sizes_bytes, ElementsAre(4096));
  EXPECT_THAT(hosts.shown.remarks, ElementsAre("-h has no effect on ebb; it had none in Netgauge"));
}

TEST(NetgaugeOptions, MeasureAsNetgaugeDid) {
  const bench::bisection::BisectionRequest request = general({}).request;
  EXPECT_EQ(request.transport, "mpi");
  EXPECT_THAT(request.patterns, ElementsAre("random"));
  EXPECT_TRUE(request.within_hosts);
  EXPECT_EQ(request.active_ranks_per_host, 0);
  EXPECT_EQ(request.rounds, 100u);
  EXPECT_EQ(request.num_exchanges, 20u);
  EXPECT_EQ(request.num_warmup, 2u);
  EXPECT_EQ(request.precision, 0);
  EXPECT_EQ(request.time_limit_s, 0);
  EXPECT_EQ(request.num_baseline_pairs, 0u);
  EXPECT_EQ(request.retest, 0u);
  EXPECT_EQ(request.num_worst_steps, 0u);
  EXPECT_EQ(request.num_buckets, 1u);
  EXPECT_EQ(request.format, ResultFormat::none);
  EXPECT_EQ(request.output, "");
  EXPECT_FALSE(request.verify);
}

TEST(NetgaugeOptions, HaveTheirDefaults) {
  const Command plain = general({});
  EXPECT_EQ(plain.request.message_sizes_bytes.front(), 1u);
  EXPECT_EQ(plain.request.message_sizes_bytes.back(), 131072u);
  EXPECT_THAT(plain.request.message_sizes_bytes, SizeIs(34));
  EXPECT_EQ(plain.shown.verbosity, 1);
  EXPECT_EQ(plain.shown.pairs, Flag::off);
  EXPECT_EQ(plain.shown.timer_check, Flag::off);
}

TEST(NetgaugeOptions, HaveRangesOfSizes) {
  EXPECT_THAT(sizes({"-s", "4096"}), ElementsAre(4096));
  EXPECT_THAT(sizes({"-s", "-4", "-g", "1"}), ElementsAre(1, 2, 4));
  EXPECT_THAT(sizes({"-s", "2-9", "-g", "1"}), ElementsAre(2, 4, 8, 9));
  EXPECT_THAT(sizes({"-s", "5-5"}), ElementsAre(5));
}

TEST(NetgaugeOptions, HaveSizesOfEachGrade) {
  EXPECT_THAT(sizes({"-s", "1-16"}), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(sizes({"-s", "1-16", "-g", "2"}), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(sizes({"-s", "1-17", "-g", "3"}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 17));
  EXPECT_THAT(sizes({"-s", "1-10", "-g", "64"}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(sizes({"-s", "1000-4000", "-g", "1"}), ElementsAre(1000, 1512, 2536, 4000));
  EXPECT_THAT(sizes({"-s", "1-1T", "-g", "1"}), SizeIs(41));
}

TEST(NetgaugeOptions, UnderstandUnitsAndSaySo) {
  const Command one = general({"-s", "1M"});
  EXPECT_THAT(one.request.message_sizes_bytes, ElementsAre(1048576));
  EXPECT_THAT(one.shown.remarks, ElementsAre("-s: 1M is 1048576 bytes; Netgauge knew no units"));
  const Command both = general({"--size=1k-1MiB", "-g", "1"});
  EXPECT_THAT(both.request.message_sizes_bytes, SizeIs(11));
  EXPECT_THAT(both.shown.remarks, ElementsAre("--size: 1k is 1024 bytes; Netgauge knew no units",
                                              "--size: 1MiB is 1048576 bytes; Netgauge knew no units"));
  EXPECT_THAT(general({"-s", "1M-1M"}).shown.remarks, SizeIs(1));
  const Command large = general({"-s", "2147483648"});
  EXPECT_THAT(large.request.message_sizes_bytes, ElementsAre(2147483648));
  EXPECT_THAT(large.shown.remarks, ElementsAre("-s: sizes above 1 GiB are measured; Netgauge ended there"));
  EXPECT_THAT(general({"-s", "1073741824"}).shown.remarks, IsEmpty());
}

TEST(NetgaugeOptions, RefuseRangesThatCannotBeMeant) {
  EXPECT_THAT(refusal({"-s", "4096-", "-x", "ebb"}), AllOf(HasSubstr("-s cannot be '4096-'"), HasSubstr("no end")));
  EXPECT_THAT(refusal({"-s", "-", "-x", "ebb"}), HasSubstr("no end"));
  EXPECT_THAT(refusal({"-s", "8-4", "-x", "ebb"}), HasSubstr("ends below its beginning"));
  EXPECT_THAT(refusal({"-s", "0", "-x", "ebb"}), HasSubstr("from 1 B"));
  EXPECT_THAT(refusal({"-s", "0-8", "-x", "ebb"}), HasSubstr("from 1 B"));
  EXPECT_THAT(refusal({"-s", "2T", "-x", "ebb"}), HasSubstr("to 1 TiB"));
  for (const char* text : {"", "x", "1-x", "1--2", "1-2-3", "1,2", "-s", "1.3", "99999999999999999999"}) {
    EXPECT_THAT(refusal({"-s", text, "-x", "ebb"}), HasSubstr("-s cannot be '" + std::string(text) + "'")) << text;
  }
  EXPECT_THAT(refusal({"-s", "1-1G", "-g", "20", "-x", "ebb"}), HasSubstr("-g 20 makes too many sizes"));
  EXPECT_THAT(refusal({"-g", "0", "-x", "ebb"}), HasSubstr("-g cannot be '0'"));
}

TEST(NetgaugeOptions, HaveTheirOtherSpellings) {
  EXPECT_THAT(sizes({"--size", "8", "--gradation", "1"}), ElementsAre(8));
  EXPECT_THAT(sizes({"-s8-16", "--grad=1"}), ElementsAre(8, 16));
  for (const char* word : {"--tests", "--testcount", "-c"}) {
    EXPECT_THAT(general({word, "5"}).shown.remarks, ElementsAre(HasSubstr(word))) << word;
  }
  for (const char* word : {"--time", "-t", "--full-output", "--fulltestresults", "-f"}) {
    EXPECT_THAT(general({word, "5"}).shown.remarks, ElementsAre(HasSubstr(word))) << word;
  }
  for (const char* word : {"-a", "--server", "--servermode", "-i", "--init-thread"}) {
    EXPECT_THAT(general({word}).shown.remarks, ElementsAre(HasSubstr(word))) << word;
  }
  for (const char* word : {"-x", "--comm_pattern", "--com_pattern", "--pattern"}) {
    EXPECT_EQ(command({word, "ebb", "-r", "7"}).request.rounds, 7u) << word;
  }
  for (const char* word : {"-q", "--sanity-check"}) EXPECT_EQ(general({word}).shown.timer_check, Flag::on) << word;
  for (const char* word : {"-w", "--manpage", "--writemanpage", "-h", "--help"}) {
    EXPECT_EQ(command({word}).action, Action::help) << word;
  }
  for (const char* word : {"-V", "--version"}) EXPECT_EQ(command({word}).action, Action::version) << word;
  const Command own = ebb({"--rounds", "3", "--reps=4", "--buckets", "5", "--print_ptrn", "--hostname"});
  EXPECT_EQ(own.request.rounds, 3u);
  EXPECT_EQ(own.request.num_exchanges, 4u);
  EXPECT_EQ(own.request.num_buckets, 5u);
  EXPECT_EQ(own.shown.pairs, Flag::on);
  EXPECT_THAT(own.shown.remarks, ElementsAre("--hostname has no effect on ebb; it had none in Netgauge"));
}

TEST(NetgaugeOptions, StandOnEitherSideOfThePattern) {
  const Command behind = ebb({"-r", "1", "-s", "4096", "-v", "2", "--hostnames"});
  EXPECT_THAT(behind.request.message_sizes_bytes, ElementsAre(4096));
  EXPECT_EQ(behind.request.rounds, 1u);
  EXPECT_EQ(behind.shown.verbosity, 2);
  const Command before = general({"-r", "5", "-n", "6", "-b", "0", "-p"});
  EXPECT_EQ(before.request.rounds, 5u);
  EXPECT_EQ(before.request.num_exchanges, 6u);
  EXPECT_EQ(before.request.num_buckets, 0u);
  EXPECT_EQ(before.shown.pairs, Flag::on);
}

TEST(NetgaugeOptions, MeanWhatTheirPlaceSays) {
  EXPECT_EQ(command({"-h", "-x", "ebb"}).action, Action::help);
  EXPECT_EQ(ebb({"-h"}).action, Action::run);
  EXPECT_EQ(command({"--help", "-x", "ebb"}).action, Action::help);
  EXPECT_EQ(ebb({"--help"}).action, Action::pattern_help);
  EXPECT_EQ(ebb({"-V"}).action, Action::version);
  EXPECT_EQ(general({"--output", "ng.h5"}).request.output, "");
  EXPECT_EQ(ebb({"--output", "ng.h5"}).request.output, "ng.h5");
}

TEST(NetgaugeOptions, HaveLevelsOfWords) {
  for (int level = 0; level <= 3; ++level) {
    EXPECT_EQ(general({"-v", std::to_string(level)}).shown.verbosity, level);
    EXPECT_EQ(general({"-v" + std::to_string(level)}).shown.verbosity, level);
  }
  EXPECT_EQ(general({"-v"}).shown.verbosity, 2);
  EXPECT_EQ(general({"--verbosity", "-s", "8"}).shown.verbosity, 2);
  EXPECT_EQ(ebb({"-v"}).shown.verbosity, 2);
  EXPECT_THAT(refusal({"-v", "4", "-x", "ebb"}), HasSubstr("-v cannot be '4'"));
}

TEST(NetgaugeOptions, AlwaysCallMpi) {
  EXPECT_THAT(general({"-m", "mpi"}).shown.remarks, IsEmpty());
  for (const char* mode : {"tcp", "udp", "edp", "esp", "ib", "ibv", "dummy"}) {
    const Command other = general({"-m", mode});
    EXPECT_EQ(other.request.transport, "mpi") << mode;
    EXPECT_THAT(other.shown.remarks,
                ElementsAre(AllOf(HasSubstr("-m " + std::string(mode)), HasSubstr("ebb calls MPI"))));
  }
  EXPECT_THAT(refusal({"--mode", "mpl", "-x", "ebb"}),
              AllOf(HasSubstr("--mode cannot be 'mpl'"), HasSubstr("mpi, tcp, udp"), HasSubstr("Leave it out")));
}

TEST(NetgaugeOptions, SendOtherPatternsElsewhere) {
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("one_one"), HasSubstr("without -x"), HasSubstr("leadline link")));
  EXPECT_THAT(refusal({"-s", "4096"}), HasSubstr("leadline link"));
  EXPECT_THAT(refusal({"-x", "one_one"}), AllOf(HasSubstr("-x cannot be 'one_one'"), HasSubstr("leadline link")));
  EXPECT_THAT(refusal({"-x", "one_one_mpi_bidirect"}), HasSubstr("leadline link --direction bidirectional"));
  EXPECT_THAT(refusal({"-x", "one_one_randtag"}), HasSubstr("leadline link"));
  EXPECT_THAT(refusal({"-x", "Nto1"}), HasSubstr("leadline topology --pattern incast"));
  EXPECT_THAT(refusal({"-x", "1toN"}), AllOf(HasSubstr("--pattern star"), HasSubstr("--pattern outcast")));
  EXPECT_THAT(refusal({"-x", "loggp"}), HasSubstr("leadline link"));
  EXPECT_THAT(refusal({"-x", "distrtt"}), HasSubstr("leadline link"));
  EXPECT_THAT(refusal({"-x", "disk"}), AllOf(HasSubstr("destroys"), HasSubstr("never")));
  for (const char* pattern :
       {"cpu", "func_args", "mprobe", "collvsnoise", "synctest", "noise", "nbov", "memory", "overlap"}) {
    EXPECT_THAT(refusal({"-x", pattern}), AllOf(HasSubstr(pattern), HasSubstr("nothing like it"))) << pattern;
  }
  for (const char* pattern : {"beff", "EBB", ""}) {
    EXPECT_THAT(refusal({"--pattern", pattern}), HasSubstr("Netgauge had none of that name")) << pattern;
  }
  EXPECT_THAT(refusal({"-x", "noise", "-m", "ftq", "--whatever"}), HasSubstr("-x cannot be 'noise'"));
}

TEST(NetgaugeOptions, RefuseWhatCannotBeMeant) {
  EXPECT_THAT(refusal_of_ebb({"-r", "0"}), HasSubstr("-r cannot be '0'"));
  EXPECT_THAT(refusal_of_ebb({"-n", "0"}), HasSubstr("-n cannot be '0'"));
  EXPECT_THAT(refusal_of_ebb({"-b", "-1"}), HasSubstr("-b cannot be '-1'"));
  for (const char* value : {"", "1k", "-1", "1.5", " ", "x", "+1", "99999999999999999999"}) {
    EXPECT_THAT(refusal_of_ebb({"-r", value}), HasSubstr("-r cannot be '" + std::string(value) + "'")) << value;
  }
  EXPECT_THAT(refusal_of_ebb({"-r"}), HasSubstr("-r needs a value"));
  EXPECT_THAT(refusal_of_ebb({"--reps"}), HasSubstr("--reps needs a value"));
  EXPECT_THAT(refusal({"-x"}), HasSubstr("-x needs a value"));
}

TEST(NetgaugeOptions, NameWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"-z", "-x", "ebb"}), HasSubstr("netgauge knows no argument '-z'"));
  EXPECT_THAT(refusal_of_ebb({"--round", "3"}), HasSubstr("netgauge knows no argument '--round'"));
  EXPECT_THAT(refusal_of_ebb({"ebb"}), AllOf(HasSubstr("'ebb'"), HasSubstr("no option")));
  EXPECT_THAT(refusal_of_ebb({"-"}), HasSubstr("'-'"));
  EXPECT_THAT(refusal_of_ebb({""}), HasSubstr("''"));
  EXPECT_THAT(refusal_of_ebb({"-pr", "3"}), HasSubstr("netgauge knows no argument '-pr'"));
  EXPECT_THAT(refusal_of_ebb({"--print_ptrn=1"}), HasSubstr("--print_ptrn takes no value"));
  EXPECT_THAT(refusal({"--nooutput", "-x", "ebb"}), HasSubstr("not its parser"));
}

TEST(NetgaugeOptions, AreGivenOnce) {
  EXPECT_THAT(refusal({"-s", "1", "--size", "2", "-x", "ebb"}),
              AllOf(HasSubstr("--size is given twice"), HasSubstr("-s is the same")));
  EXPECT_THAT(refusal_of_ebb({"-x", "ebb"}), HasSubstr("-x is given twice"));
  EXPECT_THAT(refusal_of_ebb({"-p", "-p"}), HasSubstr("-p is given twice"));
}

TEST(NetgaugeOptions, KeepAResultWhereOneIsNamed) {
  const bench::bisection::BisectionRequest hdf5 = ebb({"-O", "ng.h5", "--seed", "7"}).request;
  EXPECT_EQ(hdf5.output, "ng.h5");
  EXPECT_EQ(hdf5.format, ResultFormat::hdf5);
  EXPECT_FALSE(hdf5.overwrite);
  EXPECT_EQ(hdf5.seed, 7u);
  const bench::bisection::BisectionRequest json = ebb({"--output", "ng.json", "--overwrite"}).request;
  EXPECT_EQ(json.format, ResultFormat::json);
  EXPECT_TRUE(json.overwrite);
  EXPECT_THAT(refusal_of_ebb({"-O", "ng.sion"}), HasSubstr("-O cannot be 'ng.sion'"));
  EXPECT_THAT(refusal_of_ebb({"-O", "-"}), HasSubstr("-O cannot be '-'"));
  EXPECT_THAT(refusal_of_ebb({"-O", ""}), HasSubstr("-O cannot be ''"));
  EXPECT_THAT(refusal_of_ebb({"--overwrite"}), HasSubstr("--overwrite has no effect"));
  EXPECT_THAT(general({"-o", "ng.out"}).shown.remarks,
              ElementsAre(AllOf(HasSubstr("-o has no effect"), HasSubstr("-O FILE behind -x ebb"))));
}

TEST(NetgaugeOptions, AreExplained) {
  for (const char* word :
       {"--size", "--grad", "--comm_pattern", "--verbosity", "--hostnames", "--sanity-check", "--manpage", "--help",
        "--version", "--mode", "--tests", "--time", "--init-thread", "--output", "--full-output", "--server"}) {
    EXPECT_THAT(help(), HasSubstr(word));
  }
  for (const char* word : {"--rounds", "--reps", "--buckets", "--print_ptrn", "--hostname", "--help", "--version",
                           "--seed", "--output", "--overwrite"}) {
    EXPECT_THAT(pattern_help(), HasSubstr(word));
  }
}

}  // namespace
}  // namespace leadline::compat::netgauge
