// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline congestion`.
#include <charconv>

#include "bench/congestion/request.hpp"
#include "bench/run_options.hpp"
#include "options/values.hpp"

namespace leadline::bench::congestion {
namespace {

constexpr Named<LoadPattern> load_names[] = {
    {LoadPattern::incast, "incast"},
    {LoadPattern::complete, "complete"},
    {LoadPattern::random, "random"},
    {LoadPattern::bisection, "bisection"},
};

constexpr double least_test_time_s = 0.001, least_interval_s = 1e-6;
constexpr std::uint64_t most_rounds = 10'000;  // all of them stay in memory
constexpr double least_victims = 1e-6;

void declare_victims(OptionTable& options, CongestionRequest& request) {
  options.group("Who measures and who loads");
  options.share("--victims", "so many of the hosts measure, the others load the network", least_victims,
                request.victims);
  options.flag("--share-hosts",
               "choose ranks instead of hosts, so that a host has ranks of both kinds; as it is below four hosts",
               request.share_hosts);
  options.words("--load", "what the others do, with commas between, see below", request.loads,
                [](const std::string& option, const std::string& word) {
                  parse_choice<LoadPattern>(option, word, names_of(LoadPattern{}));
                });
  options.words("--intensity", "how much of it, in percent of what it reaches without pauses, with commas between",
                request.intensities,
                [](const std::string& option, const std::string& word) { parse_intensity(option, word); });
  options.count("--seed", "seed of all random choices: victims, pairs, whom an incast is to", 0, UINT64_MAX,
                request.seed);
}

void declare_what(OptionTable& options, CongestionRequest& request) {
  options.group("What is measured");
  options.sizes("--message-size", "message size of the bandwidth test", 1, max_message_size_bytes,
                request.message_sizes_bytes);
  options.size("--load-size", "message size of the load", 1, max_message_size_bytes, request.load_size_bytes);
  options.count("--rounds", "so often alone and under each load, in turn", 2, most_rounds, request.rounds);
  options.seconds("--test-time", "how long each test takes in each of these phases", least_test_time_s,
                  request.test_time_s);
  options.seconds("--interval", "from one message of the latency test to the next, whether that has come back or not",
                  least_interval_s, request.interval_s, "100us");
  options.choice("--wait", "how ranks wait", request.wait);
}

void declare_judgement(OptionTable& options, CongestionRequest& request) {
  options.group("What is said about it");
  declare_topology(options, request.topology);
  options
      .value(
          "--fail-above", "FACTOR",
          "end with status 1 where a load surely makes the median or the 99 % quantile of a test more than so many "
          "times as long",
          [&](const std::string& option, const std::string& text) { request.fail_above = parse_factor(option, text); })
      .by_default("never")
      .recorded_as([&] { return request.fail_above; });
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-congestion-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "all rounds and all else"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print who would measure, who would load, and an estimate of the time; measure nothing"};
}

}  // namespace

std::span<const Named<LoadPattern>> names_of(LoadPattern /*any*/) { return load_names; }

const char* name_of(LoadPattern pattern) { return name_in(load_names, pattern); }

std::int32_t parse_intensity(const std::string& option, const std::string& word) {
  const std::string number = word.ends_with('%') ? word.substr(0, word.size() - 1) : word;
  return static_cast<std::int32_t>(parse_count(option, number, 0, 100));
}

double parse_factor(const std::string& option, const std::string& text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !(factor >= 1)) {
    throw_bad_value(option, text, "it must be a number from 1 on");
  }
  return factor;
}

void declare_options(OptionTable& options, CongestionRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  declare_victims(options, request);
  declare_what(options, request);
  declare_judgement(options, request);
  declare_outcome(options, request, format, outcome());
}

}  // namespace leadline::bench::congestion
