// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline io`: defaults, values, and combinations in which an option would be ignored.
#include "bench/io/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/option_parser.hpp"
#include "command/text_file.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::io::command_test {
namespace {

using schedule::Movement;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

bench::io::IoRequest parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "io"});
  return bench::io::parse_io_command(words);
}

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { parse(words); }, words);
}

/// Each word alone, behind others, has no effect; the message says why.
void expect_no_effect(const std::vector<test::Words>& cases, const test::Words& before, const std::string& why) {
  for (const test::Words& words : cases) {
    test::Words all = before;
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_THAT(refusal(all), AllOf(HasSubstr(words.front() + " has no effect"), HasSubstr(why)));
  }
}

TEST(IoOptions, HaveDefaultsThatMeasureTheStorage) {
  const bench::io::IoRequest request = parse({});
  EXPECT_EQ(request.movement, Movement::n_n);
  EXPECT_EQ(request.num_objects, 64u);
  EXPECT_EQ(request.object_size_bytes, 1u << 20);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1 << 20));
  EXPECT_EQ(request.num_ahead, 1);
  EXPECT_EQ(request.calls, storage::FileCalls::blocking);
  EXPECT_EQ(request.sync, bench::io::SyncTiming::inside);
  EXPECT_EQ(request.touch, memory::Touch::full);
  EXPECT_EQ(request.check, memory::Check::all);
  EXPECT_EQ(request.cache_path, storage::CachePath::buffered);
  EXPECT_EQ(request.timeout_s, 600);
  EXPECT_EQ(request.backend, "");
  EXPECT_EQ(request.format, ResultFormat::hdf5);
}

TEST(IoOptions, SetTheirMember) {
  const bench::io::IoRequest request = parse({"--movement",
                                              "N-M-1",
                                              "--strided",
                                              "--objects",
                                              "7",
                                              "--object-size",
                                              "48KiB",
                                              "--io-ranks",
                                              "2,1",
                                              "--io-hosts",
                                              "a,b",
                                              "--buffer-size",
                                              "480KiB",
                                              "--ahead",
                                              "3",
                                              "--no-self-send",
                                              "--backend",
                                              "mpi-io:romio",
                                              "--calls",
                                              "non-blocking",
                                              "--collective",
                                              "--allow-fragile",
                                              "--barrier",
                                              "--preallocate",
                                              "1GiB",
                                              "--target",
                                              "x",
                                              "--overwrite-targets",
                                              "--delete",
                                              "--repeat",
                                              "4",
                                              "--sleep",
                                              "500ms",
                                              "--time-limit",
                                              "2m",
                                              "--touch",
                                              "page",
                                              "--check",
                                              "two",
                                              "--uncached",
                                              "--drop-cache",
                                              "--sync",
                                              "outside",
                                              "--slow-calls",
                                              "3",
                                              "--threshold",
                                              "25%",
                                              "--output",
                                              "x.json"});
  EXPECT_EQ(request.movement, Movement::n_m_1);
  EXPECT_EQ(request.order, schedule::Order::strided);
  EXPECT_EQ(request.num_objects, 7u);
  EXPECT_EQ(request.object_size_bytes, 48u << 10);
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(48u << 10));
  EXPECT_THAT(request.io_ranks, ElementsAre(2, 1));
  EXPECT_THAT(request.io_hosts, ElementsAre("a", "b"));
  EXPECT_EQ(request.buffer_size_bytes, 480u << 10);
  EXPECT_EQ(request.num_ahead, 3);
  EXPECT_EQ(request.self_send, schedule::SelfSend::no);
  EXPECT_EQ(request.backend, "mpi-io:romio");
  EXPECT_EQ(request.calls, storage::FileCalls::non_blocking);
  EXPECT_TRUE(request.collective);
  EXPECT_TRUE(request.allow_fragile);
  EXPECT_TRUE(request.barrier);
  EXPECT_EQ(request.preallocate_bytes, 1u << 30);
  EXPECT_EQ(request.target, "x");
  EXPECT_TRUE(request.overwrite_targets);
  EXPECT_TRUE(request.delete_files);
  EXPECT_EQ(request.repeat, 4);
  EXPECT_DOUBLE_EQ(request.sleep_s, 0.5);
  EXPECT_EQ(request.time_limit_s, 120);
  EXPECT_EQ(request.touch, memory::Touch::page);
  EXPECT_EQ(request.check, memory::Check::two);
  EXPECT_EQ(request.cache_path, storage::CachePath::uncached);
  EXPECT_EQ(request.between, bench::io::BetweenPhases::drop);
  EXPECT_EQ(request.sync, bench::io::SyncTiming::outside);
  EXPECT_EQ(request.num_slow_calls, 3u);
  EXPECT_DOUBLE_EQ(request.diagnosis.threshold, 0.25);
  EXPECT_EQ(request.format, ResultFormat::json);
}

TEST(IoOptions, KnowEveryMovementByNameAndNumber) {
  const std::vector<std::pair<Movement, std::vector<const char*>>> movements{{Movement::n_n, {"N-N", "n-n", "1"}},
                                                                             {Movement::n_1, {"N-1", "2"}},
                                                                             {Movement::n_m_m, {"N-M-M", "n-m-m", "3"}},
                                                                             {Movement::n_m_1, {"N-M-1", "4"}},
                                                                             {Movement::n_m, {"N-M", "5"}}};
  for (const auto& [movement, names] : movements) {
    for (const char* name : names) {
      test::Words words{"--movement", name};
      if (movement == Movement::n_m) words.insert(words.end(), {"--files", "2"});
      EXPECT_EQ(parse(words).movement, movement) << name;
    }
  }
}

TEST(IoOptions, ReadLists) {
  const bench::io::IoRequest request =
      parse({"--backend", "mpi-io", "--hints", "cb_nodes=2,cb_config_list=a:1,b:2,x=y=z"});
  EXPECT_THAT(request.hints, ElementsAre(Pair("cb_nodes", "2"), Pair("cb_config_list", "a:1,b:2"), Pair("x", "y=z")));
  const bench::io::IoRequest by_hosts = parse({"--read-shift", "hosts:2"});
  EXPECT_EQ(by_hosts.read_shift, bench::io::ReadShift::hosts);
  EXPECT_EQ(by_hosts.read_shift_by, 2);
  EXPECT_EQ(parse({"--read-shift", "ranks:1"}).read_shift, bench::io::ReadShift::ranks);
}

TEST(IoOptions, ReadNamesOfTargets) {
  EXPECT_THAT(command::names_in_targets("list", "a\n\n# not this\n b c\r\nlast"), ElementsAre("a", " b c", "last"));
  EXPECT_THAT(command::names_in_targets("", ""), IsEmpty());
  EXPECT_THAT(test::refusal_of([] { command::names_in_targets("list", "# nothing\n\n"); }),
              AllOf(HasSubstr("--targets list"), HasSubstr("no file")));
  EXPECT_THAT(test::refusal_of([] { command::read_targets_file("/no/such/list"); }),
              AllOf(HasSubstr("--targets /no/such/list"), HasSubstr("No such file")));
}

TEST(IoOptions, DoublesAreStampedUnlessSaidOtherwise) {
  EXPECT_EQ(parse({"--fill", "doubles"}).touch, memory::Touch::object);
  EXPECT_EQ(parse({"--fill", "doubles", "--touch", "never"}).touch, memory::Touch::never);
  EXPECT_THAT(refusal({"--fill", "doubles", "--touch", "full"}),
              AllOf(HasSubstr("--fill doubles"), HasSubstr("--touch full")));
}

TEST(IoOptions, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"--movement", "N-X"}), AllOf(HasSubstr("--movement"), HasSubstr("N-X"), HasSubstr("N-M-1")));
  EXPECT_THAT(refusal({"--movement", "6"}), HasSubstr("--movement"));
  EXPECT_THAT(refusal({"--backend", "hdf"}), AllOf(HasSubstr("--backend"), HasSubstr("posix, mpi-io")));
  EXPECT_THAT(refusal({"--calls", "lazy"}), AllOf(HasSubstr("--calls"), HasSubstr("non-blocking")));
  EXPECT_THAT(refusal({"--op", "rewrite"}), HasSubstr("--op"));
  EXPECT_THAT(refusal({"--touch", "1"}), HasSubstr("--touch"));
  EXPECT_THAT(refusal({"--check", "3"}), HasSubstr("--check"));
  EXPECT_THAT(refusal({"--sync", "maybe"}), HasSubstr("--sync"));
  EXPECT_THAT(refusal({"--message-size", "1KiB"}), HasSubstr("--message-size"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
}

TEST(IoOptions, RefuseValuesOutOfRange) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> refused{
      {"--objects", {"0", "-1", "1.5", "", "many"}},
      {"--preset", {"", "ior", "2"}},
      {"--items", {"", "links"}},
      {"--block-size", {"0", "7", "x"}},
      {"--object-size", {"0", "7", "-8", "3x", "", "KiB", "2TiB"}},
      {"--buffer-size", {"0", "-1"}},
      {"--io-ranks", {"0", "1,0", "1,,2", "", "-1"}},
      {"--io-hosts", {"", "a,", "a,a", "a, b"}},
      {"--files", {"0", "-1", "x"}},
      {"--ahead", {"-1", "1025"}},
      {"--queue-depth", {"0", "-1", "4097", "many", ""}},
      {"--hints", {"", "cb_nodes", "=2", "cb_nodes=", "a=1,a=2"}},
      {"--preallocate", {"0", "-1", "x"}},
      {"--target", {""}},
      {"--targets", {""}},
      {"--repeat", {"0"}},
      {"--sleep", {"-1", "nan", "2x", ""}},
      {"--time-limit", {"-1", ""}},
      {"--ramp-time", {"-1", "x", ""}},
      {"--read-shift", {"", "ranks", "ranks:0", "hosts:x", "nodes:1", ":1"}},
      {"--slow-calls", {"-1", "100001"}},
      {"--threshold", {"0", "101%", "half"}}};
  for (const auto& [option, values] : refused) {
    for (const char* value : values) {
      EXPECT_THAT(refusal({std::string(option) + "=" + value}), HasSubstr(option)) << value;
    }
  }
}

TEST(IoOptions, RefuseSizesThatAreNoWords) {
  EXPECT_THAT(refusal({"--object-size", "1001"}), AllOf(HasSubstr("--object-size"), HasSubstr("multiple of 8")));
  EXPECT_THAT(refusal({"--object-size", "1000", "--direct"}),
              AllOf(HasSubstr("--direct"), HasSubstr("--object-size"), HasSubstr("512 B")));
  EXPECT_NO_THROW(parse({"--object-size", "1000"}));
  EXPECT_NO_THROW(parse({"--object-size", "1024", "--direct"}));
}

TEST(IoOptions, RefuseWhatIsAboutOtherMovements) {
  const std::vector<test::Words> of_funnels{
      {"--io-ranks", "2"}, {"--io-hosts", "a"}, {"--buffer-size", "1MiB"}, {"--no-self-send"}, {"--no-file"}};
  for (const char* movement : {"N-N", "N-1"}) {
    expect_no_effect(of_funnels, {"--movement", movement}, movement);
  }
  expect_no_effect(of_funnels, {"--movement", "N-M", "--files", "2"}, "N-M");
  expect_no_effect({{"--strided"}}, {}, "N-N");
  expect_no_effect({{"--files", "2"}}, {"--movement", "N-M-M"}, "N-M-M");
  expect_no_effect({{"--ahead", "2"}}, {"--movement", "N-1"}, "blocking");
  EXPECT_NO_THROW(parse({"--movement", "N-1", "--ahead", "2", "--calls", "non-blocking"}));
  EXPECT_THAT(refusal({"--movement", "N-M"}), AllOf(HasSubstr("N-M"), HasSubstr("--files"), HasSubstr("--targets")));
  EXPECT_NO_THROW(parse({"--movement", "N-M", "--targets", "list"}));
}

TEST(IoOptions, RefusePassesWithoutATime) {
  EXPECT_THAT(refusal({"--time-based"}), AllOf(HasSubstr("--time-based needs a time"), HasSubstr("Add --time-limit")));
  expect_no_effect({{"--ramp-time", "5"}}, {"--time-limit", "5"}, "--time-based");
  EXPECT_THAT(refusal({"--time-based", "--time-limit", "5", "--metadata"}),
              AllOf(HasSubstr("--time-based"), HasSubstr("--metadata")));
  EXPECT_THAT(refusal({"--time-based", "--time-limit", "5", "--ramp-time", "1", "--like", "ior"}),
              AllOf(HasSubstr("--ramp-time"), HasSubstr("--like ior")));
  const IoRequest request = parse({"--time-based", "--time-limit", "1m", "--ramp-time", "5s"});
  EXPECT_TRUE(request.time_based);
  EXPECT_EQ(request.ramp_time_s, 5);
}

TEST(IoOptions, RefuseListsThatDoNotFit) {
  const test::Words funnel{"--movement", "N-M-M", "--io-ranks", "2,1"};
  EXPECT_THAT(refusal(funnel), AllOf(HasSubstr("--io-ranks"), HasSubstr("--io-hosts")));
  test::Words words = funnel;
  words.insert(words.end(), {"--io-hosts", "a,b,c"});
  EXPECT_THAT(refusal(words), AllOf(HasSubstr("2 numbers"), HasSubstr("3 names")));
  EXPECT_NO_THROW(parse({"--movement", "N-M-M", "--io-ranks", "2", "--io-hosts", "a,b,c"}));
}

TEST(IoOptions, RefuseWhatAPhaseDoesNotHave) {
  expect_no_effect({{"--check", "all"}, {"--drop-cache"}, {"--read-shift", "ranks:1"}, {"--sleep", "1"}},
                   {"--op", "write"}, "nothing is read");
  expect_no_effect({{"--barrier"},
                    {"--preallocate", "1MiB"},
                    {"--sync", "none"},
                    {"--overwrite-targets"},
                    {"--new-files"},
                    {"--sleep", "1"}},
                   {"--op", "read"}, "nothing is written");
  expect_no_effect({{"--touch", "page"}, {"--fill", "blocks"}}, {"--op", "read", "--check", "none"}, "contents");
  EXPECT_NO_THROW(parse({"--op", "read", "--touch", "page", "--drop-cache"}));
}

TEST(IoOptions, RefuseWhatIsAboutFilesWithoutThem) {
  expect_no_effect({{"--backend", "posix"},
                    {"--calls", "blocking"},
                    {"--collective"},
                    {"--hints", "a=b"},
                    {"--barrier"},
                    {"--preallocate", "1MiB"},
                    {"--target", "x"},
                    {"--targets", "x"},
                    {"--overwrite-targets"},
                    {"--delete"},
                    {"--direct"},
                    {"--uncached"},
                    {"--drop-cache"},
                    {"--sync", "none"},
                    {"--read-shift", "ranks:1"}},
                   {"--movement", "N-M-1", "--no-file"}, "nothing is opened");
}

TEST(IoOptions, HaveTheirOwnDefaultsForMetadata) {
  const bench::io::IoRequest request = parse({"--metadata"});
  EXPECT_TRUE(request.metadata);
  EXPECT_EQ(request.items, bench::io::MetadataItems::both);
  EXPECT_EQ(request.num_objects, 1000u);
  EXPECT_EQ(request.object_size_bytes, 0u);
  EXPECT_EQ(request.sync, bench::io::SyncTiming::none);
  EXPECT_EQ(request.touch, memory::Touch::object);
  const bench::io::IoRequest given = parse({"--metadata", "--items", "files", "--objects", "7", "--object-size",
                                            "3901B", "--sync", "inside", "--touch", "full"});
  EXPECT_EQ(given.items, bench::io::MetadataItems::files);
  EXPECT_EQ(given.num_objects, 7u);
  EXPECT_EQ(given.object_size_bytes, 3901u);
  EXPECT_EQ(given.sync, bench::io::SyncTiming::inside);
  EXPECT_EQ(given.touch, memory::Touch::full);
}

TEST(IoOptions, RefuseWhatMetadataDoNotHave) {
  expect_no_effect({{"--calls", "blocking"},
                    {"--random"},
                    {"--barrier"},
                    {"--overwrite-targets"},
                    {"--delete"},
                    {"--preallocate", "1MiB"},
                    {"--op", "write"},
                    {"--sleep", "1"},
                    {"--direct"},
                    {"--drop-cache"}},
                   {"--metadata"}, "files as a whole");
  expect_no_effect({{"--items", "files"}}, {}, "without --metadata");
  EXPECT_THAT(refusal({"--metadata", "--movement", "N-M-M"}), AllOf(HasSubstr("--metadata"), HasSubstr("N-M-M")));
  EXPECT_THAT(refusal({"--metadata", "--sync", "outside"}), AllOf(HasSubstr("--metadata"), HasSubstr("--sync")));
  EXPECT_THAT(refusal({"--metadata", "--preset", "ior-hard"}), AllOf(HasSubstr("--metadata"), HasSubstr("ior-hard")));
  EXPECT_THAT(test::refusal_of([] { bench::io::validate_backend_options(parse({"--metadata"}), "mpi-io"); }),
              AllOf(HasSubstr("--metadata"), HasSubstr("--backend posix")));
}

TEST(IoOptions, RefuseASyncBehindEachOfCallsThatWait) {
  EXPECT_EQ(parse({"--sync", "each"}).sync, bench::io::SyncTiming::each);
  EXPECT_THAT(refusal({"--sync", "each", "--calls", "non-blocking"}), AllOf(HasSubstr("--sync"), HasSubstr("--calls")));
  EXPECT_THAT(refusal({"--sync", "each", "--collective"}), AllOf(HasSubstr("--sync"), HasSubstr("--collective")));
  EXPECT_THAT(refusal({"--metadata", "--sync", "each"}), AllOf(HasSubstr("--metadata"), HasSubstr("--sync each")));
  EXPECT_THAT(test::refusal_of([] {
                bench::io::validate_backend_options(parse({"--sync", "each"}), "mpi-io");
              }),
              HasSubstr("--sync each cannot be had with --backend mpi-io"));
}

TEST(IoOptions, RefuseAQueueOfCallsThatDoNotQueue) {
  EXPECT_EQ(parse({"--queue-depth", "8"}).queue_depth, 8);
  const std::vector<test::Words> others{
      {"--movement", "N-M-1"}, {"--calls", "non-blocking"}, {"--collective"}, {"--barrier"}, {"--sync", "each"}};
  for (test::Words words : others) {
    const std::string other = words.front();
    words.insert(words.end(), {"--queue-depth", "8"});
    EXPECT_THAT(refusal(words), AllOf(HasSubstr("--queue-depth 8 and " + other), HasSubstr("do not go together")));
    words.back() = "1";
    EXPECT_NO_THROW(parse(words));
  }
  expect_no_effect({{"--queue-depth", "8"}}, {"--metadata"}, "files as a whole");
  expect_no_effect({{"--queue-depth", "8"}}, {"--movement", "N-M-1", "--no-file"}, "nothing is opened");
  EXPECT_THAT(test::refusal_of([] {
                bench::io::validate_backend_options(parse({"--queue-depth", "8"}), "mpi-io");
              }),
              AllOf(HasSubstr("--queue-depth 8 cannot be had with --backend mpi-io"), HasSubstr("--backend posix")));
}

TEST(IoOptions, ReadSharesOfAMix) {
  EXPECT_DOUBLE_EQ(parse({"--mix", "70:30"}).mix_read_share, 0.7);
  EXPECT_DOUBLE_EQ(parse({"--mix", "1:3", "--op", "write", "--check", "none"}).mix_read_share, 0.25);
  for (const char* value : {"", "70", "0:1", "1:0", "a:b", "1:2:3"}) {
    EXPECT_THAT(refusal({std::string("--mix=") + value}), HasSubstr("--mix")) << value;
  }
  EXPECT_THAT(refusal({"--mix", "1:1", "--op", "write", "--sleep", "1"}), HasSubstr("--sleep has no effect"));
  const std::vector<test::Words> others{{"--movement", "N-M-1"},     {"--metadata"},   {"--op", "read"},
                                        {"--calls", "non-blocking"}, {"--collective"}, {"--barrier"}};
  for (test::Words words : others) {
    const std::string other = words.front();
    words.insert(words.end(), {"--mix", "1:1"});
    EXPECT_THAT(refusal(words), AllOf(HasSubstr("--mix and " + other), HasSubstr("do not go together")));
  }
  EXPECT_THAT(test::refusal_of([] {
                bench::io::validate_backend_options(parse({"--mix", "1:1"}), "mpi-io");
              }),
              HasSubstr("--mix cannot be had with --backend mpi-io"));
}

TEST(IoOptions, TakeThoseOfAPreset) {
  const bench::io::IoRequest hard = parse({"--preset", "ior-hard"});
  EXPECT_EQ(hard.movement, Movement::n_1);
  EXPECT_EQ(hard.order, schedule::Order::strided);
  EXPECT_EQ(hard.object_size_bytes, 47008u);
  EXPECT_EQ(hard.num_objects, 10'000'000u);
  EXPECT_EQ(hard.time_limit_s, 300);
  EXPECT_EQ(hard.read_shift, bench::io::ReadShift::hosts);
  EXPECT_TRUE(hard.is_shift_optional);
  EXPECT_EQ(hard.backend, "posix");
  const bench::io::IoRequest easy = parse({"--preset=ior-easy"});
  EXPECT_EQ(easy.movement, Movement::n_n);
  EXPECT_EQ(easy.object_size_bytes, 2u << 20);
  EXPECT_EQ(easy.num_objects * easy.object_size_bytes, std::uint64_t{9'920'000} << 20);
  const bench::io::IoRequest metadata = parse({"--preset", "mdtest-hard"});
  EXPECT_TRUE(metadata.metadata);
  EXPECT_EQ(metadata.items, bench::io::MetadataItems::files);
  EXPECT_EQ(metadata.movement, Movement::n_1);
  EXPECT_EQ(metadata.object_size_bytes, 3901u);
  EXPECT_EQ(metadata.num_objects, 1'000'000u);
  EXPECT_EQ(parse({"--preset", "mdtest-easy"}).object_size_bytes, 0u);
  EXPECT_EQ(parse({"--preset", "none"}).num_objects, 64u);
}

TEST(IoOptions, CountRatherThanThoseOfAPreset) {
  const bench::io::IoRequest before = parse({"--objects", "5", "--preset", "ior-hard", "--read-shift", "none"});
  EXPECT_EQ(before.num_objects, 5u);
  EXPECT_EQ(before.object_size_bytes, 47008u);
  EXPECT_EQ(before.read_shift, bench::io::ReadShift::none);
  EXPECT_FALSE(before.is_shift_optional);
  // A flag that it sets goes where it would do nothing.
  EXPECT_EQ(parse({"--preset", "ior-hard", "--movement", "N-N"}).order, schedule::Order::segmented);
  EXPECT_THAT(refusal({"--preset", "ior-medium"}), AllOf(HasSubstr("--preset"), HasSubstr("mdtest-hard")));
}

TEST(IoOptions, ReadOrders) {
  EXPECT_EQ(parse({"--random"}).random_seed, 1u);
  EXPECT_EQ(parse({"--random", "9"}).random_seed, 9u);
  EXPECT_EQ(parse({"--movement", "N-1", "--strided", "--block-size", "4MiB"}).block_size_bytes, 4u << 20);
  EXPECT_THAT(refusal({"--random", "0"}), HasSubstr("--random"));
  EXPECT_THAT(refusal({"--movement", "N-1", "--block-size", "4MiB"}),
              AllOf(HasSubstr("--block-size has no effect"), HasSubstr("--strided")));
  EXPECT_THAT(refusal({"--movement", "N-M-1", "--random"}), HasSubstr("--random has no effect"));
}

TEST(IoOptions, RefuseCombinationsInWhichOneIsIgnored) {
  EXPECT_THAT(refusal({"--direct", "--uncached"}), AllOf(HasSubstr("--direct"), HasSubstr("--uncached")));
  EXPECT_THAT(refusal({"--direct", "--drop-cache"}), HasSubstr("--drop-cache has no effect"));
  EXPECT_THAT(refusal({"--target", "x", "--targets", "y"}), AllOf(HasSubstr("--target "), HasSubstr("--targets")));
  EXPECT_THAT(refusal({"--allow-fragile"}), HasSubstr("--allow-fragile has no effect"));
  EXPECT_THAT(refusal({"--allocator", "cuda"}), AllOf(HasSubstr("--allocator cuda"), HasSubstr("ordinary memory")));
  EXPECT_THAT(refusal({"--row-path", "funnel", "--format", "json"}), HasSubstr("--row-path has no effect"));
  EXPECT_THAT(refusal({"--ranks", "4"}), HasSubstr("--ranks has no effect"));
  EXPECT_THAT(refusal({"--overwrite"}), HasSubstr("--overwrite has no effect"));
  EXPECT_THAT(refusal({"--output", "x.sion"}), AllOf(HasSubstr("a parallel file test"), HasSubstr("x.sion")));
  EXPECT_THAT(refusal({"--objects", "1", "--objects", "2"}), HasSubstr("--objects"));
}

TEST(IoOptions, RefuseWhatABackendDoesNotHeed) {
  const auto refusal_by_posix = [](const test::Words& words) {
    return test::refusal_of([&] { bench::io::validate_backend_options(parse(words), "posix"); }, words);
  };
  EXPECT_THAT(refusal_by_posix({"--hints", "a=b"}), AllOf(HasSubstr("--hints has no effect"), HasSubstr("posix")));
  EXPECT_THAT(refusal_by_posix({"--collective", "--allow-fragile"}), HasSubstr("--allow-fragile has no effect"));
  EXPECT_NO_THROW(bench::io::validate_backend_options(parse({"--hints", "a=b"}), "mpi-io"));
}

TEST(IoOptions, ExplainThemselves) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const command::HelpWanted& wanted) {
    for (const char* option : {"--transport",    "--local",       "--timeout",
                               "--movement",     "--strided",     "--objects",
                               "--object-size",  "--io-ranks",    "--io-hosts",
                               "--files",        "--buffer-size", "--ahead",
                               "--no-self-send", "--no-file",     "--backend",
                               "--calls",        "--collective",  "--allow-fragile",
                               "--hints",        "--barrier",     "--preallocate",
                               "--target",       "--targets",     "--overwrite-targets",
                               "--delete",       "--op",          "--repeat",
                               "--sleep",        "--time-limit",  "--time-based",
                               "--ramp-time",    "--fill",        "--touch",
                               "--check",        "--allocator",   "--wait",
                               "--direct",       "--uncached",    "--drop-cache",
                               "--sync",         "--read-shift",  "--slow-calls",
                               "--topology",     "--threshold",   "--false-discovery-rate",
                               "--output",       "--format",      "--row-path",
                               "--overwrite",    "--quiet",       "--verbose",
                               "--dry-run",      "--ranks",       "--ranks-per-host",
                               "Default: 600s",  "N-M-M  3",      "posix - "}) {
      EXPECT_THAT(wanted.text, HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace leadline::bench::io::command_test
