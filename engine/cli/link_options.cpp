// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: what the help says, and what follows from several options together.
#include "cli/link_options.hpp"

#include <algorithm>
#include <optional>

#include "bench/link/options.hpp"
#include "cli/help_texts.hpp"
#include "cli/link_validation.hpp"
#include "core/units.hpp"
#include "result/link_result_file.hpp"

namespace leadline::cli {
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
    "  leadline link --dry-run --ranks 4096              what a large run would do, and its cost";

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

  OptionParser options("leadline link", link_description, std::string(sizes_help) + exit_status_help + link_examples);
  bench::link::declare_options(options, request, format);

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
