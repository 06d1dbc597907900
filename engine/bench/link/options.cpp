// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline link`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "bench/link/request.hpp"
#include "bench/run_options.hpp"
#include "core/units.hpp"
#include "options/values.hpp"

namespace leadline::bench::link {
constexpr Named<PairStatistics> pair_statistics_names[] = {
    {PairStatistics::automatic, "auto", "full while the file stays below 256 MB, compact above"},
    {PairStatistics::full, "full", "all statistics and the round"},
    {PairStatistics::compact, "compact", "median, p99 and number of batches, rounded, 4 bytes"},
};

std::span<const Named<PairStatistics>> names_of(PairStatistics /*any*/) { return pair_statistics_names; }

const char* name_of(PairStatistics statistics) { return name_in(pair_statistics_names, statistics); }

constexpr Named<AllToAll> all_to_all_names[] = {
    {AllToAll::none, "none"},
    {AllToAll::around, "around", "before the first round and after the last"},
    {AllToAll::before_each_round, "before-each-round"},
};

constexpr Named<Like> like_names[] = {
    {Like::none, "none"},         {Like::osu_latency, "osu-latency"}, {Like::osu_bw, "osu-bw"},
    {Like::osu_bibw, "osu-bibw"}, {Like::osu_mbw_mr, "osu-mbw-mr"},   {Like::imb_pingpong, "imb-pingpong"},
    {Like::mpigraph, "mpigraph"},
};

std::span<const Named<Like>> names_of(Like /*any*/) { return like_names; }

const char* name_of(Like like) { return name_in(like_names, like); }

std::span<const Named<AllToAll>> names_of(AllToAll /*any*/) { return all_to_all_names; }

const char* name_of(AllToAll all_to_all) { return name_in(all_to_all_names, all_to_all); }

namespace {

constexpr double least_share = 0.01;

FailBelow time_limit(const std::string& option, const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  for (const auto& [name, factor_ns] :
       {std::pair{"ns", 1.0}, std::pair{"us", 1e3}, std::pair{"ms", 1e6}, std::pair{"s", 1e9}}) {
    const double time_ns = number * factor_ns;
    if (std::string_view(unit) == name && std::isfinite(time_ns) && time_ns > 0) {
      return {FailBelow::Kind::time_ns, time_ns, text};
    }
  }
  throw_bad_value(option, text, "it must be a share, a bandwidth or a time", "Write for example 90%, 10GiB/s or 5us");
}

/// "90%", "10GiB/s" or "5us". Throws Error(bad_command_line).
FailBelow parse_fail_below(const std::string& option, const std::string& text) {
  if (text.ends_with("B/s")) {
    const std::uint64_t bytes = parse_bytes(std::string_view(text).substr(0, text.size() - 2));
    return {FailBelow::Kind::bandwidth_bytes_per_s, static_cast<double>(bytes), text};
  }
  char* unit = nullptr;
  std::strtod(text.c_str(), &unit);
  const std::string_view suffix = unit;
  if (unit != text.c_str() && (suffix.empty() || suffix.ends_with('%'))) {
    return {FailBelow::Kind::share, parse_share(option, text, least_share), text};
  }
  return time_limit(option, text);
}

constexpr double least_budget_s = 0.1;

/// "16KiB:1000:10,1MiB:40:4". Throws Error(bad_command_line).
std::vector<MessagesFrom> parse_messages_by_size(const std::string& option, const std::string& text) {
  std::vector<MessagesFrom> all;
  for (const std::string& word : words_of(text)) {
    const std::vector<std::string> parts = words_of(word, ':');
    if (parts.size() != 3) {
      throw_bad_value(option, text, "each part must be SIZE:MESSAGES:WARMUP", "Write for example 16KiB:1000:10");
    }
    all.push_back({parse_size(option, parts[0], 0, max_message_size_bytes), parse_count(option, parts[1], 1, max_count),
                   parse_count(option, parts[2], 0, max_count)});
    if (all.size() > 1 && all[all.size() - 2].size_bytes >= all.back().size_bytes) {
      throw_bad_value(option, text, "sizes must ascend");
    }
  }
  return all;
}

std::string messages_by_size_text(const std::vector<MessagesFrom>& all) {
  std::vector<std::string> parts;
  for (const MessagesFrom& from : all) {
    parts.push_back(fmt::format("{}:{}:{}", from.size_bytes, from.num_messages, from.num_warmup));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

void declare_what(OptionTable& options, LinkRequest& request) {
  options.group("What is measured");
  options
      .choice("--like",
              "measure and print as another benchmark does: its sizes, messages, warm-up, window and statistic, unless "
              "other options say otherwise",
              request.like)
      .later();
  declare_message_size(options, request, 0);
  options.count("--messages", "timed messages a measurement", 1, max_count, request.num_messages);
  options.count("--warmup", "untimed messages before them", 0, max_count, request.num_warmup);
  options.count("--batches", "timed batches that the messages of a measurement are cut into; each gives one time", 1,
                max_batches, request.num_batches);
  options
      .value("--messages-by-size", "LIST",
             "other numbers of messages and warm-up from these sizes on, in batches of as many messages as those of "
             "smaller ones: 16KiB:1000:10,1MiB:100:5",
             [&](const std::string& option, const std::string& text) {
               request.messages_by_size = parse_messages_by_size(option, text);
             })
      .by_default("as many for all sizes")
      .recorded_as([&] { return messages_by_size_text(request.messages_by_size); })
      .later();
  options.choice("--direction", "what a pair exchanges", request.direction);
  options.count("--window", "messages in flight (unidirectional, bidirectional, --shift)", 1, 65'536, request.window);
  options.count("--buffers", "buffers to send from and as many to receive into, taken in turn", 1, 65'536,
                request.num_buffers);
  declare_fill(options, request);
  options.flag("--check-buffers", "after each measurement check what the last messages have left in the buffers",
               request.check_buffers);
  options.flag("--verify", "before each measurement send the messages once with changing contents and check every byte",
               request.verify);
  declare_memory_and_wait(options, request);
}

void declare_pairs(OptionTable& options, LinkRequest& request) {
  options.group("Which pairs");
  options.flag("--bisection",
               "only pairs across the two halves of the ranks (with --between-hosts: of the hosts), and the bandwidth "
               "across the cut",
               request.bisection);
  options.flag("--between-hosts", "host against host: only pairs on different hosts", request.between_hosts)
      .no_effect_with("--one-per-host", "with --one-per-host every pair is between hosts");
  options.choice("--all-to-all", "when all ranks exchange messages with all others, too", request.all_to_all);
  options.size("--all-to-all-size", "size of each message of these exchanges", 1, max_message_size_bytes,
               request.all_to_all_size_bytes, "the message size");
}

void declare_order(OptionTable& options, LinkRequest& request) {
  options.group("In which order");
  options.seconds("--budget",
                  "randomly sampled rounds of hosts instead of all, until so much time is used: enough to find bad "
                  "hosts, ports and switches",
                  least_budget_s, request.budget_s, "all rounds");
  options.count("--rounds", "so many randomly sampled rounds of hosts instead of all", 1, 1'000'000, request.rounds,
                "all rounds");
  options.flag("--serial", "one pair at a time", request.serial);
  options
      .flag("--shift",
            "in round K each rank sends a window of messages to the rank K behind it and receives one from the rank K "
            "before it: the links under full load",
            request.shift)
      .later();
  options
      .value(
          "--only-rounds", "LIST", "only these rounds, in this order: 3,1,5-7",
          [&](const std::string& option, const std::string& text) { request.only_rounds = parse_rounds(option, text); })
      .by_default("all")
      .recorded_as([&] { return request.only_rounds; });
  options.flag("--shuffle-rounds", "random order of the rounds; the pairs of a round stay the same",
               request.shuffle_rounds);
  options.count("--shuffle-ranks",
                "run everything under N random permutations of the ranks, so that other pairs are concurrent", 0,
                10'000, request.shuffle_ranks);
  options.count("--seed", "seed of all that is random", 0, UINT64_MAX, request.seed);
  options
      .count("--shuffle-rounds-seed", "seed of the order of the rounds", 0, UINT64_MAX, request.shuffle_rounds_seed,
             "--seed")
      .needs("--shuffle-rounds", "the rounds come in order without --shuffle-rounds");
  options.count("--shuffle-ranks-seed", "seed of the permutations of the ranks", 0, UINT64_MAX,
                request.shuffle_ranks_seed, "--seed");
  declare_fill_seed(options, request, "--seed");
  declare_repeat(options, request);
  options.seconds("--min-time", "repeat until so much time was spent in messages", 0, request.min_time_s);
  options.count("--retest", "measure the N slowest pairs again, alone", 0, 100'000, request.retest);
}

void declare_diagnosis(OptionTable& options, LinkRequest& request) {
  options.group("What is said about it");
  declare_verdict(options, request.topology, request.diagnosis);
  declare_routes(options, request.routes).later();
  declare_profile(options, request.profile).later();
  options
      .list("--baseline", "RESULT",
            "compare with an earlier result at the end, as 'leadline compare' does; may be given several times, and "
            "chance is then how much these differ",
            [&](const std::string&, const std::string& text) { request.baselines.push_back(text); })
      .as_file()
      .recorded_as([&] { return fmt::format("{}", fmt::join(request.baselines, " ")); });
  options
      .value("--fail-below", "LIMIT",
             "end with status 1 where a component (host, port, link, switch) reaches less than this share of what is "
             "usual (90%), or a pair has less bandwidth (10GiB/s) or takes longer (5us)",
             [&](const std::string& option, const std::string& text) {
               request.fail_below = parse_fail_below(option, text);
             })
      .recorded_as([&] { return request.fail_below.text; });
  options.flag("--strict",
               "end with status 1 where a fault is found, or something is slower than in the --baseline or the "
               "--profile",
               request.strict);
  options.flag("--health-check",
               "for scripts: random rounds for at most 20 s (or --budget, --rounds), no file (or --output), one "
               "line, status 1 where a fault is found",
               request.health_check);
  options.flag("--no-diagnosis", "measure only; 'leadline diagnose' can say later who is slow", request.no_diagnosis);
  options.no_effect_with("--no-diagnosis",
                         {"--topology", "--routes", "--threshold", "--false-discovery-rate", "--profile", "--baseline",
                          "--strict", "--health-check"},
                         "there is no diagnosis with --no-diagnosis");
}

Outcome outcome() {
  return {".h5, .sion or .json",
          "leadline-link-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "matrices and all else"},
           {ResultFormat::sion, name_of(ResultFormat::sion), "the same, readable for LinkTest 1.2's analysis"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print the schedule and an estimate of time and memory; measure nothing",
          "print all quantiles, each repeat and the slowest pairs, too; tell on standard error what is done: files, "
          "libraries, decisions, times, and each round where that is no terminal"};
}

}  // namespace

void declare_options(OptionTable& options, LinkRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  options.flag("--one-per-host", "only the lowest rank of each host takes part; the others wait", request.one_per_host);
  declare_what(options, request);
  declare_pairs(options, request);
  declare_order(options, request);
  declare_diagnosis(options, request);
  declare_outcome(options, request, format, outcome());
  options.choice("--statistics", "what an HDF5 file has of each pair", request.statistics).later();
}

LinkRequest schedule_request(const std::vector<std::pair<std::string, std::string>>& options) {
  LinkRequest request;
  std::optional<ResultFormat> format;
  OptionTable table;
  declare_options(table, request, format);
  constexpr std::array deciding{"--one-per-host",
                                "--bisection",
                                "--between-hosts",
                                "--budget",
                                "--rounds",
                                "--serial",
                                "--shift",
                                "--only-rounds",
                                "--shuffle-rounds",
                                "--shuffle-ranks",
                                "--shuffle-rounds-seed",
                                "--shuffle-ranks-seed"};
  for (const auto& [recorded_name, text] : options) {
    std::string name = "--" + recorded_name;
    std::ranges::replace(name, '_', '-');
    const auto entry = std::ranges::find(table.entries(), name, &OptionEntry::name);
    // What is recorded of an option that was not given need not be a value of it: no rounds, an empty list.
    if (std::ranges::find(deciding, name) == deciding.end() || as_text(entry->recorded()) == text) continue;
    entry->take(name, text);
  }
  return request;
}

}  // namespace leadline::bench::link
