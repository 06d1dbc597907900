// SPDX-License-Identifier: Apache-2.0
// `leadline link`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/link/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/file.hpp"
#include "bench/link/like.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/profiled_file.hpp"
#include "bench/link/request.hpp"
#include "bench/link/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/buffer.hpp"
#include "options/values.hpp"

namespace leadline::bench::link {
namespace {

constexpr const char* link_description =
    "Measures the link between every two ranks: each rank sends to each other rank, in rounds of pairs that run at "
    "once\n"
    "(round-robin tournament), then the slowest pairs again, alone. Without a launcher it starts local processes by\n"
    "itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* link_examples =
    "Examples:\n"
    "  leadline link                                     all local cores, over TCP on loopback\n"
    "  mpirun -n 64 leadline link --message-size 1MiB    every pair of 64 MPI ranks\n"
    "  leadline link --local 4 --message-size 1B-4MiB    a sweep: latency to bandwidth\n"
    "  mpirun -n 2 leadline link --like osu-latency      the numbers of osu_latency\n"
    "  leadline link --dry-run --ranks 4096              what a large run would do, and its cost";

constexpr double health_check_s = 20;
constexpr std::uint64_t shift_window = 10;  // as in the README of mpiGraph

/// What a health check is where nothing else is said.
void settle_health_check(const command::IsGiven& is_given, LinkRequest& request, std::optional<ResultFormat>& format) {
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

/// Messages go in windows, each of which is timed.
void settle_shift(const command::IsGiven& is_given, LinkRequest& request) {
  if (!request.shift) return;
  request.direction = Direction::unidirectional;
  const bool has_window = is_given("--window") || request.like != Like::none;
  if (!has_window) request.window = static_cast<std::uint32_t>(std::min(shift_window, request.num_messages));
  const std::uint64_t num_windows = std::max<std::uint64_t>(request.num_messages / request.window, 1);
  request.num_batches = static_cast<std::uint32_t>(std::min<std::uint64_t>(num_windows, max_batches));
}

void complete_seeds(const command::IsGiven& is_given, LinkRequest& request) {
  if (!is_given("--shuffle-rounds-seed")) request.shuffle_rounds_seed = request.seed;
  if (!is_given("--shuffle-ranks-seed")) request.shuffle_ranks_seed = request.seed;
  if (!is_given("--fill-seed")) request.fill_seed = request.seed;
}

void check_random(const command::IsGiven& is_given, const LinkRequest& request) {
  const bool is_anything_random = is_sample(request) || request.shuffle_rounds || request.shuffle_ranks > 0 ||
                                  command::has_random_contents(request);
  if (is_given("--seed") && !is_anything_random) {
    throw_no_effect(
        "--seed", "nothing is random without --shuffle-rounds, --shuffle-ranks, --budget, --rounds or a random --fill");
  }
  if (is_given("--shuffle-ranks-seed") && request.shuffle_ranks == 0) {
    throw_no_effect("--shuffle-ranks-seed", "the ranks come in order without --shuffle-ranks");
  }
}

void check_what(const command::IsGiven& is_given, const LinkRequest& request) {
  if (is_given("--window") && request.direction == Direction::semidirectional) {
    throw_no_effect("--window", "a ping-pong has one message in flight");
  }
  if (is_given("--batches") && request.num_batches > request.num_messages) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--batches {} is more than --messages {}", request.num_batches, request.num_messages),
                "every batch times at least one message", "Use fewer batches or more messages");
  }
  for (const std::uint64_t size : request.message_sizes_bytes) {
    const MessageCounts counts = message_counts(request, size);
    if (request.num_buffers <= counts.num_messages + counts.num_warmup) continue;
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--buffers {} is more than there are messages", request.num_buffers),
                fmt::format("{} for warm-up and {} timed ones", counts.num_warmup, counts.num_messages),
                "Use fewer buffers or more messages");
  }
  if (is_given("--all-to-all-size") && request.all_to_all == AllToAll::none) {
    throw_no_effect("--all-to-all-size", "there is no such exchange without --all-to-all");
  }
  if (request.verify && memory::allocator_named(request.allocator).location != memory::Location::host) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--verify and --allocator {} do not go together", request.allocator),
                "the pass makes and compares its contents in ordinary memory", "Use --check-buffers");
  }
}

void check_shift(const command::IsGiven& is_given, const LinkRequest& request) {
  if (!request.shift) return;
  const std::string shift = request.like == Like::none ? "--shift" : fmt::format("--like {}", name_of(request.like));
  constexpr const char* at_once = "in a shift all ranks send and receive at once";
  for (const auto& [option, why] :
       {std::pair{"--serial", at_once}, std::pair{"--bisection", at_once}, std::pair{"--between-hosts", at_once},
        std::pair{"--verify", at_once}, std::pair{"--check-buffers", at_once},
        std::pair{"--direction", "the messages of a shift go one way"}, std::pair{"--batches", "each window is timed"},
        std::pair{"--budget", "the rounds of a shift are not sampled"},
        std::pair{"--rounds", "the rounds of a shift are not sampled"},
        std::pair{"--health-check", "the rounds of a shift are not sampled"},
        std::pair{"--profile", "a site profile is of pairs that measure each other"}}) {
    if (is_given(option)) throw_apart(shift, option, why);
  }
  for (const std::uint64_t size : request.message_sizes_bytes) {
    if (size == 0) {
      throw Error(ExitStatus::bad_command_line, "--shift needs messages of at least 1 byte", "one size is 0",
                  "Choose other sizes with --message-size");
    }
    const std::uint64_t num_messages = message_counts(request, size).num_messages;
    if (num_messages % request.window == 0) continue;
    throw Error(ExitStatus::bad_command_line,
                fmt::format("{} messages cannot be cut into windows of {}", num_messages, request.window),
                "--shift times whole windows", "Choose --messages as a multiple of --window");
  }
}

void check_diagnosis(const command::IsGiven& is_given, const LinkRequest& request) {
  if (request.strict && request.health_check && !is_given("--fail-below") && request.baselines.empty()) {
    throw_no_effect("--strict", "with --health-check a fault ends with status 1 anyway");
  }
  if (request.no_diagnosis && request.fail_below.kind == FailBelow::Kind::share) {
    throw_no_effect("--fail-below", "a share is judged by the diagnosis, and there is none with --no-diagnosis");
  }
}

void check_baseline(const LinkRequest& request) {
  if (request.baselines.empty()) return;
  if (request.format == ResultFormat::hdf5 || request.format == ResultFormat::sion) return;
  throw Error(ExitStatus::bad_command_line, "--baseline needs a result file",
              fmt::format("--format {} keeps no matrix to compare", name_of(request.format)),
              "Choose a name ending in .h5 with --output");
}

/// What chooses rounds or their order leaves nothing to sample.
void check_sample(const command::IsGiven& is_given, const LinkRequest& request) {
  if (!is_sample(request)) return;
  const std::string sample = request.budget_s > 0 ? "--budget" : "--rounds";
  for (const char* const option : {"--only-rounds", "--serial", "--shuffle-rounds", "--shuffle-ranks", "--bisection",
                                   "--between-hosts", "--one-per-host", "--all-to-all", "--min-time", "--repeat"}) {
    if (!is_given(option)) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("{} and {} do not go together", sample, option),
                "rounds are sampled at random, once", "Leave one of them out");
  }
  if (request.format == ResultFormat::sion) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be had with a SION file", sample),
                "it says at its beginning which rounds there will be", "Choose a name ending in .h5 with --output");
  }
}

void check_outcome(const command::IsGiven& is_given, const LinkRequest& request) {
  if (is_given("--statistics") && request.format != ResultFormat::hdf5) {
    throw_no_effect("--statistics", fmt::format("a result as {} has one form", name_of(request.format)));
  }
  if (request.format == ResultFormat::sion && request.min_time_s > 0) {
    throw Error(ExitStatus::bad_command_line, "--min-time cannot be had with a SION file",
                "it says at its beginning how many repeats it holds",
                "Choose a name ending in .h5 with --output, or --repeat");
  }
}

}  // namespace

LinkRequest parse_link(const std::vector<std::string>& arguments) {
  LinkRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  command::OptionParser options("leadline link", link_description,
                                std::string(command::sizes_help) + command::exit_status_help + link_examples);
  declare_options(options, request, format);

  options.parse(arguments);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  complete_seeds(is_given, request);
  settle_like(is_given, request);
  settle_shift(is_given, request);
  settle_health_check(is_given, request, format);
  request.format = result::format_for(request.output, format);
  command::settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

void validate_options(const command::IsGiven& is_given, const LinkRequest& request) {
  check_random(is_given, request);
  check_what(is_given, request);
  check_like(is_given, request);
  check_shift(is_given, request);
  check_diagnosis(is_given, request);
  check_sample(is_given, request);
  check_baseline(request);
  command::validate_run_options(is_given, request);
  check_outcome(is_given, request);
}

int link_command(const std::vector<std::string>& arguments) {
  LinkRequest request = parse_link(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "link");
      read_profile(request.profile, {});
      return plan_text(request, plan(request, ranks.rank_layout()));
    });
  }
  return command::run_ranks(request, "link",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_link(request, std::move(bootstrap), module, own_presentation(request));
                            });
}

}  // namespace leadline::bench::link
