// SPDX-License-Identifier: Apache-2.0
// What results record of the options of each benchmark: one name, one value and one text each.
#include "bench/io/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/bisection/request.hpp"
#include "bench/congestion/request.hpp"
#include "bench/link/request.hpp"
#include "bench/run_options.hpp"
#include "bench/topology/request.hpp"
#include "core/json.hpp"

namespace leadline {
namespace {

using bench::options_of;

std::string text_of(const std::vector<Option>& options, const std::string& name) {
  for (const auto& [option, text] : options_as_text(options)) {
    if (option == name) return text;
  }
  return "no such option";
}

/// All names, each looked at.
std::set<std::string> recorded_names(const std::vector<Option>& options) {
  std::set<std::string> names;
  for (const Option& option : options) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(std::all_of(option.name.begin(), option.name.end(), [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z');
    })) << option.name;
  }
  return names;
}

TEST(Options, AreNamedAsOnTheCommandLineAndOnceEach) {
  const std::set<std::string> names = recorded_names(options_of(bench::link::LinkRequest{}));
  for (const char* name : {"message_size", "messages", "warmup", "retest", "min_time", "shuffle_ranks", "wait"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Options, OfATopologyTestAreNamedAsOnTheCommandLine) {
  const std::set<std::string> names = recorded_names(options_of(bench::topology::TopologyRequest{}));
  for (const char* name : {"message_size", "pattern", "edges", "mode", "iterations", "warmup", "traced", "repeat",
                           "max_outstanding", "shared_buffers", "duration", "verify_every", "print", "timeout"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Options, OfATopologyTestAsText) {
  bench::topology::TopologyRequest request;
  request.patterns = {"star", "ring2"};
  request.mode = schedule::ChannelMode::both_ways;
  const std::vector<Option> options = options_of(request);
  EXPECT_EQ(text_of(options, "pattern"), "star,ring2");
  EXPECT_EQ(text_of(options, "mode"), "both-ways");
  EXPECT_EQ(text_of(options, "print"), "total");
}

TEST(Options, OfABisectionTestAreNamedAsOnTheCommandLine) {
  const std::set<std::string> names = recorded_names(options_of(bench::bisection::BisectionRequest{}));
  for (const char* name : {"message_size",
                           "pattern",
                           "seed",
                           "active_ranks_per_host",
                           "within_hosts",
                           "exchanges",
                           "warmup",
                           "repeat",
                           "rounds",
                           "precision",
                           "time_limit",
                           "baseline_pairs",
                           "worst",
                           "retest",
                           "topology",
                           "threshold",
                           "false_discovery_rate",
                           "buckets",
                           "verify",
                           "timeout"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Options, OfABisectionTestAsText) {
  bench::bisection::BisectionRequest request;
  request.patterns = {"random", "shift:3"};
  request.num_exchanges = 7;
  request.num_worst_steps = 8;
  request.retest = 9;
  request.num_buckets = 10;
  request.num_baseline_pairs = 11;
  const std::vector<Option> options = options_of(request);
  EXPECT_EQ(text_of(options, "pattern"), "random,shift:3");
  EXPECT_EQ(text_of(options, "exchanges"), "7");
  EXPECT_EQ(text_of(options, "worst"), "8");
  EXPECT_EQ(text_of(options, "retest"), "9");
  EXPECT_EQ(text_of(options, "buckets"), "10");
  EXPECT_EQ(text_of(options, "baseline_pairs"), "11");
  EXPECT_EQ(text_of(options, "precision"), "0.01");
}

TEST(Options, OfAFileTestAreNamedAsOnTheCommandLineInTheOrderOfTheHelp) {
  std::vector<std::string> names;
  for (const Option& option : options_of(bench::io::IoRequest{})) names.push_back(option.name);
  const std::vector<std::string> expected{"transport",
                                          "transport_option",
                                          "local",
                                          "hosts",
                                          "launch",
                                          "bind",
                                          "interface",
                                          "host_name_suffix",
                                          "timeout",
                                          "start_timeout",
                                          "strict_ranks",
                                          "preset",
                                          "movement",
                                          "strided",
                                          "block_size",
                                          "random",
                                          "objects",
                                          "object_size",
                                          "io_ranks",
                                          "io_hosts",
                                          "files",
                                          "buffer_size",
                                          "ahead",
                                          "no_self_send",
                                          "no_file",
                                          "backend",
                                          "calls",
                                          "queue_depth",
                                          "collective",
                                          "allow_fragile",
                                          "hints",
                                          "barrier",
                                          "target",
                                          "targets",
                                          "overwrite_targets",
                                          "new_files",
                                          "delete",
                                          "preallocate",
                                          "op",
                                          "metadata",
                                          "items",
                                          "mix",
                                          "repeat",
                                          "sleep",
                                          "rate_limit",
                                          "time_limit",
                                          "time_based",
                                          "ramp_time",
                                          "fill",
                                          "touch",
                                          "check",
                                          "allocator",
                                          "wait",
                                          "direct",
                                          "uncached",
                                          "drop_cache",
                                          "sync",
                                          "read_shift",
                                          "like",
                                          "slow_calls",
                                          "topology",
                                          "threshold",
                                          "false_discovery_rate",
                                          "output",
                                          "format",
                                          "row_path",
                                          "overwrite",
                                          "quiet",
                                          "verbose",
                                          "dry_run",
                                          "ranks",
                                          "ranks_per_host"};
  EXPECT_EQ(names, expected);
}

TEST(Options, OfAFileTestAsText) {
  bench::io::IoRequest request;
  std::vector<Option> options = options_of(request);
  EXPECT_EQ(text_of(options, "movement"), "N-N");
  EXPECT_EQ(text_of(options, "strided"), "false");
  EXPECT_EQ(text_of(options, "no_self_send"), "false");
  EXPECT_EQ(text_of(options, "io_ranks"), "");
  EXPECT_EQ(text_of(options, "hints"), "");
  EXPECT_EQ(text_of(options, "op"), "both");
  EXPECT_EQ(text_of(options, "direct"), "false");
  EXPECT_EQ(text_of(options, "uncached"), "false");
  EXPECT_EQ(text_of(options, "drop_cache"), "false");
  EXPECT_EQ(text_of(options, "read_shift"), "none");

  request.movement = schedule::Movement::n_m_1;
  request.order = schedule::Order::strided;
  request.self_send = schedule::SelfSend::no;
  request.io_ranks = {2, 1};
  request.io_hosts = {"node1", "node3"};
  request.hints = {{"cb_nodes", "4"}, {"striping_unit", "1048576"}};
  request.calls = storage::FileCalls::non_blocking;
  request.operations = bench::io::IoOperations::read;
  request.cache_path = storage::CachePath::uncached;
  request.between = bench::io::BetweenPhases::drop;
  request.sync = bench::io::SyncTiming::outside;
  request.read_shift = bench::io::ReadShift::hosts;
  request.read_shift_by = 1;
  request.num_slow_calls = 3;
  options = options_of(request);
  EXPECT_EQ(text_of(options, "movement"), "N-M-1");
  EXPECT_EQ(text_of(options, "strided"), "true");
  EXPECT_EQ(text_of(options, "no_self_send"), "true");
  EXPECT_EQ(text_of(options, "io_ranks"), "2,1");
  EXPECT_EQ(text_of(options, "io_hosts"), "node1,node3");
  EXPECT_EQ(text_of(options, "hints"), "cb_nodes=4,striping_unit=1048576");
  EXPECT_EQ(text_of(options, "calls"), "non-blocking");
  EXPECT_EQ(text_of(options, "op"), "read");
  EXPECT_EQ(text_of(options, "direct"), "false");
  EXPECT_EQ(text_of(options, "uncached"), "true");
  EXPECT_EQ(text_of(options, "drop_cache"), "true");
  EXPECT_EQ(text_of(options, "sync"), "outside");
  EXPECT_EQ(text_of(options, "read_shift"), "hosts:1");
  EXPECT_EQ(text_of(options, "slow_calls"), "3");
  request.read_shift = bench::io::ReadShift::ranks;
  request.read_shift_by = 2;
  EXPECT_EQ(text_of(options_of(request), "read_shift"), "ranks:2");
}

TEST(Options, AsTextFollowTheirValues) {
  bench::link::LinkRequest request;
  request.message_sizes_bytes = {1, 1024, 4194304};
  request.only_rounds = {3, 1};
  request.seed = 18446744073709551615U;
  request.min_time_s = 0.5;
  request.serial = true;
  request.direction = Direction::bidirectional;
  request.wait = WaitMode::automatic;
  const std::vector<Option> options = options_of(request);
  EXPECT_EQ(text_of(options, "message_size"), "1,1024,4194304");
  EXPECT_EQ(text_of(options, "only_rounds"), "3,1");
  EXPECT_EQ(text_of(options, "seed"), "18446744073709551615");
  EXPECT_EQ(text_of(options, "min_time"), "0.5");
  EXPECT_EQ(text_of(options, "serial"), "true");
  EXPECT_EQ(text_of(options, "verify"), "false");
  EXPECT_EQ(text_of(options, "direction"), "bidirectional");
  EXPECT_EQ(text_of(options, "wait"), "auto");
  EXPECT_EQ(text_of(options, "transport"), "");
}

TEST(Options, WithAUnitSayIt) {
  std::map<std::string, std::string> units;
  for (const Option& option : options_of(bench::link::LinkRequest{})) units[option.name] = option.unit;
  EXPECT_EQ(units["message_size"], "bytes");
  EXPECT_EQ(units["timeout"], "s");
  EXPECT_EQ(units["min_time"], "s");
  EXPECT_EQ(units["messages"], "");
}

/// Options whose members have the default that the help says.
template <class Request>
std::set<std::string> described_names(Request request) {
  std::optional<ResultFormat> format;
  OptionTable options;
  declare_options(options, request, format);
  std::set<std::string> names;
  for (const OptionEntry& entry : options.entries()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.help.empty()) << entry.name;
    EXPECT_EQ(entry.help.find("Default"), std::string::npos) << entry.name << ": the default is not part of the help";
    for (const OptionEntry::Relation& relation : entry.relations) {
      EXPECT_TRUE(std::ranges::any_of(options.entries(), [&](const OptionEntry& other) {
        return other.name == relation.other;
      })) << relation.other;
    }
  }
  return names;
}

TEST(Options, HaveHelpWithoutADefaultAndRelateToOthersThatThereAre) {
  EXPECT_TRUE(described_names(bench::link::LinkRequest{}).contains("--retest"));
  EXPECT_TRUE(described_names(bench::topology::TopologyRequest{}).contains("--pattern"));
  EXPECT_TRUE(described_names(bench::bisection::BisectionRequest{}).contains("--precision"));
  EXPECT_TRUE(described_names(bench::congestion::CongestionRequest{}).contains("--intensity"));
  EXPECT_TRUE(described_names(bench::io::IoRequest{}).contains("--movement"));
}

}  // namespace
}  // namespace leadline
