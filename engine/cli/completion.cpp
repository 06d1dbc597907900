// SPDX-License-Identifier: Apache-2.0
// One writer a shell; all three offer the same: commands, options, choices of values, and files where files are read or
// written.
#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"
#include "options/values.hpp"

namespace leadline::cli {

const std::vector<std::string> completion_shells{"bash", "zsh", "fish"};

namespace {

using Texts = std::vector<std::string>;

struct CompletedOption {
  std::string name, short_name, value, help;
  bool takes_value = false, is_value_optional = false, may_repeat = false, is_file = false;
  Texts choices, excluded;

  /// "-o --output"
  std::string both_names() const { return short_name.empty() ? name : short_name + " " + name; }
};

struct CompletedArgument {
  std::string name;
  Texts choices;  ///< empty = files
};

struct CommandWords {
  std::string name, purpose;
  std::vector<CompletedOption> options;
  std::vector<CompletedArgument> arguments;

  bool takes_files() const {
    return std::ranges::any_of(arguments, [](const CompletedArgument& argument) { return argument.choices.empty(); });
  }
  /// Of all its arguments.
  Texts choices() const {
    Texts all;
    for (const CompletedArgument& argument : arguments) {
      all.insert(all.end(), argument.choices.begin(), argument.choices.end());
    }
    return all;
  }

  std::string first_word() const { return name.substr(0, name.find(' ')); }
  std::string second_word() const { return name.find(' ') == std::string::npos ? "" : name.substr(name.find(' ') + 1); }
  /// For the name of a shell function: "simulate_link".
  std::string function_name() const {
    std::string text = name;
    std::ranges::replace_if(
        text, [](char c) { return c == ' ' || c == '-'; }, '_');
    return text;
  }
};

std::string text_in(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

bool is_true(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

Texts texts_in(const Json& json, const char* name) {
  Texts texts;
  if (const Json* const found = json.find(name); found != nullptr && found->is_array()) found->get_to(texts);
  return texts;
}

/// The beginning of a help text, for one line of a menu.
std::string menu_text(const std::string& help) {
  constexpr std::size_t width = 70;
  std::string text = help.substr(0, help.find_first_of("\n;"));
  if (text.size() > width) text = text.substr(0, text.rfind(' ', width)) + " ...";
  if (text.ends_with(':')) text.pop_back();
  return text;
}

CompletedOption option_from(const Json& json) {
  CompletedOption option;
  option.name = text_in(json, "long");
  option.short_name = text_in(json, "short");
  option.value = text_in(json, "value");
  option.help = menu_text(text_in(json, "help"));
  option.takes_value = !option.value.empty();
  option.is_value_optional = is_true(json, "value_is_optional");
  option.may_repeat = is_true(json, "may_repeat");
  option.is_file = is_true(json, "is_file");
  option.choices = texts_in(json, "choices");
  if (option.choices.empty()) option.choices = texts_in(json, "suggested");
  option.excluded = texts_in(json, "excludes");
  return option;
}

bool has_help(const CommandWords& command) {
  return std::ranges::find(command.options, "--help", &CompletedOption::name) != command.options.end();
}

CommandWords command_from(const CompletedCommand& from) {
  CommandWords command{from.name, from.purpose, {}, {}};
  if (const Json* const options = from.description.find("options")) {
    for (const Json& option : options->elements()) command.options.push_back(option_from(option));
  }
  if (!from.description.is_null() && !has_help(command)) {
    CompletedOption help;
    help.name = "--help";
    help.short_name = "-h";
    help.help = "print this help";
    command.options.push_back(help);
  }
  if (const Json* const arguments = from.description.find("arguments")) {
    for (const Json& argument : arguments->elements()) {
      command.arguments.push_back({text_in(argument, "name"), texts_in(argument, "choices")});
    }
  }
  return command;
}

/// In single quotes, for sh and zsh.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The first words of all commands, each once.
Texts first_words(const std::vector<CommandWords>& commands) {
  Texts words;
  for (const CommandWords& command : commands) {
    if (std::ranges::find(words, command.first_word()) == words.end()) words.push_back(command.first_word());
  }
  return words;
}

std::vector<const CommandWords*> kinds_of(const std::vector<CommandWords>& commands, const std::string& first_word) {
  std::vector<const CommandWords*> kinds;
  for (const CommandWords& command : commands) {
    if (command.first_word() == first_word && !command.second_word().empty()) kinds.push_back(&command);
  }
  return kinds;
}

std::string purpose_of(const std::vector<CommandWords>& commands, const std::string& first_word) {
  const std::vector<const CommandWords*> kinds = kinds_of(commands, first_word);
  if (!kinds.empty()) {
    Texts words;
    for (const CommandWords* kind : kinds) words.push_back(kind->second_word());
    return fmt::format("{}: see 'leadline help {}'", fmt::join(words, ", "), first_word);
  }
  return std::ranges::find(commands, first_word, &CommandWords::name)->purpose;
}

Texts second_words(const std::vector<CommandWords>& commands, const std::string& first_word) {
  Texts words;
  for (const CommandWords* kind : kinds_of(commands, first_word)) words.push_back(kind->second_word());
  return words;
}

// ---- bash

constexpr const char* bash_functions = R"(
_leadline() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} second=2
  local options= values= takes= files= words=
  COMPREPLY=()
  # --option=value is three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words="$_leadline_commands --help --version"
  else
    if [[ $command == help ]]; then
      command=${COMP_WORDS[2]}
      second=3
      if ((COMP_CWORD == 2)); then words=$_leadline_commands; fi
    fi
    if [[ -z $words ]]; then
      _leadline_kinds "$command"
      if [[ -n $words ]] && ((COMP_CWORD > second)); then
        command+=" ${COMP_WORDS[second]}"
        words=
      fi
      if [[ -z $words && $second == 2 ]]; then
        _leadline_options "$command"
        _leadline_values "$command $before"
        if [[ $takes == file || ($takes == optional && $current != -*) ]]; then
          files=1
        elif [[ -n $takes && $takes != optional ]]; then
          words=$values
        elif [[ $current == -* || -z $files ]]; then
          files=
          words=$options
        fi
      fi
    fi
  fi
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -F _leadline leadline
)";

std::string bash_values(const CommandWords& command) {
  std::string text;
  for (const CompletedOption& option : command.options) {
    if (!option.takes_value) continue;
    std::string patterns = quoted(command.name + " " + option.name);
    if (!option.short_name.empty()) patterns += " | " + quoted(command.name + " " + option.short_name);
    const char* const takes = option.is_value_optional ? "optional" : option.is_file ? "file" : "value";
    text += fmt::format("    {}) takes={}", patterns, takes);
    if (!option.choices.empty())
      text += fmt::format(" values={}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    text += " ;;\n";
  }
  return text;
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string kinds, options, values;
  for (const std::string& word : first_words(commands)) {
    const Texts seconds = second_words(commands, word);
    if (!seconds.empty())
      kinds += fmt::format("    {}) words={} ;;\n", word, quoted(fmt::format("{}", fmt::join(seconds, " "))));
  }
  for (const CommandWords& command : commands) {
    Texts names = command.choices();
    for (const CompletedOption& option : command.options) {
      if (!option.short_name.empty()) names.push_back(option.short_name);
      names.push_back(option.name);
    }
    const std::string all = fmt::format("{}", fmt::join(names, " "));
    options += fmt::format("    {}) options={}{} ;;\n", quoted(command.name), quoted(all),
                           command.takes_files() ? " files=1" : "");
    values += bash_values(command);
  }
  return fmt::format(
      "# bash completion for leadline, made by 'leadline completion bash'\n"
      "_leadline_commands='{} help'\n\n"
      "_leadline_kinds() {{\n  case $1 in\n{}    *) ;;\n  esac\n}}\n\n"
      "_leadline_options() {{\n  case $1 in\n{}    *) files=1 ;;\n  esac\n}}\n\n"
      "_leadline_values() {{\n  case $1 in\n{}    *) ;;\n  esac\n}}\n{}",
      fmt::join(first_words(commands), " "), kinds, options, values, bash_functions);
}

// ---- zsh

/// Inside [...] or behind a colon of a specification of _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_described(const std::string& word, const std::string& purpose) {
  return quoted(zsh_escaped(word) + ":" + zsh_escaped(purpose));
}

std::string zsh_option(const CompletedOption& option) {
  std::string action;
  if (option.takes_value) {
    const std::string values = option.is_file           ? "_files"
                               : option.choices.empty() ? " "
                                                        : fmt::format("({})", fmt::join(option.choices, " "));
    action = fmt::format("{}{}:{}", option.is_value_optional ? "::" : ":", zsh_escaped(option.value), values);
  }
  const std::string help = "[" + zsh_escaped(option.help) + "]";
  std::string excluded = option.both_names();
  for (const std::string& other : option.excluded) excluded += " " + other;
  const std::string before = option.may_repeat ? "*" : "(" + excluded + ")";
  std::string text = "    " + quoted(before + option.name + (option.takes_value ? "=" : "") + help + action) + " \\\n";
  if (!option.short_name.empty()) {
    text += "    " + quoted(before + option.short_name + (option.takes_value ? "+" : "") + help + action) + " \\\n";
  }
  return text;
}

std::string zsh_function(const CommandWords& command) {
  std::string text = fmt::format("_leadline_{}() {{\n  _arguments -S \\\n", command.function_name());
  for (const CompletedOption& option : command.options) text += zsh_option(option);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    const auto& [name, choices] = command.arguments[i];
    const std::string values = choices.empty() ? "_files" : fmt::format("({})", fmt::join(choices, " "));
    text +=
        fmt::format("    {} \\\n", quoted(fmt::format("{}:{}:{}", name.ends_with("...") ? "*" : std::to_string(i + 1),
                                                      zsh_escaped(name), values)));
  }
  return text + "    && return\n}\n\n";
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string functions, list, cases, kinds;
  for (const CommandWords& command : commands) functions += zsh_function(command);
  for (const std::string& word : first_words(commands)) {
    list += "    " + zsh_described(word, purpose_of(commands, word)) + "\n";
    const std::vector<const CommandWords*> two_words = kinds_of(commands, word);
    if (two_words.empty()) {
      const auto command = std::ranges::find(commands, word, &CommandWords::name);
      cases += fmt::format("    {}) _leadline_{} ;;\n", word, command->function_name());
      continue;
    }
    std::string words, functions_of_kinds;
    for (const CommandWords* kind : two_words) {
      words += " " + zsh_described(kind->second_word(), kind->purpose);
      functions_of_kinds += fmt::format("        {}) _leadline_{} ;;\n", kind->second_word(), kind->function_name());
    }
    cases += fmt::format(
        "    {})\n"
        "      if ((CURRENT == 2)); then\n        kinds=({})\n        _describe kind kinds\n        return\n      fi\n"
        "      shift words\n      ((CURRENT--))\n"
        "      case $words[1] in\n{}      esac\n      ;;\n",
        word, words, functions_of_kinds);
  }
  return fmt::format(
      "#compdef leadline\n"
      "# zsh completion for leadline, made by 'leadline completion zsh'\n\n"
      "{}_leadline() {{\n"
      "  local -a commands kinds\n"
      "  commands=(\n{}    'help:explain a command'\n  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  shift words\n  ((CURRENT--))\n"
      "  case $words[1] in\n"
      "    help) ((CURRENT == 2)) && _describe command commands ;;\n"
      "{}    *) _files ;;\n"
      "  esac\n"
      "}}\n\n"
      "if [[ $funcstack[1] == _leadline ]]; then\n"
      "  _leadline\n"
      "else\n"
      "  (($+functions[compdef])) || {{ autoload -Uz compinit && compinit; }}\n"
      "  compdef _leadline leadline\n"
      "fi\n",
      functions, list, cases);
}

// ---- fish

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_option(const std::string& condition, const CompletedOption& option) {
  std::string text = fmt::format("complete -c leadline -n {} -l {}", fish_quoted(condition), option.name.substr(2));
  if (!option.short_name.empty()) text += " -s " + option.short_name.substr(1);
  if (option.takes_value && !option.is_value_optional) text += option.is_file ? " -r -F" : " -x";
  if (!option.choices.empty()) text += " -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  return text + " -d " + fish_quoted(option.help) + "\n";
}

constexpr const char* fish_functions = R"(
# Whether the words behind leadline begin with these, and there is none but options behind them if --exactly.
function __leadline_begins
  set -l words (commandline -opc)
  set -e words[1]
  if test "$argv[1]" = --exactly
    set -e argv[1]
    test (count $words) -eq (count $argv); or return 1
  end
  set -l num (count $argv)
  test (count $words) -ge $num; or return 1
  for i in (seq $num)
    test "$words[$i]" = "$argv[$i]"; or return 1
  end
end

complete -c leadline -f
)";

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# fish completion for leadline, made by 'leadline completion fish'\n";
  text += fish_functions;
  const auto offer = [&](const std::string& behind, const std::string& word, const std::string& purpose) {
    text += fmt::format("complete -c leadline -n {} -a {} -d {}\n", fish_quoted("__leadline_begins --exactly" + behind),
                        word, fish_quoted(purpose));
  };
  for (const std::string& word : first_words(commands)) {
    offer("", word, purpose_of(commands, word));
    offer(" help", word, purpose_of(commands, word));
    for (const CommandWords* kind : kinds_of(commands, word)) {
      offer(" " + word, kind->second_word(), kind->purpose);
      offer(" help " + word, kind->second_word(), kind->purpose);
    }
  }
  offer("", "help", "explain a command");
  for (const char* const option : {"help", "version"}) {
    text += fmt::format("complete -c leadline -n '__leadline_begins --exactly' -l {}\n", option);
  }
  for (const CommandWords& command : commands) {
    const std::string condition = "__leadline_begins " + command.name;
    for (const std::string& choice : command.choices()) offer(" " + command.name, choice, "");
    if (command.takes_files()) text += fmt::format("complete -c leadline -n {} -F\n", fish_quoted(condition));
    for (const CompletedOption& option : command.options) text += fish_option(condition, option);
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<CompletedCommand>& commands) {
  std::vector<CommandWords> all;
  for (const CompletedCommand& command : commands) all.push_back(command_from(command));
  if (shell == "bash") return bash_script(all);
  if (shell == "zsh") return zsh_script(all);
  if (shell == "fish") return fish_script(all);
  throw_bad_value("SHELL", shell, fmt::format("there are scripts for {}", fmt::join(completion_shells, ", ")));
}

}  // namespace leadline::cli
