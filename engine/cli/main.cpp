// SPDX-License-Identifier: Apache-2.0
// The commands of `leadline`; any other command is a program named leadline-<command>.
#include "cli/main.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/external.hpp"
#include "cli/option_parser.hpp"
#include "cli/reporting.hpp"
#include "cli/standard_streams.hpp"
#include "cli/suggestion.hpp"
#include "cli/version.hpp"
#include "cluster/launcher.hpp"
#include "core/error.hpp"

namespace leadline::cli {
namespace {

struct Command {
  const char* name;  ///< one word, or two: others with the same first word may be of another program
  const char* purpose;
  int (*run)(const std::vector<std::string>& arguments);
};

constexpr Command commands[] = {
    {"link", "measure the link between every two ranks", link_command},
    {"topology", "measure exchanges of many ranks at once: star, all with all, ring and others", topology_command},
    {"bisection", "measure random pairs of all ranks at once: effective bisection bandwidth", bisection_command},
    {"io", "write and read files by all ranks at once, and check every byte", io_command},
    {"diagnose", "say which hosts, ports, links or switches of a result are slow", diagnose_command},
    {"compare", "say what became slower or faster from one result to another", compare_command},
    {"simulate link", "write what a link test of a simulated machine would have measured", simulate_link_command},
    {"convert", "write a result in the other format, or a SION file without gaps", convert_command},
    {"info", "say what a result file is and what is in it", info_command},
    {"transports", "list the ways to move bytes, and why one is not available", transports_command},
};

/// Our programs in the same folder, each named leadline-<command>.
struct ExternalProgram {
  const char* name;
  const char* purpose;
};

constexpr ExternalProgram external_programs[] = {
    {"report", "make a page, a sheet or a picture of a result"},
    {"view", "look at a large result in the browser"},
    {"export", "write a result for other tools: CSV, Parquet, the list of bad links"},
    {"simulate", "say what a network can do for a bisection test, and compare it with what was measured"},
    {"cost", "say what a communication pattern costs on a measured matrix, and where its ranks would cost less"},
};

std::string purpose_of(const std::string& external) {
  for (const ExternalProgram& program : external_programs) {
    if (external == program.name) return program.purpose;
  }
  return "program leadline-" + external;
}

std::string help() {
  std::string text =
      "Leadline measures a cluster's network and file system and says which host, link, switch or storage target is "
      "slow.\n\n"
      "Usage: leadline COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : commands) text += fmt::format("  {:<13} {}\n", command.name, command.purpose);
  for (const std::string& name : external_commands()) text += fmt::format("  {:<13} {}\n", name, purpose_of(name));
  text +=
      "\n'leadline help COMMAND' explains a command, and so does 'leadline COMMAND --help'. 'leadline --version' "
      "prints the version.\n";
  return text;
}

int run_built_in(const Command& command, const std::vector<std::string>& arguments) {
  try {
    return command.run(arguments);
  } catch (const HelpWanted& wanted) {
    say(wanted.text);
    return 0;
  }
}

/// Null where no command of this program has that name, of one word or two.
const Command* built_in(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[1];
  const std::string two_words = name + " " + (arguments.size() > 2 ? arguments[2] : "");
  for (const Command& command : commands) {
    if (name == command.name || two_words == command.name) return &command;
  }
  return nullptr;
}

std::vector<std::string> all_commands() {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  for (const std::string& name : external_commands()) names.push_back(name);
  return names;
}

/// Commands of two words that begin with this one: "simulate" -> "leadline simulate link (write ...)".
std::string kinds_of(const std::string& name) {
  std::vector<std::string> kinds;
  for (const Command& command : commands) {
    if (std::string_view(command.name).starts_with(name + " ")) {
      kinds.push_back(fmt::format("leadline {} ({})", command.name, command.purpose));
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

/// For an unknown command.
[[noreturn]] void refuse(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[1];
  if (const std::string kinds = kinds_of(name); !kinds.empty()) {
    const std::string kind = arguments.size() > 2 ? " " + arguments[2] : "";
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no command '{}{}'", name, kind), "",
                fmt::format("There is {}; the analysis package has others", kinds));
  }
  const bool is_name = is_command_name(name);
  const std::string meant = nearest(name, all_commands());
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no command '{}'", name),
              is_name ? fmt::format("no program leadline-{} beside leadline or on the path", name) : "",
              meant.empty() ? "leadline --help lists the commands" : fmt::format("Did you mean leadline {}?", meant));
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.size() < 2) {
    throw Error(ExitStatus::bad_command_line, "there is no command", "",
                fmt::format("There are {}; leadline --help explains them", fmt::join(all_commands(), ", ")));
  }
  // `leadline help link` is `leadline link --help`.
  if (arguments[1] == "help" && arguments.size() > 2) {
    arguments.erase(arguments.begin() + 1);
    arguments.emplace_back("--help");
  }
  const std::string& name = arguments[1];
  if (name == "-h" || name == "--help" || name == "help") {
    say(help());
    return 0;
  }
  if (name == "-V" || name == "--version" || name == "version") {
    say(fmt::format("leadline {}{}{}\n", version, *commit != '\0' ? " " : "", commit));
    return 0;
  }
  if (const Command* const command = built_in(arguments)) return run_built_in(*command, arguments);
  if (has_program(name)) return run_external(arguments);
  refuse(arguments);
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return reported(cluster::FrontEnd::leadline, [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::cli
