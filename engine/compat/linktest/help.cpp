// SPDX-License-Identifier: Apache-2.0
// What `linktest -h` and `linktest -v` print.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "command/version.hpp"
#include "compat/linktest/layers.hpp"
#include "compat/linktest/option_table.hpp"
#include "compat/linktest/options.hpp"

namespace leadline::compat::linktest {
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
      cli::version, linktest_version);
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
