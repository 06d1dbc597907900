// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: every option with its help, its check and its member of the request.
#include "cli/link_options.hpp"

#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"
#include "cli/fail_below.hpp"
#include "cli/link_effects.hpp"
#include "cli/run_options.hpp"
#include "cli/verdict_options.hpp"
#include "core/units.hpp"
#include "result/result_file.hpp"

namespace leadline::cli {
namespace {

constexpr const char* description =
    "Measures the link between every two ranks: each rank sends to each other rank, in rounds of pairs that run at "
    "once\n"
    "(round-robin tournament), then the slowest pairs again, alone. Without a launcher it starts local processes by\n"
    "itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* examples =
    "Examples:\n"
    "  leadline link                                     all local cores, over TCP on loopback\n"
    "  mpirun -n 64 leadline link --message-size 1MiB    every pair of 64 MPI ranks\n"
    "  leadline link --local 4 --message-size 1B-4MiB    a sweep: latency to bandwidth\n"
    "  leadline link --dry-run --ranks 4096              what a large run would do, and its cost";

constexpr double least_budget_s = 0.1;

void declare_what(DeclaredOptions& options, LinkRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 0, "1KiB");
  options.count("--messages", "timed messages a measurement. Default: 100", 1, max_count,
                [&](std::uint64_t n) { request.num_messages = n; });
  options.count("--warmup", "untimed messages before them. Default: 10", 0, max_count,
                [&](std::uint64_t n) { request.num_warmup = n; });
  options.count("--batches",
                "timed batches that the messages of a measurement are cut into; each gives one time. Default: 20", 1,
                100'000, [&](std::uint64_t n) { request.num_batches = static_cast<std::uint32_t>(n); });
  options.value("--direction", "NAME",
                "semidirectional (ping-pong, half the round trip), unidirectional (windows of messages, acknowledged "
                "at the end) or bidirectional (both at once). Default: semidirectional",
                [&](const std::string& option, const std::string& text) {
                  request.direction = parse_choice<Direction>(option, text,
                                                              {{"semidirectional", Direction::semidirectional},
                                                               {"unidirectional", Direction::unidirectional},
                                                               {"bidirectional", Direction::bidirectional}});
                });
  options.count("--window", "messages in flight (unidirectional, bidirectional). Default: 64", 1, 65'536,
                [&](std::uint64_t n) { request.window = static_cast<std::uint32_t>(n); });
  options.count("--buffers", "buffers to send from and as many to receive into, taken in turn. Default: 1", 1, 65'536,
                [&](std::uint64_t n) { request.num_buffers = static_cast<std::uint32_t>(n); });
  declare_fill(options, request);
  options.flag("--check-buffers", "after each measurement check what the last messages have left in the buffers",
               request.check_buffers);
  options.flag("--verify", "before each measurement send the messages once with changing contents and check every byte",
               request.verify);
  declare_memory_and_wait(options, request);
}

void declare_pairs(DeclaredOptions& options, LinkRequest& request) {
  options.group("Which pairs");
  options.flag("--bisection",
               "only pairs across the two halves of the ranks (with --between-hosts: of the hosts), and the bandwidth "
               "across the cut",
               request.bisection);
  options.flag("--between-hosts", "host against host: only pairs on different hosts", request.between_hosts);
  options.value("--all-to-all", "WHEN",
                "all ranks exchange messages with all others, too: around (before the first round and after the last) "
                "or before-each-round. Default: none",
                [&](const std::string& option, const std::string& text) {
                  request.all_to_all = parse_choice<AllToAll>(option, text,
                                                              {{"none", AllToAll::none},
                                                               {"around", AllToAll::around},
                                                               {"before-each-round", AllToAll::before_each_round}});
                });
  options.value("--all-to-all-size", "SIZE", "of each message of these exchanges. Default: the message size",
                [&](const std::string& option, const std::string& text) {
                  const auto sizes = parse_byte_sizes(text);
                  if (sizes.size() != 1 || sizes[0] == 0 || sizes[0] > max_message_size_bytes) {
                    throw_bad_value(option, text, "it must be one size from 1 B to 1 TiB");
                  }
                  request.all_to_all_size_bytes = sizes[0];
                });
}

void declare_order(DeclaredOptions& options, LinkRequest& request) {
  options.group("In which order");
  options.value(
      "--budget", "TIME",
      "random rounds of hosts instead of all, until so much time is used: enough to find bad hosts, ports and "
      "switches. Default: all rounds",
      [&](const std::string& option, const std::string& text) {
        request.budget_s = parse_seconds(option, text, least_budget_s);
      });
  options.count("--max-rounds", "random rounds of hosts instead of all, so many. Default: all rounds", 1, 1'000'000,
                [&](std::uint64_t n) { request.max_rounds = static_cast<std::int64_t>(n); });
  options.flag("--serial", "one pair at a time", request.serial);
  options.value(
      "--rounds", "LIST", "only these rounds, in this order: 3,1,5-7. Default: all",
      [&](const std::string& option, const std::string& text) { request.rounds = parse_rounds(option, text); });
  options.flag("--shuffle-rounds", "random order of the rounds; the companions of a pair stay the same",
               request.shuffle_rounds);
  options.count("--shuffle-ranks",
                "run everything under N random permutations of the ranks, so that companions change. Default: 0", 0,
                10'000, [&](std::uint64_t n) { request.shuffle_ranks = static_cast<int>(n); });
  options.count("--seed", "of all that is random. Default: 1", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.seed = n; });
  options.count("--shuffle-rounds-seed", "of the order of the rounds. Default: --seed", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.shuffle_rounds_seed = n; });
  options.count("--shuffle-ranks-seed", "of the permutations of the ranks. Default: --seed", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.shuffle_ranks_seed = n; });
  declare_fill_seed(options, request, "--seed");
  declare_repeat(options, request);
  options.value(
      "--min-time", "TIME", "repeat until so much time was spent in messages. Default: 0",
      [&](const std::string& option, const std::string& text) { request.min_time_s = parse_seconds(option, text, 0); });
  options.count("--retest-slowest", "measure the N slowest pairs again, alone. Default: 10", 0, 100'000,
                [&](std::uint64_t n) { request.retest_slowest = static_cast<int>(n); });
}

void declare_diagnosis(DeclaredOptions& options, LinkRequest& request) {
  options.group("What is said about it");
  declare_verdict(options, request.topology, request.diagnosis);
  options.value(
      "--baseline", "RESULT",
      "compare with an earlier result at the end, as 'leadline compare' does; status 1 where something is worse",
      [&](const std::string&, const std::string& text) { request.baseline = text; });
  options.value(
      "--fail-below", "LIMIT",
      "end with status 1 where a place reaches less than this share of what is usual for its class (90%), or "
      "a pair less than a bandwidth (10GiB/s) or more than a time (5us)",
      [&](const std::string& option, const std::string& text) { request.fail_below = parse_fail_below(option, text); });
  options.flag("--health-check",
               "for scripts: random rounds for at most 20 s (or --budget, --max-rounds), no file (or --output), one "
               "line, status 1 where a fault is found",
               request.health_check);
  options.flag("--no-diagnosis", "measure only; 'leadline diagnose' can say later who is slow", request.no_diagnosis);
}

Outcome outcome() {
  return {".h5, .sion or .json",
          "leadline-link-TIME.h5",
          "hdf5 (matrices and all else), sion (the same, readable for LinkTest 1.2's analysis), json (summary; without "
          "--output on standard output) or none",
          {{"hdf5", ResultFormat::hdf5},
           {"sion", ResultFormat::sion},
           {"json", ResultFormat::json},
           {"none", ResultFormat::none}},
          "print the schedule and an estimate of time and memory; measure nothing"};
}

constexpr double health_check_s = 20;

/// What a health check is where nothing else is said.
void settle_health_check(const IsGiven& is_given, LinkRequest& request, std::optional<ResultFormat>& format) {
  if (request.fail_below.kind == FailBelow::Kind::share && !is_given("--threshold")) {
    request.diagnosis.threshold = std::max(1 / request.fail_below.value - 1, 0.001);
  }
  if (!request.health_check) return;
  if (!is_sample(request)) request.budget_s = health_check_s;
  if (!is_given("--fail-below")) request.fail_below = {FailBelow::Kind::share, 1, ""};
  if (request.output.empty() && !format) format = ResultFormat::none;
  request.quiet = true;
  if (!is_given("--retest-slowest")) request.retest_slowest = 0;
}

void complete_seeds(const CLI::App& app, LinkRequest& request) {
  if (app.count("--shuffle-rounds-seed") == 0) request.shuffle_rounds_seed = request.seed;
  if (app.count("--shuffle-ranks-seed") == 0) request.shuffle_ranks_seed = request.seed;
  if (app.count("--fill-seed") == 0) request.fill_seed = request.seed;
}

}  // namespace

LinkRequest parse_link(const std::vector<std::string>& arguments) {
  LinkRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  CLI::App app(description, "leadline link");
  app.footer(std::string(sizes_help) + exit_status_help + examples);
  DeclaredOptions options(app);
  declare_who(options, request);
  options.flag("--one-per-host", "only the lowest rank of each host takes part; the others wait", request.one_per_host);
  declare_what(options, request);
  declare_pairs(options, request);
  declare_order(options, request);
  declare_diagnosis(options, request);
  declare_outcome(options, request, format, outcome());

  parse_command_line(app, arguments);
  complete_seeds(app, request);
  const IsGiven is_given = [&app](const char* option) { return app.count(option) > 0; };
  settle_health_check(is_given, request, format);
  request.format = result::format_for(request.output, format);
  settle_allocator(is_given, request);
  check_effects(is_given, request);
  return request;
}

}  // namespace leadline::cli
