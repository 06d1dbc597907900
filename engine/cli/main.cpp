// SPDX-License-Identifier: Apache-2.0
// The commands of `leadline`; any other command is a program named leadline-<command>.
#include "cli/main.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "check/command.hpp"
#include "cli/benchmarks.hpp"
#include "cli/completion.hpp"
#include "cli/external.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/host_agent.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "command/run_command.hpp"
#include "core/error.hpp"
#include "output/table.hpp"

namespace leadline::cli {
namespace {

struct Command {
  const char* name;  ///< one word, or two: others with the same first word may be of another program
  const char* purpose;
  int (*run)(const std::vector<std::string>& arguments);
};

int completion_command(const std::vector<std::string>& arguments);

constexpr Command other_commands[] = {
    {"diagnose", "say which hosts, ports, links or switches of a result are slow", diagnose_command},
    {"compare", "say what became slower or faster from earlier results to a later one", compare_command},
    {"profile", "learn from good runs what the links of a site take", profile_command},
    {"simulate link", "write what a link test of a simulated machine would have measured", simulate_link_command},
    {"convert", "write a result in the other format, or a SION file without gaps", convert_command},
    {"info", "say what a result file is and what is in it", info_command},
    {"partners", "write whom each rank met in each round of a compact result", partners_command},
    {"cables", "write the cables of a physical network, for a simulation and other tools", cables_command},
    {"patterns", "write whom each rank sends to in patterns of the bisection test, for other tools", patterns_command},
    {"schema", "print the JSON Schema of a document: its keys, their types and meanings", schema_command},
    {"transports", "list the ways to move bytes, and why one is not available", transports_command},
    {"completion", "print a script with which a shell completes commands and options", completion_command},
};

constexpr Command check_of_hosts{"check", "say which hosts are bad, within a minute", check::check_command};

/// That which people ask for first, then the benchmarks.
const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list{check_of_hosts};
    for (const Benchmark& one : benchmarks()) list.push_back({one.name, one.purpose, one.run});
    list.insert(list.end(), std::begin(other_commands), std::end(other_commands));
    return list;
  }();
  return all;
}

/// Our programs in the same folder, each named leadline-<command>.
struct ExternalProgram {
  const char* name;
  const char* purpose;
};

constexpr ExternalProgram external_programs[] = {
    {"accept", "run the acceptance test of a machine: benchmarks with limits for their numbers"},
    {"history", "follow a machine over months: what changed and when, which hosts are bad how often"},
    {"report", "make a page, a sheet or a picture of a result"},
    {"view", "look at a large result in the browser"},
    {"export", "write a result for other tools: CSV, Parquet, the list of bad links"},
    {"simulate", "say what a network can do for a bisection test, and compare it with what was measured"},
    {"cost", "say what a communication pattern costs on a measured matrix, and where its ranks would cost less"},
    {"score", "put runs of the four presets of leadline io together as IO500 does"},
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
  for (const Command& command : commands()) text += fmt::format("  {:<13} {}\n", command.name, command.purpose);
  for (const std::string& name : external_commands()) text += fmt::format("  {:<13} {}\n", name, purpose_of(name));
  text +=
      "\n'leadline help COMMAND' explains a command, and so does 'leadline COMMAND --help'. 'leadline --version' "
      "prints the version.\n";
  return text;
}

int run_built_in(const Command& command, const std::vector<std::string>& arguments) {
  try {
    return command.run(arguments);
  } catch (const command::HelpWanted& wanted) {
    command::say(wanted.text);
    return 0;
  } catch (const command::DescriptionWanted& wanted) {
    Json description = wanted.description;
    description["purpose"] = command.purpose;
    command::say(description.indented() + "\n");
    return 0;
  }
}

/// What a command tells of its options.
Json description_of(const Command& command) {
  std::vector<std::string> words = words_of(command.name, ' ');
  words.insert(words.begin(), "leadline");
  words.emplace_back("--describe-options");
  try {
    command.run(words);
  } catch (const command::DescriptionWanted& wanted) {
    return wanted.description;
  }
  return nullptr;
}

/// Of a program of ours; null where it says nothing.
Json description_of(const ExternalProgram& program) {
  try {
    return Json::parse(external_description(program.name));
  } catch (const JsonError&) {
    return nullptr;
  }
}

/// Our own, the installed ones of the analysis, and other programs that are there, of whose options nothing is known.
std::vector<CompletedCommand> completed_commands() {
  std::vector<CompletedCommand> all;
  for (const Command& command : commands()) all.push_back({command.name, command.purpose, description_of(command)});
  for (const std::string& name : external_commands()) {
    const auto* const program = std::ranges::find(external_programs, name, &ExternalProgram::name);
    const Json description = program != std::end(external_programs) ? description_of(*program) : Json(nullptr);
    const Json* const full_name = description.find("command");
    all.push_back({full_name != nullptr ? full_name->get<std::string>() : name, purpose_of(name), description});
  }
  return all;
}

/// All that is known of all commands, for the documentation.
Json all_descriptions() {
  Json list = Json::array();
  for (const CompletedCommand& command : completed_commands()) {
    Json description = command.description.is_null() ? Json::object() : command.description;
    description["command"] = command.name;
    description["purpose"] = command.purpose;
    list.push_back(description);
  }
  return {{"commands", list}};
}

int completion_command(const std::vector<std::string>& arguments) {
  std::string shell;
  command::OptionParser options(
      "leadline completion",
      "Prints a script for a shell, which then completes commands, options and their values with the tab key.",
      "Install the analysis package first: its commands are completed, too, where they are there.\n"
      "Examples:\n"
      "  source <(leadline completion bash)                                       in ~/.bashrc\n"
      "  source <(leadline completion zsh)                                        in ~/.zshrc\n"
      "  leadline completion fish > ~/.config/fish/completions/leadline.fish      once");
  options.argument("SHELL", "bash, zsh or fish", shell, completion_shells);
  command::CommandOutput output;
  command::declare_output(options, output);
  options.without("--json", "a shell reads a script; leadline --describe-options has the same as JSON");
  options.parse(arguments);
  command::check_output(output);
  command::StepLog steps("leadline completion", output.verbose);
  const std::vector<CompletedCommand> completed = completed_commands();
  for (const CompletedCommand& command : completed) {
    const Json* const declared = command.description.find("options");
    steps.tell(fmt::format("{}: {}", command.name,
                           declared == nullptr ? "a program that says nothing of its options"
                                               : output::counted(declared->size(), "option")));
  }
  command::put_output(output, completion_script(shell, completed));
  return 0;
}

/// Null where no command of this program has that name, of one word or two.
const Command* built_in(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[1];
  const std::string two_words = name + " " + (arguments.size() > 2 ? arguments[2] : "");
  for (const Command& command : commands()) {
    if (name == command.name || two_words == command.name) return &command;
  }
  return nullptr;
}

std::vector<std::string> all_commands() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  for (const std::string& name : external_commands()) names.push_back(name);
  return names;
}

/// Commands of two words that begin with this one: "simulate" -> "leadline simulate link (write ...)".
std::string kinds_of(const std::string& name) {
  std::vector<std::string> kinds;
  for (const Command& command : commands()) {
    if (std::string_view(command.name).starts_with(name + " ")) {
      kinds.push_back(fmt::format("leadline {} ({})", command.name, command.purpose));
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

/// The commands of two words that begin with this one, for `leadline help simulate`.
std::string kinds_help(const std::string& name) {
  std::string text = fmt::format("There is more than one 'leadline {}':\n", name);
  for (const CompletedCommand& command : completed_commands()) {
    if (command.name.starts_with(name + " "))
      text += fmt::format("  leadline {:<20} {}\n", command.name, command.purpose);
  }
  return text + fmt::format("\n'leadline help {} KIND' explains one of them.\n", name);
}

/// The command that was probably meant: "topology" for "topo"; empty where none is near.
std::string meant_command(const std::string& word) {
  const std::vector<std::string> names = all_commands();
  const auto begun = std::ranges::find_if(names, [&](const std::string& name) { return name.starts_with(word); });
  return word.size() > 2 && begun != names.end() ? *begun : command::nearest(word, names);
}

/// For a command that there is not, neither here nor as a program.
[[noreturn]] void refuse(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[1];
  if (const std::string kinds = kinds_of(name); !kinds.empty()) {
    const std::string kind = arguments.size() > 2 ? " " + arguments[2] : "";
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no command '{}{}'", name, kind), "",
                fmt::format("There is {}; the analysis package has others", kinds));
  }
  if (std::ranges::find(external_programs, name, &ExternalProgram::name) != std::end(external_programs)) {
    throw Error(ExitStatus::something_missing,
                fmt::format("'leadline {}' is a command of the analysis package, which is not installed here", name),
                fmt::format("no program leadline-{} beside leadline or on the path", name),
                "Install it with Python 3.10 or later: docs/how-to/install.md");
  }
  const bool is_name = is_command_name(name);
  const std::string meant = meant_command(name);
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no command '{}'", name),
              is_name ? fmt::format("no program leadline-{} beside leadline or on the path", name) : "",
              meant.empty() ? "leadline --help lists the commands" : fmt::format("Did you mean leadline {}?", meant));
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.size() < 2) {
    throw Error(ExitStatus::bad_command_line, "there is no command", "",
                fmt::format("There are {}; leadline --help explains them", fmt::join(all_commands(), ", ")));
  }
  if (arguments.size() == 2 && arguments[1] == cluster::host_agent_argument) {
    return dispatch(cluster::become_rank_on_host(command::full_version()));
  }
  if (arguments.size() == 3) {
    // `leadline help simulate` and `leadline simulate --help`
    const bool is_help_first = arguments[1] == "help", is_help_last = arguments[2] == "--help" || arguments[2] == "-h";
    const std::string& asked = arguments[is_help_first ? 2 : 1];
    if ((is_help_first || is_help_last) && !kinds_of(asked).empty()) {
      command::say(kinds_help(asked));
      return 0;
    }
  }
  // `leadline help link` is `leadline link --help`.
  if (arguments[1] == "help" && arguments.size() > 2) {
    arguments.erase(arguments.begin() + 1);
    arguments.emplace_back("--help");
  }
  const std::string& name = arguments[1];
  if (name == "-h" || name == "--help" || name == "help") {
    command::say(help());
    return 0;
  }
  if (name == "-V" || name == "--version" || name == "version") {
    command::say(fmt::format("leadline {}\n", command::full_version()));
    return 0;
  }
  if (name == "--describe-options") {
    command::say(all_descriptions().indented() + "\n");
    return 0;
  }
  if (const Command* const command = built_in(arguments)) return run_built_in(*command, arguments);
  if (has_program(name)) return run_external(arguments);
  refuse(arguments);
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return command::reported(cluster::FrontEnd::leadline,
                           [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::cli
