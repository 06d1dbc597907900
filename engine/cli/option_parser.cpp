// SPDX-License-Identifier: Apache-2.0
// Options on CLI11, which no other source includes. Errors have our grammar, and help texts fit a screen.
#include "cli/option_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/suggestion.hpp"
#include "core/error.hpp"

namespace leadline::cli {
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

/// "-o,--output" -> "--output"
std::string long_name(const std::string& name) { return name.substr(name.rfind(',') + 1); }

}  // namespace

struct OptionParser::Library {
  CLI::App app;

  CLI::Option* declared(CLI::Option* option, const std::string& group) {
    return option->multi_option_policy(CLI::MultiOptionPolicy::Throw)->group(group);
  }
};

OptionParser::OptionParser(const std::string& command, const std::string& description, const std::string& epilogue)
    : library_(new Library{CLI::App(description, command)}) {
  library_->app.footer(epilogue);
  library_->app.set_help_flag("-h,--help", "print this help");
}

OptionParser::~OptionParser() = default;

std::string OptionParser::with_default(const std::string& help, const std::string& text) {
  return help + ". Default: " + text;
}

void OptionParser::argument(const std::string& name, const std::string& help, std::string& member) {
  library_->app.add_option(name, member, wrapped(help))->required()->type_name("");
}

void OptionParser::value(const std::string& name, const char* type, const std::string& help, const Take& take) {
  const std::string option = long_name(name);
  names_.push_back(option);
  const auto taken = [option, take](const std::string& text) { take(option, text); };
  library_->declared(library_->app.add_option_function<std::string>(name, taken, wrapped(help)), group_)
      ->type_name(type);
}

void OptionParser::optional_value(const std::string& name, const char* type, const std::string& help,
                                  const Take& take) {
  const std::string option = long_name(name);
  names_.push_back(option);
  const auto taken = [option, take](const std::string& text) { take(option, text); };
  library_->declared(library_->app.add_option_function<std::string>(name, taken, wrapped(help)), group_)
      ->type_name(fmt::format("[{}]", type))
      ->expected(0, 1);
}

void OptionParser::list(const std::string& name, const char* type, const std::string& help, const Take& take) {
  names_.push_back(long_name(name));
  const auto taken = [name, take](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) take(name, text);
  };
  library_->app.add_option_function<std::vector<std::string>>(name, taken, wrapped(help))
      ->type_name(type)
      ->allow_extra_args(false)
      ->group(group_);
}

void OptionParser::flag(const std::string& name, const std::string& help, bool& member) {
  names_.push_back(long_name(name));
  library_->declared(library_->app.add_flag(name, member, wrapped(help)), group_);
}

void OptionParser::count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                         const std::function<void(std::uint64_t)>& take) {
  value(name, "N", help,
        [=](const std::string& option, const std::string& text) { take(parse_count(option, text, min, max)); });
}

void OptionParser::seconds(const std::string& name, const std::string& help, double least_s, double& member,
                           const std::string& default_text) {
  const std::string shown = default_text.empty() ? fmt::format("{:g}{}", member, member > 0 ? "s" : "") : default_text;
  value(name, "TIME", with_default(help, shown),
        [least_s, &member](const std::string& option, const std::string& text) {
          member = parse_seconds(option, text, least_s);
        });
}

void OptionParser::share(const std::string& name, const std::string& help, double least, double& member) {
  value(name, "SHARE", with_default(help, fmt::format("{:g}%", 100 * member)),
        [least, &member](const std::string& option, const std::string& text) {
          member = parse_share(option, text, least);
        });
}

void OptionParser::text(const std::string& name, const char* type, const std::string& help, std::string& member,
                        const std::string& why) {
  value(name, type, help, [&member, why](const std::string& option, const std::string& text) {
    if (text.empty()) throw_bad_value(option, text, why);
    member = text;
  });
}

void OptionParser::throw_unknown(const std::string& word) const {
  const std::string option = word.substr(0, word.find('='));
  const std::string meant = meant_option(option, names_);
  throw Error(ExitStatus::bad_command_line, "unknown option " + option, "",
              meant.empty() ? "See " + library_->app.get_name() + " --help" : "Did you mean " + meant + "?");
}

void OptionParser::parse(const std::vector<std::string>& arguments, std::size_t num_words) {
  const auto num = static_cast<std::ptrdiff_t>(num_words);
  std::vector<std::string> words(arguments.rbegin(), arguments.rend() - num);  // CLI11 takes them last first
  CLI::App& app = library_->app;
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
    throw Error(ExitStatus::bad_command_line, text, "", "See " + app.get_name() + " --help");
  }
}

bool OptionParser::is_given(const std::string& option) const {
  const CLI::Option* const declared = library_->app.get_option_no_throw(option);
  return declared != nullptr && declared->count() > 0;
}

}  // namespace leadline::cli
