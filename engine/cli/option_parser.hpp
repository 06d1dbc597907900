// SPDX-License-Identifier: Apache-2.0
// The options of a command, declared once: parsing, help and defaults follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"

namespace leadline::cli {

/// Not an error: the text that --help prints.
struct HelpWanted {
  std::string text;
};

/// Declares options, then parses a command line. Members are references: they outlive the parsing, and what they hold
/// when they are declared is the default that the help shows. None but a list may be given twice. The name of an
/// option may have a short form before it: "-o,--output".
class OptionParser {
 public:
  /// Gets the long name of the option, for errors, and the text of its value.
  using Take = std::function<void(const std::string& option, const std::string& text)>;

  /// `command` as people type it: "leadline link".
  OptionParser(const std::string& command, const std::string& description, const std::string& epilogue);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  /// The options that follow have this title in the help.
  void group(const std::string& title) { group_ = title; }

  /// A positional argument, which must be given.
  void argument(const std::string& name, const std::string& help, std::string& member);

  void value(const std::string& name, const char* type, const std::string& help, const Take& take);
  /// One whose value may be left out; `take` gets an empty text then. A word that an argument needs is not taken.
  void optional_value(const std::string& name, const char* type, const std::string& help, const Take& take);
  /// One that may be given several times; `take` gets each, in order.
  void list(const std::string& name, const char* type, const std::string& help, const Take& take);
  void flag(const std::string& name, const std::string& help, bool& member);

  /// A whole number from min to max.
  void count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
             const std::function<void(std::uint64_t)>& take);
  /// `default_text` is what the help shows instead of the number: "all".
  template <class Number>
  void count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max, Number& member,
             const std::string& default_text = {}) {
    const std::string shown = default_text.empty() ? std::to_string(member) : default_text;
    count(name, with_default(help, shown), min, max,
          [&member](std::uint64_t number) { member = static_cast<Number>(number); });
  }

  /// A time of at least so many seconds.
  void seconds(const std::string& name, const std::string& help, double least_s, double& member,
               const std::string& default_text = {});
  /// A share from `least` to 1.
  void share(const std::string& name, const std::string& help, double least, double& member);
  /// A text that must not be empty; `why` says what it must be.
  void text(const std::string& name, const char* type, const std::string& help, std::string& member,
            const std::string& why);

  /// One of the values of an enum, by the names that name_of() gives them.
  template <class Value>
  void choice(const std::string& name, const std::string& help, Value& member, std::initializer_list<Value> values) {
    value(name, "NAME", with_default(help, name_of(member)),
          [&member, named = named(values)](const std::string& option, const std::string& text) {
            member = parse_choice<Value>(option, text, named);
          });
  }
  /// The same without a default.
  template <class Value>
  void choice(const std::string& name, const std::string& help, std::optional<Value>& member,
              const std::vector<Value>& values) {
    value(name, "NAME", help, [&member, named = named(values)](const std::string& option, const std::string& text) {
      member = parse_choice<Value>(option, text, named);
    });
  }

  /// argv, of which the first `num_words` are the program and the command. Throws Error(bad_command_line), which names
  /// the option that was probably meant; HelpWanted where --help stands.
  void parse(const std::vector<std::string>& arguments, std::size_t num_words = 2);

  /// Whether the command line had an option ("--fill-seed"); false for one that was not declared.
  bool is_given(const std::string& option) const;

 private:
  struct Library;

  static std::string with_default(const std::string& help, const std::string& text);

  template <class Values>
  static auto named(const Values& values) {
    std::vector<std::pair<std::string, typename Values::value_type>> choices;
    for (const auto value : values) choices.emplace_back(name_of(value), value);
    return choices;
  }

  [[noreturn]] void throw_unknown(const std::string& word) const;

  std::unique_ptr<Library> library_;
  std::string group_ = "Options";
  std::vector<std::string> names_;  ///< long names of all options
};

}  // namespace leadline::cli
