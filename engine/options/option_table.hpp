// SPDX-License-Identifier: Apache-2.0
// The options of a command, each declared once: parsing, help, completion, documentation and what a result records of
// them follow from it.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/named.hpp"
#include "options/values.hpp"

namespace leadline {

using OptionValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<std::uint64_t>>;

struct Option {
  std::string name;  ///< as on the command line, underscores for hyphens: "message_size"
  std::string unit;  ///< "bytes", "s"; empty = a number of things, or no number
  OptionValue value;
};

/// The name of its member in JSON: "message_size_bytes".
std::string json_name(const Option& option);

/// Option names with their values as text, in the same order; for files.
std::vector<std::pair<std::string, std::string>> options_as_text(const std::vector<Option>& options);

/// "true", "16", "0.5", "1,2,4"; an empty list is an empty text.
std::string as_text(const OptionValue& value);

class Json;

/// One option of a table. The functions set what few options have, and are called where it is declared.
struct OptionEntry {
  /// Gets the long name of the option, for errors, and the text of its value.
  using Take = std::function<void(const std::string& option, const std::string& text)>;
  enum class Values : std::uint8_t { none, one, optional, repeated };

  /// How an option depends on whether another one is given.
  struct Relation {
    enum class Kind : std::uint8_t {
      needs,           ///< without the other it would do nothing
      no_effect_with,  ///< beside the other it would do nothing
      conflicts_with,  ///< both would contradict each other
    };
    Kind kind;
    std::string other;
    std::string why;  ///< for the message, in parentheses
  };

  std::string name;        ///< "--message-size"
  std::string short_name;  ///< "-o"; empty = none
  std::string group;       ///< title in the help
  std::string value;       ///< what the help calls the value: "SIZE"; empty = a flag
  std::string help;        ///< without choices and default
  std::string default_text;
  std::vector<std::string> choices;    ///< all values that there are; empty = any
  std::vector<std::string> meanings;   ///< of the choices; empty, or as many
  std::vector<std::string> suggested;  ///< some values of many, for completion
  Values values = Values::one;
  bool is_file = false;
  Take take;
  double min = 0;                         ///< of what is recorded: above 0 = it is above 0
  double max = 0;                         ///< of what is recorded; 0 = none
  std::string unit;                       ///< of what is recorded: "bytes", "s"
  std::function<OptionValue()> recorded;  ///< what a result says of it; null = nothing
  bool is_later = false;                  ///< results of earlier versions say nothing of it
  std::vector<Relation> relations;

  /// What the help says where the value of the member does not tell: "all".
  OptionEntry& by_default(const std::string& text);
  OptionEntry& as_file();
  /// Values that completion offers, of an option that takes others, too.
  OptionEntry& suggests(const std::vector<std::string>& some);
  /// What a result says of an option whose value is read by a function of its own.
  OptionEntry& recorded_as(const std::function<OptionValue()>& current, const std::string& base_unit = {});
  /// One that came after the first version.
  OptionEntry& later();
  OptionEntry& needs(const std::string& other, const std::string& why);
  OptionEntry& no_effect_with(const std::string& other, const std::string& why);
  OptionEntry& conflicts_with(const std::string& other, const std::string& why);

  /// Help, choices with their meanings, and default: "contents: zero or ramp. Default: ramp".
  std::string full_help() const;
};

/// Declares options. Members are references: they outlive the table, and what they hold when they are declared is the
/// default. None but a list may be given twice. The name of an option may have a short form before it: "-o,--output".
class OptionTable {
 public:
  using Take = OptionEntry::Take;

  struct Argument {
    std::string name;
    std::string help;
    std::string* member;  ///< null where there may be several
    std::vector<std::string> choices;
    std::vector<std::string>* members = nullptr;
  };

  struct Missing {
    std::string name, short_name, why;
  };

  OptionTable() = default;
  OptionTable(const OptionTable&) = delete;
  OptionTable& operator=(const OptionTable&) = delete;

  /// Those that follow stand under this title in the help.
  void group(const std::string& title) { group_ = title; }

  /// What the command line must name, by its place: a file, or one of the choices.
  void argument(const std::string& name, const std::string& help, std::string& member,
                const std::vector<std::string>& choices = {});
  /// One file or more, the last of the arguments.
  void files_argument(const std::string& name, const std::string& help, std::vector<std::string>& members);

  OptionEntry& value(const std::string& name, const char* type, const std::string& help, const Take& take);
  /// One whose value may be left out; `take` gets an empty text then. A word that an argument needs is not taken.
  OptionEntry& optional_value(const std::string& name, const char* type, const std::string& help, const Take& take);
  /// One that may be given several times; `take` gets each, in order.
  OptionEntry& list(const std::string& name, const char* type, const std::string& help, const Take& take);

  OptionEntry& flag(const std::string& name, const std::string& help, bool& member);
  /// A flag that sets a member to one of its values.
  template <class Value>
  OptionEntry& flag(const std::string& name, const std::string& help, Value& member, Value set) {
    OptionEntry& entry = add(name, "", help, [&member, set](const std::string&, const std::string&) { member = set; });
    entry.values = OptionEntry::Values::none;
    entry.recorded = [&member, set] { return OptionValue(member == set); };
    return entry;
  }

  /// --quiet and --verbose, which all commands have. A command whose text or progress is of its own kind says what they
  /// do in its own words.
  void quiet_and_verbose(bool& is_quiet, bool& is_verbose, const std::string& quiet_help = {},
                         const std::string& verbose_help = {});

  /// What nearly all commands have and this one has not, for a reason that the user gets to read: "-o,--output". Where
  /// it is declared, it is taken away.
  void without(const std::string& name, const std::string& why);

  /// A whole number from min to max.
  OptionEntry& count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                     const std::function<void(std::uint64_t)>& take);
  /// `default_text` is what the help says where the number alone does not tell: "all".
  template <std::integral Number>
  OptionEntry& count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                     Number& member, const std::string& default_text = {}) {
    OptionEntry& entry =
        count(name, help, min, max, [&member](std::uint64_t number) { member = static_cast<Number>(number); });
    entry.default_text = default_text.empty() ? std::to_string(member) : default_text;
    entry.recorded = [&member] {
      if constexpr (std::signed_integral<Number>) return OptionValue(std::int64_t{member});
      return OptionValue(static_cast<std::uint64_t>(member));
    };
    return entry;
  }

  /// A time of at least so many seconds.
  OptionEntry& seconds(const std::string& name, const std::string& help, double least_s, double& member,
                       const std::string& default_text = {});
  /// A share from `least` to 1.
  OptionEntry& share(const std::string& name, const std::string& help, double least, double& member);
  /// A number of bytes from min to max.
  OptionEntry& size(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                    std::uint64_t& member, const std::string& default_text = {});
  /// A size, a list or a range of sizes, each from min to max bytes.
  OptionEntry& sizes(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                     std::vector<std::uint64_t>& member);
  /// A text; where it must not be empty, `why` says what it must be.
  OptionEntry& text(const std::string& name, const char* type, const std::string& help, std::string& member,
                    const std::string& why = {});
  /// The name of a file.
  OptionEntry& file(const std::string& name, const std::string& help, std::string& member);
  /// Words with commas between; `check` may refuse one.
  OptionEntry& words(const std::string& name, const std::string& help, std::vector<std::string>& member,
                     const Take& check);

  /// One of the values of an enum, by the names that names_of() gives them.
  template <class Value>
  OptionEntry& choice(const std::string& name, const std::string& help, Value& member) {
    const auto named = names_of(Value{});
    OptionEntry& entry =
        value(name, "NAME", help, [&member, named](const std::string& option, const std::string& text) {
          member = parse_choice<Value>(option, text, named);
        });
    set_choices(entry, named);
    entry.default_text = name_of(member);
    entry.recorded = [&member] { return OptionValue(std::string(name_of(member))); };
    return entry;
  }
  /// Some of them, with what they mean here and without a default.
  template <class Value>
  OptionEntry& choice(const std::string& name, const std::string& help, std::optional<Value>& member,
                      const std::vector<Named<Value>>& named) {
    OptionEntry& entry =
        value(name, "NAME", help, [&member, named](const std::string& option, const std::string& text) {
          member = parse_choice<Value>(option, text, named);
        });
    set_choices(entry, std::span<const Named<Value>>(named));
    return entry;
  }

  /// All of these, declared before, do nothing beside the other option.
  void no_effect_with(const std::string& other, std::initializer_list<const char*> names, const std::string& why);

  /// Throws Error(bad_command_line) where a given option does not go with the others that are given, or not given.
  void check_relations(const std::function<bool(const std::string& option)>& is_given) const;

  const std::deque<OptionEntry>& entries() const { return entries_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Missing>& missing() const { return missing_; }

  /// What a result says of the options, with the values that the members have now.
  std::vector<Option> recorded() const;

  /// The JSON Schema of what a result says of them: an object with a key for each.
  Json recorded_schema() const;

  /// Arguments and options as the analysis commands tell of theirs with --describe-options.
  Json described(const std::string& command) const;

 private:
  OptionEntry& add(const std::string& name, const std::string& value, const std::string& help, const Take& take);
  static std::string long_name(const std::string& name);   // "-o,--output" -> "--output"
  static std::string short_name(const std::string& name);  // "-o"; empty = none

  template <class Value>
  static void set_choices(OptionEntry& entry, std::span<const Named<Value>> named) {
    bool has_meaning = false;
    for (const Named<Value>& one : named) {
      entry.choices.emplace_back(one.name);
      entry.meanings.emplace_back(one.meaning);
      has_meaning = has_meaning || *one.meaning != '\0';
    }
    if (!has_meaning) entry.meanings.clear();
  }

  std::string group_ = "Options";
  std::deque<OptionEntry> entries_;
  std::vector<Argument> arguments_;
  std::vector<Missing> missing_;
};

}  // namespace leadline
