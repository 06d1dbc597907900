// SPDX-License-Identifier: Apache-2.0
// Options on CLI11, which no other source includes. Errors have our grammar, and help texts fit a screen.
#include "command/option_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>

#include <CLI/CLI.hpp>

#include "core/error.hpp"

namespace leadline::command {
namespace {

/// Breaks a help text at blanks, so that it fits beside the names of the options on a screen of 110 characters.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 80;
  std::string result;
  for (std::size_t line_start = 0, at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (end - line_start > width && at > line_start) {
      result.back() = '\n';
      line_start = at;
    }
    result += text.substr(at, end - at + 1);
    if (end < text.size() && text[end] == '\n') line_start = end + 1;
    at = end + 1;
  }
  return result;
}

/// `is_set` is for a flag; CLI11 looks at what stands behind its =.
void add_to(CLI::App& app, const OptionEntry& entry, bool& is_set) {
  const std::string name = entry.short_name.empty() ? entry.name : entry.short_name + "," + entry.name;
  const std::string help = wrapped(entry.full_help());
  CLI::Option* option = nullptr;
  if (entry.values == OptionEntry::Values::none) {
    option = app.add_flag(name, is_set, help);
  } else if (entry.values == OptionEntry::Values::repeated) {
    const auto take = [&entry](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) entry.take(entry.name, text);
    };
    option = app.add_option_function<std::vector<std::string>>(name, take, help)->allow_extra_args(false);
  } else {
    const auto take = [&entry](const std::string& text) { entry.take(entry.name, text); };
    option = app.add_option_function<std::string>(name, take, help);
  }
  option->group(entry.group);
  if (entry.values != OptionEntry::Values::repeated) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  if (entry.values == OptionEntry::Values::optional) {
    option->type_name("[" + entry.value + "]")->expected(0, 1);
  } else if (entry.values != OptionEntry::Values::none) {
    option->type_name(entry.value);
  }
}

/// Earlier spellings, and those of other tools.
struct OtherName {
  const char* other;
  const char* name;
};

constexpr OtherName other_names[] = {
    {"--size", "--message-size"},
    {"--msg-size", "--message-size"},
    {"--retest-slowest", "--retest"},
    {"--max-rounds", "--rounds"},
    {"--per-host", "--active-ranks-per-host"},
    {"--per-host", "--ranks-per-host"},
    {"--ppn", "--ranks-per-host"},
    {"--slow-below", "--threshold"},
    {"--topology", "--pattern"},
    {"--network", "--topology"},
    {"--out", "--output"},
    {"--force", "--overwrite"},
    {"--silent", "--quiet"},
};

/// Letters to insert, to remove or to replace, and neighbours to swap.
std::size_t edit_distance(const std::string& one, const std::string& other) {
  std::vector<std::vector<std::size_t>> least(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = least[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      least[i][j] = std::min({replaced, least[i - 1][j] + 1, least[i][j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least.back().back();
}

/// Whether `part` ("size") is one of the words of `option` ("--message-size").
bool has_word(const std::string& option, const std::string& part) {
  return ("-" + option + "-").find("-" + part + "-") != std::string::npos;
}

}  // namespace

OptionParser::OptionParser(std::string command, std::string description, std::string epilogue)
    : command_(std::move(command)), description_(std::move(description)), epilogue_(std::move(epilogue)) {}

void OptionParser::throw_unknown(const std::string& word) const {
  const std::string option = word.substr(0, word.find('='));
  for (const Missing& one : missing()) {
    const bool is_short = !one.short_name.empty() && !word.starts_with("--") && word.starts_with(one.short_name);
    if (option != one.name && !is_short) continue;
    throw Error(ExitStatus::bad_command_line, command_ + " has no " + one.name, one.why, "Leave it out");
  }
  std::vector<std::string> names;
  for (const OptionEntry& entry : entries()) names.push_back(entry.name);
  const std::string meant = meant_option(option, names);
  throw Error(ExitStatus::bad_command_line, "unknown option " + option, "",
              meant.empty() ? "See " + command_ + " --help" : "Did you mean " + meant + "?");
}

void OptionParser::parse(const std::vector<std::string>& arguments, std::size_t num_words) {
  const auto num = static_cast<std::ptrdiff_t>(num_words);
  std::vector<std::string> words(arguments.rbegin(), arguments.rend() - num);  // CLI11 takes them last first
  if (std::ranges::find(words, "--describe-options") != words.end()) throw DescriptionWanted{described(command_)};

  CLI::App app(description_, command_);
  app.footer(epilogue_);
  app.set_help_flag("-h,--help", "print this help");
  for (const Argument& argument : OptionTable::arguments()) {
    CLI::Option* const added = argument.members != nullptr
                                   ? app.add_option(argument.name, *argument.members, wrapped(argument.help))
                                   : app.add_option(argument.name, *argument.member, wrapped(argument.help));
    added->required()->type_name("");
  }
  std::deque<bool> are_set(entries().size());  // of flags, with places that stay
  for (std::size_t i = 0; i < are_set.size(); ++i) add_to(app, entries()[i], are_set[i]);
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted{app.help()};
  } catch (const CLI::ParseError& error) {
    for (const std::string& word : app.remaining()) {
      if (word.size() > 1 && word.front() == '-') throw_unknown(word);
    }
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(ExitStatus::bad_command_line, text, "", "See " + command_ + " --help");
  }
  for (std::size_t i = 0; i < are_set.size(); ++i) {
    const OptionEntry& entry = entries()[i];
    if (are_set[i]) entry.take(entry.name, "");
    if (app.get_option(entry.name)->count() > 0) given_.insert(entry.name);
  }
  check_relations([this](const std::string& option) { return is_given(option); });
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string meant_option(const std::string& option, const std::vector<std::string>& known) {
  for (const OtherName& entry : other_names) {
    if (option == entry.other && std::ranges::find(known, entry.name) != known.end()) return entry.name;
  }
  if (std::string near = nearest(option, known); !near.empty()) return near;
  const std::size_t first_letter = option.find_first_not_of('-');
  const std::string part = first_letter == std::string::npos ? "" : option.substr(first_letter);
  const auto found =
      std::ranges::find_if(known, [&](const std::string& name) { return part.size() > 2 && has_word(name, part); });
  return found != known.end() ? *found : "";
}

}  // namespace leadline::command
