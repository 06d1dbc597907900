// SPDX-License-Identifier: Apache-2.0
// What Netgauge's options mean for the engine: random matchings of all ranks, so many rounds and no baseline.
#include "compat/netgauge/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "compat/netgauge/option_table.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"

namespace leadline::compat::netgauge {
namespace {

struct UnsupportedPattern {
  const char* pattern;
  const char* why;
  const char* hint;
};

constexpr const char* nowhere = "Leadline has nothing like it";
constexpr const char* what_is_here = "netgauge -x ebb is what there is";

constexpr std::array<UnsupportedPattern, 15> others{{
    {"1toN", "it is one rank with all others, which answer",
     R"("leadline topology --pattern star" measures that, "--pattern outcast" the way there alone)"},
    {"Nto1", "it is all ranks to one", R"("leadline topology --pattern incast" measures that)"},
    {"loggp", "it is latency and bandwidth by message size",
     R"("leadline link --message-size 1B-1MiB" measures these, but fits no LogGP parameters)"},
    {"distrtt", "it is the spread of round trips between two ranks",
     R"("leadline link --messages 500 --batches 500" measures that for every two ranks)"},
    {"disk", "its writing destroys what is on the disk, and Leadline never does that", what_is_here},
    {"nbov", nowhere, what_is_here},
    {"noise", nowhere, what_is_here},
    {"collvsnoise", nowhere, what_is_here},
    {"synctest", nowhere, what_is_here},
    {"mprobe", nowhere, what_is_here},
    {"memory", nowhere, what_is_here},
    {"cpu", nowhere, what_is_here},
    {"func_args", nowhere, what_is_here},
    {"overlap", nowhere, what_is_here},
    {"beff", "Netgauge had none of that name, either", what_is_here},
}};

/// one_one and its variants.
UnsupportedPattern between_two_ranks(const std::string& pattern) {
  if (pattern == "one_one" || pattern == "one_one_all") {
    return {"", "it is ping-pongs between two ranks", R"("leadline link" measures that for every two ranks)"};
  }
  if (pattern.find("bidirect") != std::string::npos) {
    return {"", "it is two ranks that send to each other at once",
            R"("leadline link --direction bidirectional" measures that for every two ranks)"};
  }
  return {"", "it is a variant of ping-pongs between two ranks",
          R"("leadline link" measures plain ones for every two ranks)"};
}

UnsupportedPattern elsewhere(const std::string& pattern) {
  if (pattern.starts_with("one_one")) return between_two_ranks(pattern);
  for (const UnsupportedPattern& other : others) {
    if (pattern == other.pattern) return other;
  }
  return {"", "Netgauge had none of that name, either", what_is_here};
}

/// Throws Error(bad_command_line): `pattern` is not measured here; what measures something like it, if anything does.
[[noreturn]] void refuse_pattern(const std::string& option, const std::string& pattern) {
  const UnsupportedPattern unsupported = elsewhere(pattern);
  const std::string problem = option.empty()
                                  ? fmt::format("netgauge has no pattern {}, which is meant without -x", pattern)
                                  : fmt::format("{} cannot be '{}'", option, pattern);
  throw Error(ExitStatus::bad_command_line, problem, unsupported.why, unsupported.hint);
}

constexpr const char* examples = "Write for example -s 4096, -s 1024-65536, -s -1M or -s 1M-1M";
constexpr std::uint64_t netgauges_max_bytes = std::uint64_t{1} << 30;

/// One end of the range, out of `text`, the whole of it.
std::uint64_t end_bytes(const std::string& option, const std::string& text, const std::string& end, SizeRange& range) {
  std::uint64_t bytes = 0;
  try {
    bytes = parse_bytes(end);
  } catch (const Error& error) {
    throw_bad_value(option, text, error.problem() + (error.why().empty() ? "" : ": " + error.why()), examples);
  }
  if (bytes == 0 || bytes > max_message_size_bytes) {
    throw_bad_value(option, text, "a message must have from 1 B to 1 TiB", examples);
  }
  if (end.find_first_not_of("0123456789") != std::string::npos) {
    const std::string remark = fmt::format("{}: {} is {} bytes; Netgauge knew no units", option, end, bytes);
    if (range.remarks.empty() || range.remarks.back() != remark) range.remarks.push_back(remark);
  }
  return bytes;
}

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
  command.request.strict_ranks = true;  // as Netgauge ends
  command.request.binding = Binding::none;
  const auto found = given.find(Option::mode);
  if (found == given.end()) return;
  const auto& [word, mode] = found->second;
  if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
    throw_bad_value(word, mode, fmt::format("it must be one of {}", fmt::join(modes, ", ")),
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
  bench::bisection::BisectionRequest& request = command.request;
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
  if (path.empty()) throw_bad_value(word, path, "it must name a file", hint);
  if (path == "-") throw_bad_value(word, path, "standard output has Netgauge's lines", hint);
  request.output = path;
  request.format = result::format_for(path, std::nullopt);
  request.overwrite = given.contains(Option::overwrite);
  if (request.format == ResultFormat::sion) {
    throw_bad_value(word, path, "SION holds the matrices of link tests only", hint);
  }
}

void take_ebb(const GivenOptions& given, bench::bisection::BisectionRequest& request) {
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
Action action_of(const GivenOptions& given) {
  if (given.contains(Option::help) || given.contains(Option::manual_page)) return Action::help;
  if (given.contains(Option::pattern_help)) return Action::pattern_help;
  return given.contains(Option::version) ? Action::version : Action::run;
}

}  // namespace

SizeRange size_range(const std::string& option, const std::string& text) {
  SizeRange range;
  const auto dash = text.find('-');
  if (dash == std::string::npos) {
    range.min_bytes = range.max_bytes = end_bytes(option, text, text, range);
  } else {
    if (dash + 1 == text.size()) {
      throw_bad_value(option, text, "the range has no end, which Netgauge read as 1 GiB", examples);
    }
    if (dash > 0) range.min_bytes = end_bytes(option, text, text.substr(0, dash), range);
    range.max_bytes = end_bytes(option, text, text.substr(dash + 1), range);
  }
  if (range.max_bytes < range.min_bytes) {
    throw_bad_value(option, text, "the range ends below its beginning", examples);
  }
  if (range.max_bytes > netgauges_max_bytes) {
    range.remarks.push_back(fmt::format("{}: sizes above 1 GiB are measured; Netgauge ended there", option));
  }
  return range;
}

std::vector<std::uint64_t> sizes_in(const SizeRange& range, std::uint64_t grad) {
  std::vector<std::uint64_t> sizes{range.min_bytes};
  while (sizes.back() < range.max_bytes) {
    if (sizes.size() == max_sizes) {
      throw Error(ExitStatus::bad_command_line, fmt::format("-g {} makes too many sizes", grad),
                  fmt::format("there may be {}", max_sizes), "Choose a smaller -g, or a narrower -s");
    }
    const std::uint64_t size = sizes.back();
    const auto octave = static_cast<std::uint64_t>(std::bit_width(size)) - 1;
    const std::uint64_t step = octave < grad ? 1 : std::uint64_t{1} << (octave - (grad - 1));
    sizes.push_back(std::min(size + step, range.max_bytes));
  }
  return sizes;
}

Command parse(const std::vector<std::string>& arguments) {
  const GivenOptions given = given_options(arguments);
  Command command;
  command.action = action_of(given);
  if (command.action != Action::run) return command;
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
