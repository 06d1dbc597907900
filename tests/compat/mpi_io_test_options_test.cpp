// SPDX-License-Identifier: Apache-2.0
// The command line of `mpi_io_test.x`: the guide's samples, every option, and what cannot be meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/mpi_io_test/options.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

using schedule::Movement;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using Line = std::vector<std::string>;

std::string no_setup(const std::string& path) {
  ADD_FAILURE() << "nobody asked for " << path;
  return {};
}

Command command(Line words) {
  words.insert(words.begin(), "mpi_io_test.x");
  return parse(words, no_setup);
}

/// With what every run needs.
Command of_type(const std::string& type, Line words = {}) {
  words.insert(words.begin(), {"-type", type, "-size", "64K"});
  return command(words);
}

bench::io::IoRequest request(const std::string& type, const Line& words = {}) { return of_type(type, words).request; }
Line remarks(const std::string& type, const Line& words) { return of_type(type, words).shown.remarks; }

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { command(words); }, words);
}

std::string refusal_of(const std::string& type, Line words) {
  words.insert(words.begin(), {"-type", type, "-size", "64K"});
  return refusal(words);
}

// --- the guide -------------------------------------------------------------------------------------------------------

TEST(MpiIoTestOptions, AreThoseOfTheGuidesFirstSample) {
  const Command sample =
      command({"-type",  "2",       "-nobj",           "20480",      "-size",  "65536",           "-target", "/s/file",
               "-touch", "3",       "-chkdata",        "3",          "-hints", "striping_factor", "4",       "cb_nodes",
               "6",      "-output", "./output_n1.txt", "-deletefile"});
  EXPECT_EQ(sample.action, Action::run);
  EXPECT_EQ(sample.request.movement, Movement::n_1);
  EXPECT_EQ(sample.request.num_objects, 20480u);
  EXPECT_EQ(sample.request.object_size_bytes, 65536u);
  EXPECT_THAT(sample.request.message_sizes_bytes, ElementsAre(65536));
  EXPECT_EQ(sample.request.target, "/s/file");
  EXPECT_EQ(sample.request.touch, memory::Touch::page);
  EXPECT_EQ(sample.request.check, memory::Check::all);
  EXPECT_THAT(sample.request.hints, ElementsAre(Pair("striping_factor", "4"), Pair("cb_nodes", "6")));
  EXPECT_EQ(sample.shown.output, "./output_n1.txt");
  EXPECT_TRUE(sample.request.delete_files);
  EXPECT_THAT(sample.shown.remarks, IsEmpty());
  EXPECT_THAT(sample.request.command_line, SizeIs(21));
}

TEST(MpiIoTestOptions, AreThoseOfTheGuidesSecondSample) {
  const Command sample = command({"-type", "1", "-nobj", "8192", "-size", "65536", "-target", "/s/file.%r", "-touch",
                                  "3", "-chkdata", "3", "-output", "./output_nn.txt", "-deletefile"});
  EXPECT_EQ(sample.request.movement, Movement::n_n);
  EXPECT_EQ(sample.request.target, "/s/file.%r");
  EXPECT_EQ(sample.request.num_objects, 8192u);
  EXPECT_EQ(sample.request.order, schedule::Order::segmented);
}

TEST(MpiIoTestOptions, NameATypographicDashAndAStrayBlank) {
  EXPECT_THAT(refusal({"\xE2\x80\x93type", "1"}), HasSubstr("its dash is a typographic one). Type -"));
  EXPECT_THAT(refusal_of("1", {"-", "touch", "3"}), AllOf(HasSubstr("'-'"), HasSubstr("a blank follows")));
}

TEST(MpiIoTestOptions, MeasureAsTheOldProgramDid) {
  const bench::io::IoRequest plain = request("2");
  EXPECT_EQ(plain.transport, "mpi");
  EXPECT_EQ(plain.backend, "mpi-io");
  EXPECT_EQ(plain.calls, storage::FileCalls::blocking);
  EXPECT_FALSE(plain.collective);
  EXPECT_EQ(plain.file_fill, memory::BlockKind::doubles);
  EXPECT_EQ(plain.touch, memory::Touch::never);
  EXPECT_EQ(plain.check, memory::Check::first);
  EXPECT_EQ(plain.num_objects, 1u);
  EXPECT_EQ(plain.num_ahead, 0);
  EXPECT_EQ(plain.sync, bench::io::SyncTiming::none);
  EXPECT_EQ(plain.operations, bench::io::IoOperations::both);
  EXPECT_EQ(plain.target, "./test_file.out");
  EXPECT_EQ(plain.format, ResultFormat::none);
  EXPECT_TRUE(plain.overwrite_targets);
  EXPECT_FALSE(plain.delete_files);
  EXPECT_FALSE(plain.rank_times);
}

// --- each option -----------------------------------------------------------------------------------------------------

TEST(MpiIoTestOptions, MayHaveTwoDashes) {
  const Command all = command({"--type", "1", "--size", "8", "--collective", "--hints", "a", "b", "--sync"});
  EXPECT_TRUE(all.request.collective);
  EXPECT_THAT(all.request.hints, ElementsAre(Pair("a", "b")));
  EXPECT_EQ(all.request.sync, bench::io::SyncTiming::inside);
}

TEST(MpiIoTestOptions, TheTypeIsTheMovement) {
  EXPECT_EQ(request("1").movement, Movement::n_n);
  EXPECT_EQ(request("3").movement, Movement::n_m_m);
  EXPECT_EQ(request("4").movement, Movement::n_m_1);
  EXPECT_EQ(request("5", {"-targets", "list"}).movement, Movement::n_m);
  EXPECT_THAT(refusal({"-size", "8"}), HasSubstr("-type is missing"));
  EXPECT_THAT(refusal({"-type", "6", "-size", "8"}), HasSubstr("-type cannot be '6'"));
  EXPECT_THAT(refusal({"-type", "1"}), HasSubstr("-size is missing"));
}

TEST(MpiIoTestOptions, SayWhoDoesTheIo) {
  EXPECT_THAT(request("3").io_ranks, IsEmpty()) << "all of them";
  EXPECT_THAT(request("4", {"-num_io", "2"}).io_ranks, ElementsAre(2));
  const Command hosts = of_type("3", {"-host", "a  b", "-num_io", "2 1"});
  EXPECT_THAT(hosts.request.io_hosts, ElementsAre("a", "b"));
  EXPECT_THAT(hosts.request.io_ranks, ElementsAre(2, 1));
  EXPECT_EQ(hosts.shown.num_io, "2 1");
  EXPECT_THAT(request("3", {"-host", "a b", "-num_io", "2"}).io_ranks, ElementsAre(2));
  EXPECT_EQ(of_type("2", {"-num_io", "4"}).num_ranks_needed, 4u);
  EXPECT_EQ(of_type("2").num_ranks_needed, std::nullopt);
  EXPECT_EQ(request("5", {"-num_io", "4", "-targets", "list"}).num_files, 4);
  EXPECT_THAT(refusal_of("3", {"-num_io", "2 1"}), HasSubstr("-num_io has 2 numbers, and -host 0 names"));
  EXPECT_THAT(refusal_of("3", {"-host", "a"}), HasSubstr("-host needs -num_io"));
  EXPECT_THAT(refusal_of("2", {"-num_io", "1 2"}), HasSubstr("-num_io has 2 numbers"));
  EXPECT_THAT(refusal_of("3", {"-num_io", "0"}), HasSubstr("-num_io cannot be '0'"));
}

TEST(MpiIoTestOptions, SizeTheCircularBuffers) {
  EXPECT_EQ(request("3").buffer_size_bytes, 64u << 20);
  EXPECT_EQ(command({"-type", "3", "-size", "128M"}).request.buffer_size_bytes, 128u << 20) << "at least one object";
  EXPECT_EQ(command({"-type", "3", "-size", "24M"}).request.buffer_size_bytes, 48u << 20);
  EXPECT_EQ(request("3", {"-csize", "128K", "-ahead", "3"}).buffer_size_bytes, 131072u);
  EXPECT_EQ(request("3", {"-csize", "128K", "-ahead", "3"}).num_ahead, 3);
  EXPECT_THAT(refusal_of("4", {"-csize", "100K"}), HasSubstr("no multiple of -size, 65536 bytes"));
  EXPECT_EQ(request("2", {"-csize", "1"}).buffer_size_bytes, 0u);
  EXPECT_THAT(remarks("2", {"-csize", "1", "-ahead", "2"}), SizeIs(2));
}

TEST(MpiIoTestOptions, StrideWhereThereIsWhatToStride) {
  EXPECT_EQ(request("2", {"-strided", "1"}).order, schedule::Order::strided);
  EXPECT_EQ(request("4", {"-strided", "1"}).order, schedule::Order::strided);
  EXPECT_EQ(request("2", {"-strided", "0"}).order, schedule::Order::segmented);
  EXPECT_EQ(request("1", {"-strided", "1"}).order, schedule::Order::segmented);
  EXPECT_THAT(remarks("1", {"-strided", "1"}), ElementsAre(HasSubstr("-strided has no effect")));
  EXPECT_THAT(remarks("1", {"-strided", "0"}), IsEmpty());
  EXPECT_THAT(refusal_of("3", {"-strided", "1"}), HasSubstr("-strided 1 and -type 3"));
  EXPECT_THAT(refusal_of("2", {"-strided", "2"}), HasSubstr("-strided cannot be '2'"));
}

TEST(MpiIoTestOptions, NameFilesAsTheGuideDoes) {
  EXPECT_EQ(request("1").target, "./test_file.out.%r");
  EXPECT_EQ(request("3").target, "./test_file.out.%r");
  EXPECT_EQ(request("4").target, "./test_file.out");
  const Command shared = of_type("2", {"-target", "/s/%r.%%r"});
  EXPECT_EQ(shared.request.target, "/s/0.%%r") << "one file, that of the lowest process";
  EXPECT_THAT(shared.shown.remarks, ElementsAre(HasSubstr("%r in -target is 0")));
  EXPECT_EQ(request("1", {"-targets", "list"}).targets_file, "list");
  EXPECT_THAT(refusal_of("1", {"-targets", "list", "-target", "x"}), HasSubstr("do not go together"));
  EXPECT_THAT(refusal_of("2", {"-targets", "list"}), HasSubstr("-targets has no effect"));
  EXPECT_THAT(refusal_of("5", {}), HasSubstr("-type 5 needs -targets"));
}

TEST(MpiIoTestOptions, SayWhatIsTouchedAndChecked) {
  EXPECT_EQ(request("1", {"-touch", "1"}).touch, memory::Touch::never);
  EXPECT_EQ(request("1", {"-touch", "2"}).touch, memory::Touch::object);
  EXPECT_EQ(request("1", {"-chkdata", "0"}).check, memory::Check::none);
  EXPECT_EQ(request("1", {"-chkdata", "1"}).check, memory::Check::first);
  EXPECT_EQ(request("1", {"-chkdata", "2"}).check, memory::Check::two);
  EXPECT_THAT(refusal_of("1", {"-touch", "0"}), HasSubstr("-touch cannot be '0'"));
  EXPECT_THAT(refusal_of("1", {"-chkdata", "4"}), HasSubstr("-chkdata cannot be '4'"));
}

TEST(MpiIoTestOptions, ChoosePhases) {
  EXPECT_EQ(request("1", {"-op", "write"}).operations, bench::io::IoOperations::write);
  EXPECT_EQ(request("1", {"-op", "read"}).operations, bench::io::IoOperations::read);
  EXPECT_THAT(refusal_of("1", {"-op", "both"}), HasSubstr("it must be one of write, read"));
  EXPECT_EQ(request("1", {"-sleep", "2.5"}).sleep_s, 2.5);
  EXPECT_THAT(remarks("1", {"-op", "read", "-sync"}), ElementsAre(HasSubstr("-sync has no effect")));
  EXPECT_THAT(remarks("1", {"-op", "write", "-chkdata", "3"}), ElementsAre(HasSubstr("nothing is read")));
}

TEST(MpiIoTestOptions, LeaveFilesOut) {
  const bench::io::IoRequest funnel =
      request("4", {"-num_io", "1", "-nofile", "-norsend", "-collective", "-hints", "a", "b"});
  EXPECT_TRUE(funnel.no_file);
  EXPECT_EQ(funnel.operations, bench::io::IoOperations::write);
  EXPECT_EQ(funnel.self_send, schedule::SelfSend::no);
  EXPECT_FALSE(funnel.collective);
  EXPECT_THAT(funnel.hints, IsEmpty());
  EXPECT_THAT(remarks("4", {"-nofile", "-collective", "-hints", "a", "b"}), SizeIs(2));
  EXPECT_THAT(refusal_of("1", {"-nofile"}), HasSubstr("-nofile has no effect"));
  EXPECT_THAT(refusal_of("2", {"-norsend"}), HasSubstr("-norsend has no effect"));
  EXPECT_THAT(refusal_of("3", {"-nofile", "-op", "read"}), HasSubstr("do not go together"));
}

TEST(MpiIoTestOptions, TakeHintsUpToTheNextDash) {
  EXPECT_THAT(request("1", {"-hints", "a", "1", "b=-2", "c", "x=y", "-sync"}).hints,
              ElementsAre(Pair("a", "1"), Pair("b", "-2"), Pair("c", "x=y")));
  EXPECT_THAT(refusal_of("1", {"-hints", "a", "1", "b"}), HasSubstr("-hints b needs a value"));
  EXPECT_THAT(refusal_of("1", {"-hints", "a", "-1"}), HasSubstr("-hints a needs a value"));
  EXPECT_THAT(refusal_of("1", {"-hints", "-sync"}), HasSubstr("-hints needs hints"));
}

TEST(MpiIoTestOptions, AskForDirectIo) {
  EXPECT_THAT(request("1", {"-dio"}).hints, ElementsAre(Pair("direct_read", "true"), Pair("direct_write", "true")));
  EXPECT_THAT(remarks("1", {"-dio"}), ElementsAre(HasSubstr("not confirmed")));
  const Command posix = of_type("1", {"-dio", "-backend", "posix"});
  EXPECT_EQ(posix.request.cache_path, storage::CachePath::direct);
  EXPECT_THAT(posix.request.hints, IsEmpty());
  EXPECT_THAT(posix.shown.remarks, IsEmpty());
}

TEST(MpiIoTestOptions, Preallocate) {
  EXPECT_EQ(request("1", {"-preallocate", "1G"}).preallocate_bytes, 1u << 30);
  EXPECT_EQ(request("1", {"-preallocate", "-1"}).preallocate_bytes, 0u);
  EXPECT_THAT(refusal_of("1", {"-preallocate", "-8"}), HasSubstr("-preallocate cannot be '-8'"));
}

TEST(MpiIoTestOptions, SayWhereTextGoes) {
  const Command all = of_type("1", {"-output", "o", "-errout", "e", "-lhosts", "-verbose"});
  EXPECT_EQ(all.shown.output, "o");
  EXPECT_EQ(all.shown.errout, "e");
  EXPECT_EQ(all.shown.hosts, Flag::on);
  EXPECT_EQ(all.shown.times_of_ranks, Flag::on);
  EXPECT_TRUE(all.request.rank_times);
  EXPECT_EQ(of_type("1", {"-result", "r.h5"}).request.format, ResultFormat::hdf5);
  EXPECT_EQ(of_type("1", {"-result", "r.json", "-overwrite"}).request.format, ResultFormat::json);
  EXPECT_THAT(refusal_of("1", {"-overwrite"}), HasSubstr("-overwrite has no effect"));
  EXPECT_THAT(refusal_of("1", {"-output", ""}), HasSubstr("it must name a file"));
}

TEST(MpiIoTestOptions, HelpGoesBeforeAllElse) {
  for (const char* word : {"-help", "--help", "-h"}) EXPECT_EQ(command({"-nonsense", word}).action, Action::help);
  EXPECT_THAT(help(), HasSubstr("-chkdata 0|1|2|3"));
}

TEST(MpiIoTestOptions, RefuseWhatTheOldParserOverlooked) {
  EXPECT_THAT(refusal_of("1", {"-nosuch"}), HasSubstr("mpi_io_test.x knows no argument '-nosuch'"));
  EXPECT_THAT(refusal_of("1", {"stray"}), HasSubstr("no option before it takes a value"));
  EXPECT_THAT(refusal_of("1", {"-nobj"}), HasSubstr("-nobj needs a value"));
  EXPECT_THAT(refusal_of("1", {"-nobj", "3x"}), HasSubstr("-nobj cannot be '3x'"));
  EXPECT_THAT(refusal_of("1", {"-nobj=3"}), HasSubstr("Write -nobj 3"));
  EXPECT_THAT(refusal_of("1", {"-sync=2"}), HasSubstr("-sync cannot be '2'"));
  EXPECT_THAT(refusal({}), HasSubstr("-type is missing"));
}

TEST(MpiIoTestOptions, TheLaterOneCounts) {
  EXPECT_EQ(request("1", {"-nobj", "2", "-nobj", "3"}).num_objects, 3u);
  EXPECT_FALSE(request("1", {"-collective", "-collective=0"}).collective);
  EXPECT_THAT(request("1", {"-hints", "a", "1", "b", "2", "-hints", "a", "3"}).hints,
              ElementsAre(Pair("a", "3"), Pair("b", "2")));
}

// --- sizes -----------------------------------------------------------------------------------------------------------

TEST(MpiIoTestSizes, HaveTheGuidesSuffixes) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } sizes[] = {{"8", 8},
               {"2w", 4},
               {"2b", 1024},
               {"3KB", 3000},
               {"3K", 3072},
               {"1MB", 1'000'000},
               {"1M", 1 << 20},
               {"1GB", 1'000'000'000},
               {"5G", std::uint64_t{5} << 30},
               {"1TB", 1'000'000'000'000},
               {"1T", std::uint64_t{1} << 40},
               {"1KiB", 1 << 10},
               {"1MiB", 1 << 20},
               {"1GiB", 1 << 30},
               {"1TiB", std::uint64_t{1} << 40},
               {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(parse_size("-size", text), bytes) << text;
  EXPECT_EQ(command({"-type", "1", "-size", "8G"}).request.object_size_bytes, std::uint64_t{8} << 30);
}

TEST(MpiIoTestSizes, RefuseTheRest) {
  for (const char* text :
       {"1.5M", "3x", "-8", "", "K", "1Kb", "1k", "1kB", "1 K", "+1", "18446744073709551616", "99999999999T"}) {
    EXPECT_THAT(test::refusal_of([&] { parse_size("-csize", text); }), HasSubstr("-csize cannot be '")) << text;
  }
  EXPECT_THAT(refusal({"-type", "1", "-size", "12"}), HasSubstr("Choose a multiple of 8"));
  EXPECT_THAT(refusal({"-type", "1", "-size", "0"}), HasSubstr("it must be from 8"));
}

}  // namespace
}  // namespace leadline::compat::mpi_io_test
