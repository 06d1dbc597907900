// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: every option with its help, its check and its member of the request.
#include "cli/link_options.hpp"

#include <algorithm>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/fail_below.hpp"
#include "cli/link_validation.hpp"
#include "cli/run_options.hpp"
#include "cli/verdict_options.hpp"
#include "core/units.hpp"
#include "result/link_result_file.hpp"

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

void declare_what(OptionParser& options, LinkRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 0, "1KiB");
  options.count("--messages", "timed messages a measurement", 1, max_count, request.num_messages);
  options.count("--warmup", "untimed messages before them", 0, max_count, request.num_warmup);
  options.count("--batches", "timed batches that the messages of a measurement are cut into; each gives one time", 1,
                100'000, request.num_batches);
  options.choice("--direction",
                 "semidirectional (ping-pong, half the round trip), unidirectional (windows of messages, acknowledged "
                 "at the end) or bidirectional (both at once)",
                 request.direction, {Direction::semidirectional, Direction::unidirectional, Direction::bidirectional});
  options.count("--window", "messages in flight (unidirectional, bidirectional)", 1, 65'536, request.window);
  options.count("--buffers", "buffers to send from and as many to receive into, taken in turn", 1, 65'536,
                request.num_buffers);
  declare_fill(options, request);
  options.flag("--check-buffers", "after each measurement check what the last messages have left in the buffers",
               request.check_buffers);
  options.flag("--verify", "before each measurement send the messages once with changing contents and check every byte",
               request.verify);
  declare_memory_and_wait(options, request);
}

void declare_pairs(OptionParser& options, LinkRequest& request) {
  options.group("Which pairs");
  options.flag("--bisection",
               "only pairs across the two halves of the ranks (with --between-hosts: of the hosts), and the bandwidth "
               "across the cut",
               request.bisection);
  options.flag("--between-hosts", "host against host: only pairs on different hosts", request.between_hosts);
  options.choice("--all-to-all",
                 "all ranks exchange messages with all others, too: around (before the first round and after the last) "
                 "or before-each-round",
                 request.all_to_all, {AllToAll::none, AllToAll::around, AllToAll::before_each_round});
  options.value("--all-to-all-size", "SIZE", "of each message of these exchanges. Default: the message size",
                [&](const std::string& option, const std::string& text) {
                  const auto sizes = parse_byte_sizes(text);
                  if (sizes.size() != 1 || sizes[0] == 0 || sizes[0] > max_message_size_bytes) {
                    throw_bad_value(option, text, "it must be one size from 1 B to 1 TiB");
                  }
                  request.all_to_all_size_bytes = sizes[0];
                });
}

void declare_order(OptionParser& options, LinkRequest& request) {
  options.group("In which order");
  options.seconds("--budget",
                  "randomly sampled rounds of hosts instead of all, until so much time is used: enough to find bad "
                  "hosts, ports and switches",
                  least_budget_s, request.budget_s, "all rounds");
  options.count("--rounds", "so many randomly sampled rounds of hosts instead of all", 1, 1'000'000, request.rounds,
                "all rounds");
  options.flag("--serial", "one pair at a time", request.serial);
  options.value(
      "--only-rounds", "LIST", "only these rounds, in this order: 3,1,5-7. Default: all",
      [&](const std::string& option, const std::string& text) { request.only_rounds = parse_rounds(option, text); });
  options.flag("--shuffle-rounds", "random order of the rounds; the pairs of a round stay the same",
               request.shuffle_rounds);
  options.count("--shuffle-ranks",
                "run everything under N random permutations of the ranks, so that other pairs are concurrent", 0,
                10'000, request.shuffle_ranks);
  options.count("--seed", "of all that is random", 0, UINT64_MAX, request.seed);
  options.count("--shuffle-rounds-seed", "of the order of the rounds", 0, UINT64_MAX, request.shuffle_rounds_seed,
                "--seed");
  options.count("--shuffle-ranks-seed", "of the permutations of the ranks", 0, UINT64_MAX, request.shuffle_ranks_seed,
                "--seed");
  declare_fill_seed(options, request, "--seed");
  declare_repeat(options, request);
  options.seconds("--min-time", "repeat until so much time was spent in messages", 0, request.min_time_s);
  options.count("--retest", "measure the N slowest pairs again, alone", 0, 100'000, request.retest);
}

void declare_diagnosis(OptionParser& options, LinkRequest& request) {
  options.group("What is said about it");
  declare_verdict(options, request.topology, request.diagnosis);
  options.value("--baseline", "RESULT", "compare with an earlier result at the end, as 'leadline compare' does",
                [&](const std::string&, const std::string& text) { request.baseline = text; });
  options.value(
      "--fail-below", "LIMIT",
      "end with status 1 where a component (host, port, link, switch) reaches less than this share of what is usual "
      "for its class (90%), or "
      "a pair less than a bandwidth (10GiB/s) or more than a time (5us)",
      [&](const std::string& option, const std::string& text) { request.fail_below = parse_fail_below(option, text); });
  options.flag("--strict", "end with status 1 where a fault is found, or something is slower than in the --baseline",
               request.strict);
  options.flag("--health-check",
               "for scripts: random rounds for at most 20 s (or --budget, --rounds), no file (or --output), one "
               "line, status 1 where a fault is found",
               request.health_check);
  options.flag("--no-diagnosis", "measure only; 'leadline diagnose' can say later what is slow", request.no_diagnosis);
}

Outcome outcome() {
  return {".h5, .sion or .json",
          "leadline-link-TIME.h5",
          "hdf5 (matrices and all else), sion (the same, readable for LinkTest 1.2's analysis), json (summary; without "
          "--output on standard output) or none",
          {ResultFormat::hdf5, ResultFormat::sion, ResultFormat::json, ResultFormat::none},
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
  if (!is_given("--retest")) request.retest = 0;
}

void complete_seeds(const IsGiven& is_given, LinkRequest& request) {
  if (!is_given("--shuffle-rounds-seed")) request.shuffle_rounds_seed = request.seed;
  if (!is_given("--shuffle-ranks-seed")) request.shuffle_ranks_seed = request.seed;
  if (!is_given("--fill-seed")) request.fill_seed = request.seed;
}

}  // namespace

LinkRequest parse_link(const std::vector<std::string>& arguments) {
  LinkRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  OptionParser options("leadline link", description, std::string(sizes_help) + exit_status_help + examples);
  declare_who(options, request);
  options.flag("--one-per-host", "only the lowest rank of each host takes part; the others wait", request.one_per_host);
  declare_what(options, request);
  declare_pairs(options, request);
  declare_order(options, request);
  declare_diagnosis(options, request);
  declare_outcome(options, request, format, outcome());

  options.parse(arguments);
  const IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  complete_seeds(is_given, request);
  settle_health_check(is_given, request, format);
  request.format = result::format_for(request.output, format);
  settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

}  // namespace leadline::cli
