// SPDX-License-Identifier: Apache-2.0
// NETTEST's letters, each with its value right behind it, and what they mean for the engine.
#include "compat/nettest/options.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <utility>

#include "compat/values.hpp"
#include "core/error.hpp"
#include "options/values.hpp"

namespace leadline::compat::nettest {
namespace {

constexpr const char* program = "nettest";
constexpr const char* where_more_is = "See nettest -h";
constexpr const char* known_letters = "umMsKRTCPo";
constexpr const char* cyrillic_c = "\xD0\xA1";  // U+0421, which NETTEST's page has for its C
constexpr std::uint64_t default_times = 1000;   // of the one example that the page gives
constexpr std::uint64_t max_times = 1'000'000'000;

/// By letter: the argument as it was typed, and its value.
struct GivenOption {
  std::string argument, value;
};
using Values = std::map<char, GivenOption>;

bool is_known(char letter) { return letter != 0 && std::string(known_letters).find(letter) != std::string::npos; }

/// The letter in its other case.
char other_case(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return static_cast<char>(std::islower(code) != 0 ? std::toupper(code) : std::tolower(code));
}

[[noreturn]] void refuse_unknown(const std::string& argument) {
  const std::string problem = fmt::format("nettest knows no argument '{}'", argument);
  if (argument.empty()) refuse(problem, "it is empty", where_more_is);
  if (argument[0] == '-') refuse(problem, "its letters have no dashes", where_more_is);
  if (is_known(other_case(argument[0]))) {
    refuse(problem, fmt::format("upper and lower case differ, and there is {}", other_case(argument[0])),
           where_more_is);
  }
  refuse(problem, "", where_more_is);
}

std::pair<char, GivenOption> taken_apart(const std::string& argument) {
  if (argument.starts_with(cyrillic_c)) return {'C', {argument, argument.substr(std::string(cyrillic_c).size())}};
  if (argument.empty() || !is_known(argument[0])) refuse_unknown(argument);
  const GivenOption given{argument, argument.substr(1)};
  if (given.value.empty() && argument != "C") {
    refuse(fmt::format("{} needs a value", argument), "it follows the letter directly, without a blank", where_more_is);
  }
  return {argument[0], given};
}

Values values_of(const std::vector<std::string>& arguments) {
  Values values;
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    const auto [letter, given] = taken_apart(arguments[at]);
    const auto [earlier, is_first] = values.try_emplace(letter, given);
    if (is_first) continue;
    refuse(fmt::format("{} is given twice", letter), fmt::format("{} and {}", earlier->second.argument, given.argument),
           "Leave one of them out");
  }
  return values;
}

std::uint64_t number(const Values& values, char letter, std::uint64_t otherwise, const NumberRange& range) {
  const auto found = values.find(letter);
  if (found == values.end()) return otherwise;
  return whole_number(std::string(1, letter), found->second.value, range);
}

template <class Value>
Value choice(const Values& values, char letter, Value otherwise,
             const std::vector<std::pair<std::string, Value>>& choices) {
  const auto found = values.find(letter);
  if (found == values.end()) return otherwise;
  std::string words;
  for (const auto& [word, value] : choices) {
    if (word == found->second.value) return value;
    words += (words.empty() ? "" : ", ") + (word.empty() ? std::string("nothing") : word);
  }
  throw_bad_value(std::string(1, letter), found->second.value, "it must be one of " + words, where_more_is);
}

Lengths lengths_of(const Values& values) {
  Lengths lengths;
  lengths.unit = choice<char>(values, 'u', 'K', {{"b", 'b'}, {"K", 'K'}, {"M", 'M'}});
  const std::uint64_t most = max_message_size_bytes / unit_bytes(lengths.unit);
  lengths.min = number(values, 'm', 1, {1, most, program});
  lengths.max = number(values, 'M', lengths.min, {1, most, program});
  lengths.multiplier = number(values, 'K', 0, {2, most, program});
  const std::uint64_t step = number(values, 's', 0, {1, most, program});
  if (lengths.multiplier == 0) lengths.step = step;
  if (lengths.max < lengths.min) {
    refuse(fmt::format("M{} is below m{}", lengths.max, lengths.min), "M is the largest length, m the first one",
           "Raise M, or lower m");
  }
  if (lengths.max > lengths.min && lengths.step == 0 && lengths.multiplier == 0) {
    refuse(fmt::format("the way from m{} to M{} is missing", lengths.min, lengths.max), "neither K nor s is given",
           "Add K2 to double the length each time, or s1 to add one unit");
  }
  return lengths;
}

/// The largest one is the last that M allows.
std::vector<std::uint64_t> sizes_bytes(const Lengths& lengths) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t length = lengths.min;;) {
    if (sizes.size() == max_lengths) {
      refuse(fmt::format("m{} to M{} are too many lengths", lengths.min, lengths.max),
             fmt::format("there may be {}", max_lengths), "Choose a larger s, or K");
    }
    sizes.push_back(length * unit_bytes(lengths.unit));
    const bool is_last = lengths.multiplier != 0 ? length > lengths.max / lengths.multiplier
                                                 : lengths.step == 0 || lengths.max - length < lengths.step;
    if (is_last) return sizes;
    length = lengths.multiplier != 0 ? length * lengths.multiplier : length + lengths.step;
  }
}

bench::topology::TopologyRequest request_of(const Values& values, const Lengths& lengths) {
  bench::topology::TopologyRequest request;
  request.transport = "mpi";
  request.strict_ranks = true;  // as NETTEST ends
  request.binding = Binding::none;
  request.patterns = {"star", "star2", "complete", "complete2", "ring", "ring2"};
  if (!choice<bool>(values, 'C', true, {{"", false}, {"0", false}, {"1", true}})) {
    request.patterns = {"star", "star2", "ring", "ring2"};
  }
  request.message_sizes_bytes = sizes_bytes(lengths);
  request.num_iterations = number(values, 'T', default_times, {1, max_times, program});
  request.num_warmup = 0;  // nor had NETTEST any, nor anything beside what it timed
  request.num_traced = 0;
  request.repeat = static_cast<int>(number(values, 'R', 1, {1, max_repeats, program}));
  request.rate = choice<bench::topology::Rate>(values, 'P', bench::topology::Rate::total,
                                               {{"average", bench::topology::Rate::average},
                                                {"avg", bench::topology::Rate::average},
                                                {"total", bench::topology::Rate::total},
                                                {"local", bench::topology::Rate::local}});
  request.format = ResultFormat::none;
  const std::uint64_t num_rows = request.message_sizes_bytes.size() * static_cast<std::uint64_t>(request.repeat);
  if (num_rows > max_rows) {
    refuse(fmt::format("R{} makes a table of {} lines", request.repeat, num_rows),
           fmt::format("it may have {}", max_rows), "Choose a smaller R, or fewer lengths");
  }
  return request;
}

}  // namespace

std::uint64_t unit_bytes(char unit) {
  if (unit == 'b') return 1;
  return unit == 'K' ? std::uint64_t{1} << 10 : std::uint64_t{1} << 20;
}

Command parse(const std::vector<std::string>& arguments) {
  Command command;
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    if (arguments[at] != "-h" && arguments[at] != "--help") continue;
    command.action = Action::help;
    return command;
  }
  if (arguments.size() < 2) {
    refuse("nettest needs to know what to measure", "there are no arguments",
           "Try mpirun -np 4 nettest uK m1 M16 K2 T1000, or see nettest -h");
  }
  const Values values = values_of(arguments);
  command.lengths = lengths_of(values);
  command.request = request_of(values, command.lengths);
  command.request.command_line = arguments;
  if (values.contains('o')) command.file = values.at('o').value;
  if (values.contains('s') && values.contains('K')) command.unused_step = values.at('s').argument;
  return command;
}

std::string usage() {
  return "Usage: nettest LETTERvalue...\n"
         "Start it in parallel: mpirun -np 4 nettest uK m1 M16 K2 R2 T1000 Ptotal, srun nettest ...\n\n"
         "This is the front end of Leadline for the command lines of NETTEST (2003): it measures what a network moves\n"
         "while MPI processes exchange messages in a star, a full graph (Chaos) and a ring, one direction of a "
         "channel\n"
         "after the other, or both at once (Star2, Chaos2, Ring2).\n\n"
         "Each value stands right behind its letter, without a blank. Upper and lower case differ.\n\n"
         "  ub, uK, uM  unit of all lengths: 1, 1024 or 1048576 bytes (default: K)\n"
         "  mN          first length, in units (default: 1)\n"
         "  MN          largest length, in units (default: that of m)\n"
         "  KN          multiply the length by N, from 2 on, each time\n"
         "  sN          add N units each time; not used where K is given\n"
         "  TN          exchanges of which the mean time is taken (default: 1000)\n"
         "  RN          run the whole test so many times (default: 1)\n"
         "  C, C0, C1   without the full graph, likewise, with it (default: C1)\n"
         "  Ptotal      print what the whole network moves, in MB/sec of 2^20 bytes (default)\n"
         "  Paverage    print the mean of a channel, both directions together; also Pavg\n"
         "  Plocal      print what one process sends and receives; of a star its centre, process 0\n"
         "  oFILE       write the table to FILE, which is replaced (default: standard output)\n"
         "  -h, --help  print this\n";
}

}  // namespace leadline::compat::nettest
