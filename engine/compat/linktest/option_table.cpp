// SPDX-License-Identifier: Apache-2.0
// LinkTest's options and their spellings, its help, and how a command line is parsed with them.
#include "compat/linktest/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "command/version.hpp"
#include "compat/linktest/layers.hpp"
#include "compat/linktest/options.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"

namespace leadline::compat::linktest {
namespace {

constexpr OptionEntry table[] = {
    {"--help", 'h', nullptr, nullptr, nullptr, "print this help; goes before all other options"},
    {"--version", 'v', nullptr, nullptr, nullptr, "print the version; goes before all others but -h"},
    {"--mode", 'm', nullptr, "VAL", nullptr, "transport; its names are listed below, and where else it may stand"},
    {"--num-warmup-messages", 'w', nullptr, "VAL", nullptr, "warm-up messages of each connection", true},
    {"--num-messages", 'n', nullptr, "VAL", nullptr, "messages that a measurement is averaged over", true},
    {"--size-messages", 's', nullptr, "VAL", nullptr, "size of a message in bytes; 16MiB is understood too", true},
    {"--output", 'o', nullptr, "VAL", "pingpong_results_bin.sion", "result file; an older one is replaced"},
    {"--no-sion-file", 0, nullptr, nullptr, nullptr, "write no result file"},
    {"--parallel-sion-file", 0, nullptr, nullptr, nullptr,
     "all tasks write to the result file; otherwise one task writes for all"},
    {"--num-slowest", 0, nullptr, "VAL", "10", "measure so many of the slowest connections again, one at a time"},
    {"--min-iterations", 0, nullptr, "VAL", "1",
     "run the whole test so many times; if not 1, there is no result file unless --output names one, which then keeps "
     "the "
     "last iteration"},
    {"--min-runtime", 0, nullptr, "VAL", "0.0",
     "repeat until so many seconds were spent in messages; if not 0, files are as with --min-iterations"},
    {"--memory-buffer-allocator", 0, "--memory_buffer_allocator", "VAL", "DEFAULT",
     "where message buffers come from: DEFAULT (POSIX aligned; GPU memory with cuda), aligned-memory_allocator, "
     "pinned-memory-map_allocator (locked), POSIX_aligned-memory_allocator, CUDA_memory_allocator, huge (huge pages)"},
    {"--all-to-all", 0, nullptr, nullptr, nullptr, "exchange messages among all tasks before and after the main test"},
    {"--unidirectional", 0, nullptr, nullptr, nullptr, "messages one way, back to back, and one receipt at the end"},
    {"--bidirectional", 0, "--bidir --bidirection --bidirictional", nullptr, nullptr,
     "two messages are bounced at once, one from each side"},
    {"--semidirectional", 0, nullptr, nullptr, nullptr, "one message is bounced: what is done anyway"},
    {"--bisection", 0, "--bisect", nullptr, nullptr,
     "only connections between the two halves of the tasks, or of the hosts with --group-processes-by-hostname"},
    {"--serial-tests", 0, "--serial --serial-testing", nullptr, nullptr, "one connection at a time"},
    {"--randomize-steps", 0, "--randomize", nullptr, nullptr, "random order of the steps"},
    {"--seed-randomize-steps", 0, nullptr, "VAL", "9876543210", "its seed, up to 64 bits"},
    {"--use-gpu-memory", 0, "--use-gpus", nullptr, nullptr, "message buffers in GPU memory"},
    {"--multi-buffer", 0, "--multi_-buffers_buf", nullptr, nullptr, "several buffers to send from and to receive into"},
    {"--num-multi-buffer", 0, "--num_multi_buf", "VAL", "2 with --multi-buffer",
     "how many: from 2 to the number of messages or of warm-up messages, whichever is greater"},
    {"--randomize-buffers", 0, nullptr, nullptr, nullptr, "fill buffers with the output of the Mersenne Twister 19937"},
    {"--seed-randomize-buffers", 0, nullptr, "VAL", "1234567890", "its seed, up to 64 bits"},
    {"--check-buffers", 0, "--check_buffers", nullptr, nullptr,
     "after each timed measurement check what arrived last in the buffers"},
    {"--num-randomize-tasks", 0, nullptr, "VAL", "0", "run the test under so many random permutations of the tasks"},
    {"--seed-randomize-tasks", 0, nullptr, "VAL", "29309775", "their seed, up to 64 bits"},
    {"--group-processes-by-hostname", 0, nullptr, nullptr, nullptr,
     "test hosts against hosts: only connections between tasks of different hosts"},
};

constexpr const char* more = "See linktest -h";

bool is_alias(const OptionEntry& entry, std::string_view word) {
  std::string_view rest = entry.aliases != nullptr ? entry.aliases : "";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == word) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool is_letter(const OptionEntry& entry, std::string_view word) {
  return entry.letter != 0 && word.size() == 2 && word[0] == '-' && word[1] == entry.letter;
}

const OptionEntry& entry_of(std::string_view word) {
  const auto* found = std::find_if(std::begin(table), std::end(table), [&](const OptionEntry& entry) {
    return entry.name == word || is_letter(entry, word) || is_alias(entry, word);
  });
  if (found != std::end(table)) return *found;
  if (word == "--mix") {
    throw Error(ExitStatus::bad_command_line, "there is no option '--mix'",
                "LinkTest 2.1 has none, and it said not how many", "Use --num-randomize-tasks 1");
  }
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no option '{}'", word), "", more);
}

}  // namespace

std::span<const OptionEntry> option_table() { return table; }

GivenOptions::GivenOptions(const std::vector<std::string>& arguments) {
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    auto [word, value] = taken_apart(arguments[at]);
    const OptionEntry& entry = entry_of(word);
    if (entry.value == nullptr && value) {
      throw Error(ExitStatus::bad_command_line, fmt::format("{} takes no value", word), fmt::format("'{}'", *value),
                  more);
    }
    if (entry.value != nullptr && !value) {
      if (++at == arguments.size()) throw Error(ExitStatus::bad_command_line, word + " needs a value", "", more);
      value = arguments[at];
    }
    if (!given_.try_emplace(entry.name, value.value_or("")).second) {
      throw Error(ExitStatus::bad_command_line, fmt::format("{} is given twice", entry.name), "",
                  "Leave one of them out");
    }
  }
}

std::optional<std::string> GivenOptions::value(const char* name) const {
  const auto found = given_.find(name);
  if (found == given_.end()) return std::nullopt;
  return found->second;
}

bool is_anywhere(const std::vector<std::string>& arguments, const char* name) {
  const OptionEntry& entry = entry_of(name);
  return std::any_of(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end(),
                     [&](const std::string& word) { return word == name || is_letter(entry, word); });
}

namespace {

constexpr const char* linktest_version = "2.1.17";

/// Breaks at blanks, each further line indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t line_width = 118;
  std::string result;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (column > indent && column + 1 + length > line_width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(at, length);
    column += length;
    at = end + 1;
  }
  return result;
}

std::string line_of(const OptionEntry& entry) {
  constexpr std::size_t help_column = 36;
  std::string names =
      entry.letter != 0 ? fmt::format("  -{}, {}", entry.letter, entry.name) : fmt::format("      {}", entry.name);
  if (entry.value != nullptr) names += fmt::format(" {}", entry.value);
  std::string help = entry.help;
  if (entry.is_required) help += " (required)";
  if (entry.otherwise != nullptr) help += fmt::format(" (default: {})", entry.otherwise);
  if (entry.aliases != nullptr) help += fmt::format(" (also: {})", entry.aliases);
  const bool fits = names.size() + 2 <= help_column;
  return names + (fits ? std::string(help_column - names.size(), ' ') : "\n" + std::string(help_column, ' ')) +
         wrapped(help, help_column) + "\n";
}

}  // namespace

std::string version_line() { return fmt::format("FZJ Linktest ({})\n", linktest_version); }

std::string help() {
  std::string text = version_line();
  text += fmt::format(
      "This is the front end of Leadline {} for the command lines of LinkTest {}: it measures the connection between\n"
      "every two tasks, in steps of pairs that run at once, and the slowest again, alone.\n\n"
      "Usage: linktest --mode VAL --num-warmup-messages VAL --num-messages VAL --size-messages VAL [options]\n"
      "Start it in parallel: mpirun -n 4 linktest ..., srun linktest ...\n\n"
      "Options:\n",
      command::version, linktest_version);
  for (const OptionEntry& entry : option_table()) text += line_of(entry);
  text += fmt::format(
      "\nTransports built in: {}\n"
      "The transport is taken from --mode, else from the program's name (linktest.LAYER), else from the variable\n"
      "LINKTEST_VCLUSTER_IMPL. 'leadline transports' says which can be used here.\n\n"
      "Environment:\n"
      "  LINKTEST_SYSTEM_NODENAME_SUFFIX   appended to the short host name before it is looked up, to choose a "
      "network\n"
      "  LINKTEST_TCP_SIZE, _RANK          number of tasks and own number, where no launcher says (not with mpi)\n"
      "  LINKTEST_TCP_IPADDR_r, _PORT_r    where task r listens, for each r written with eight digits\n\n"
      "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the way.\n"
      "What became of each option of LinkTest: docs/history.md of Leadline.\n",
      layers_here());
  return text;
}

}  // namespace leadline::compat::linktest
