// SPDX-License-Identifier: Apache-2.0
// What Netgauge's options mean for the engine: random matchings of all ranks, so many rounds and no baseline.
#include "compat/netgauge/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cli/arguments.hpp"
#include "compat/netgauge/option_table.hpp"
#include "compat/netgauge/sizes.hpp"
#include "compat/netgauge/unsupported_pattern.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "result/link_result_file.hpp"

namespace leadline::compat::netgauge {
namespace {

constexpr const char* program = "netgauge";
constexpr const char* default_pattern = "one_one";
constexpr std::uint64_t default_grad = 2, max_grad = 64;
constexpr std::uint64_t default_rounds = 100, max_rounds = 10'000'000;
constexpr std::uint64_t default_reps = 20, max_reps = 1'000'000;
constexpr std::uint64_t default_buckets = 1, max_buckets = 10'000;
constexpr std::uint64_t default_verbosity = 1, max_verbosity = 3;
constexpr std::uint64_t verbosity_without_number = 2;  // the least that shows more than the default

/// Those of 2.4.6 that could be built; which of them an installation had, differed.
constexpr std::array<const char*, 8> modes{"mpi", "tcp", "udp", "edp", "esp", "ib", "ibv", "dummy"};

std::uint64_t number(const GivenOptions& given, Option option, std::uint64_t otherwise, std::uint64_t min,
                     std::uint64_t max) {
  const auto found = given.find(option);
  if (found == given.end()) return otherwise;
  return whole_number(found->second.word, found->second.value, {min, max, program});
}

Flag flag(const GivenOptions& given, Option option) { return given.contains(option) ? Flag::on : Flag::off; }

void take_sizes(const GivenOptions& given, Command& command) {
  SizeRange range;
  if (const auto found = given.find(Option::size); found != given.end()) {
    range = size_range(found->second.word, found->second.value);
  }
  command.request.message_sizes_bytes = sizes_in(range, number(given, Option::grad, default_grad, 1, max_grad));
  command.shown.remarks.insert(command.shown.remarks.end(), range.remarks.begin(), range.remarks.end());
}

/// Netgauge's ebb ignored the mode and called MPI.
void take_mode(const GivenOptions& given, Command& command) {
  command.request.transport = "mpi";
  const auto found = given.find(Option::mode);
  if (found == given.end()) return;
  const auto& [word, mode] = found->second;
  if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
    cli::throw_bad_value(word, mode, fmt::format("it must be one of {}", fmt::join(modes, ", ")),
                         "Leave it out: ebb always calls MPI");
  }
  if (mode == "mpi") return;
  command.shown.remarks.push_back(fmt::format(
      "{} {} has no effect: ebb calls MPI, as it did in Netgauge; see leadline bisection --transport", word, mode));
}

/// Of these not even the values are looked at, as ever.
void take_what_has_no_effect(const GivenOptions& given, Command& command) {
  std::vector<std::string>& remarks = command.shown.remarks;
  for (const Option option : {Option::tests, Option::time, Option::full_output, Option::server, Option::host_name}) {
    if (const auto found = given.find(option); found != given.end()) {
      remarks.push_back(fmt::format("{} has no effect on ebb; it had none in Netgauge", found->second.word));
    }
  }
  if (const auto found = given.find(Option::summary_file); found != given.end()) {
    remarks.push_back(
        fmt::format("{} has no effect on ebb; it had none in Netgauge. -O FILE behind -x ebb keeps a result for "
                    "leadline report",
                    found->second.word));
  }
  if (const auto found = given.find(Option::init_thread); found != given.end()) {
    remarks.push_back(fmt::format("{} has no effect: one thread of each rank calls MPI", found->second.word));
  }
}

void take_result(const GivenOptions& given, Command& command) {
  BisectionRequest& request = command.request;
  const auto found = given.find(Option::result);
  if (found == given.end()) {
    if (given.contains(Option::overwrite)) {
      throw Error(ExitStatus::bad_command_line, "--overwrite has no effect here", "there is no -O", "Leave it out");
    }
    request.format = ResultFormat::none;
    return;
  }
  const auto& [word, path] = found->second;
  constexpr const char* hint = "Choose a name ending in .h5 or .json";
  if (path.empty()) cli::throw_bad_value(word, path, "it must name a file", hint);
  if (path == "-") cli::throw_bad_value(word, path, "standard output has Netgauge's lines", hint);
  request.output = path;
  request.format = result::format_for(path, std::nullopt);
  request.overwrite = given.contains(Option::overwrite);
  if (request.format == ResultFormat::sion) {
    cli::throw_bad_value(word, path, "SION holds the matrices of link tests only", hint);
  }
}

void take_ebb(const GivenOptions& given, BisectionRequest& request) {
  request.rounds = number(given, Option::rounds, default_rounds, 1, max_rounds);
  request.num_exchanges = number(given, Option::reps, default_reps, 1, max_reps);
  request.num_buckets = static_cast<std::uint32_t>(number(given, Option::buckets, default_buckets, 0, max_buckets));
  request.seed = number(given, Option::seed, request.seed, 0, UINT64_MAX);
  request.within_hosts = true;
  request.precision = 0;
  request.time_limit_s = 0;
  request.num_baseline_pairs = 0;
  request.retest = 0;
}

void take_shown(const GivenOptions& given, Shown& shown) {
  const auto found = given.find(Option::verbosity);
  const bool is_bare = found != given.end() && found->second.value.empty();
  shown.verbosity = static_cast<int>(is_bare ? verbosity_without_number
                                             : number(given, Option::verbosity, default_verbosity, 0, max_verbosity));
  shown.host_names = flag(given, Option::host_names);
  shown.pairs = flag(given, Option::print_pairs);
  shown.timer_check = flag(given, Option::sanity_check);
}

/// What is asked for before all else.
Wish wish_of(const GivenOptions& given) {
  if (given.contains(Option::help) || given.contains(Option::manual_page)) return Wish::help;
  if (given.contains(Option::pattern_help)) return Wish::pattern_help;
  return given.contains(Option::version) ? Wish::version : Wish::run;
}

}  // namespace

Command parse(const std::vector<std::string>& arguments) {
  const GivenOptions given = given_options(arguments);
  Command command;
  command.wish = wish_of(given);
  if (command.wish != Wish::run) return command;
  const auto pattern = given.find(Option::pattern);
  if (pattern == given.end()) refuse_pattern("", default_pattern);
  if (pattern->second.value != "ebb") refuse_pattern(pattern->second.word, pattern->second.value);

  command.request.command_line = arguments;
  take_sizes(given, command);
  take_mode(given, command);
  take_what_has_no_effect(given, command);
  take_ebb(given, command.request);
  take_result(given, command);
  take_shown(given, command.shown);
  return command;
}

}  // namespace leadline::compat::netgauge
