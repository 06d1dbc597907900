// SPDX-License-Identifier: Apache-2.0
// Declares options, tells of them, and says which of them a result records.
#include "options/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cctype>

#include "core/json.hpp"
#include "core/units.hpp"

namespace leadline {
namespace {

struct TextOf {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  template <typename Number>
  std::string operator()(Number value) const {
    return fmt::format("{}", value);
  }
  template <typename Number>
  std::string operator()(const std::vector<Number>& values) const {
    return fmt::format("{}", fmt::join(values, ","));
  }
};

}  // namespace

std::string json_name(const Option& option) {
  return option.unit.empty() ? option.name : option.name + "_" + option.unit;
}

std::vector<std::pair<std::string, std::string>> options_as_text(const std::vector<Option>& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Option& option : options) texts.emplace_back(option.name, as_text(option.value));
  return texts;
}

std::string as_text(const OptionValue& value) { return std::visit(TextOf{}, value); }

namespace {

/// "--message-size" -> "message_size"
std::string recorded_name(const std::string& option) {
  std::string name = option.substr(option.find_first_not_of('-'));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// As people type it: "1MiB".
std::string size_text(std::uint64_t bytes) {
  std::string text = format_bytes(bytes);
  std::erase(text, ' ');
  return text;
}

struct SchemaOf {
  Json operator()(bool) const { return {{"type", "boolean"}}; }
  Json operator()(double) const { return {{"type", "number"}}; }
  Json operator()(const std::string&) const { return {{"type", "string"}}; }
  template <std::integral Number>
  Json operator()(Number) const {
    return {{"type", "integer"}, {"minimum", 0}};
  }
  template <std::integral Number>
  Json operator()(const std::vector<Number>&) const {
    return {{"type", "array"}, {"items", (*this)(Number{})}};
  }
};

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Option option_of(const OptionEntry& entry) { return {recorded_name(entry.name), entry.unit, entry.recorded()}; }

/// The first line of the help, and what is meant where nothing is given and the value is 0 or empty.
std::string recorded_meaning(const OptionEntry& entry, const OptionValue& value) {
  std::string meaning = entry.help.substr(0, entry.help.find('\n'));
  while (meaning.ends_with(':') || meaning.ends_with('.')) meaning.pop_back();
  meaning.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning.front())));
  const std::string text = as_text(value);
  const std::string& by_default = entry.default_text;
  if (!by_default.empty() && !by_default.starts_with('0') && !by_default.starts_with('-')) {
    if (text.empty()) meaning += "; empty = " + by_default;
    if (text == "0") meaning += "; 0 = " + by_default;
  }
  return meaning + ".";
}

/// The JSON Schema of what a result says of an option.
Json schema_of(const OptionEntry& entry, const OptionValue& value) {
  Json schema = {{"description", recorded_meaning(entry, value)}};
  if (!entry.choices.empty()) {
    schema["enum"] = entry.choices;
    return schema;
  }
  const Json type = std::visit(SchemaOf{}, value);
  for (const std::string& name : type.names()) schema[name] = type.at(name);
  if (std::holds_alternative<double>(value)) {
    schema[entry.min > 0 ? "exclusiveMinimum" : "minimum"] = 0;
    if (entry.max > 0) schema["maximum"] = entry.max;
  }
  return schema;
}

Json related_json(const OptionEntry& entry, bool is_needed) {
  Json json = Json::array();
  for (const OptionEntry::Relation& relation : entry.relations) {
    if ((relation.kind == OptionEntry::Relation::Kind::needs) == is_needed) json.push_back(relation.other);
  }
  return json;
}

}  // namespace

OptionEntry& OptionEntry::by_default(const std::string& text) {
  default_text = text;
  return *this;
}

OptionEntry& OptionEntry::as_file() {
  is_file = true;
  return *this;
}

OptionEntry& OptionEntry::later() {
  is_later = true;
  return *this;
}

OptionEntry& OptionEntry::suggests(const std::vector<std::string>& some) {
  suggested = some;
  return *this;
}

OptionEntry& OptionEntry::recorded_as(const std::function<OptionValue()>& current, const std::string& base_unit) {
  recorded = current;
  unit = base_unit;
  return *this;
}

OptionEntry& OptionEntry::needs(const std::string& other, const std::string& why) {
  relations.push_back({Relation::Kind::needs, other, why});
  return *this;
}

OptionEntry& OptionEntry::no_effect_with(const std::string& other, const std::string& why) {
  relations.push_back({Relation::Kind::no_effect_with, other, why});
  return *this;
}

OptionEntry& OptionEntry::conflicts_with(const std::string& other, const std::string& why) {
  relations.push_back({Relation::Kind::conflicts_with, other, why});
  return *this;
}

std::string OptionEntry::full_help() const {
  std::string text = help;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    text += i == 0 ? ": " : i + 1 < choices.size() ? ", " : " or ";
    text += choices[i];
    if (!meanings.empty() && !meanings[i].empty()) text += fmt::format(" ({})", meanings[i]);
  }
  if (!default_text.empty()) text += ". Default: " + default_text;
  return text;
}

std::string OptionTable::long_name(const std::string& name) { return name.substr(name.rfind(',') + 1); }

std::string OptionTable::short_name(const std::string& name) {
  const std::size_t comma = name.rfind(',');
  return comma == std::string::npos ? "" : name.substr(0, comma);
}

OptionEntry& OptionTable::add(const std::string& name, const std::string& value, const std::string& help,
                              const Take& take) {
  OptionEntry& entry = entries_.emplace_back();
  entry.name = long_name(name);
  entry.short_name = short_name(name);
  entry.group = group_;
  entry.value = value;
  entry.help = help;
  entry.take = take;
  return entry;
}

void OptionTable::argument(const std::string& name, const std::string& help, std::string& member,
                           const std::vector<std::string>& choices) {
  arguments_.push_back({name, help, &member, choices});
}

void OptionTable::files_argument(const std::string& name, const std::string& help, std::vector<std::string>& members) {
  arguments_.push_back({name, help, nullptr, {}, &members});
}

OptionEntry& OptionTable::value(const std::string& name, const char* type, const std::string& help, const Take& take) {
  return add(name, type, help, take);
}

OptionEntry& OptionTable::optional_value(const std::string& name, const char* type, const std::string& help,
                                         const Take& take) {
  OptionEntry& entry = add(name, type, help, take);
  entry.values = OptionEntry::Values::optional;
  return entry;
}

OptionEntry& OptionTable::list(const std::string& name, const char* type, const std::string& help, const Take& take) {
  OptionEntry& entry = add(name, type, help, take);
  entry.values = OptionEntry::Values::repeated;
  return entry;
}

OptionEntry& OptionTable::flag(const std::string& name, const std::string& help, bool& member) {
  return flag(name, help, member, true);
}

void OptionTable::quiet_and_verbose(bool& is_quiet, bool& is_verbose, const std::string& quiet_help,
                                    const std::string& verbose_help) {
  flag("-q,--quiet", quiet_help.empty() ? "only what was asked for: no progress, no notes" : quiet_help, is_quiet);
  flag("-v,--verbose",
       verbose_help.empty() ? "tell on standard error what is done: files, libraries, decisions, times" : verbose_help,
       is_verbose)
      .later()
      .conflicts_with("--quiet", "the one wants less to be said, the other more");
}

void OptionTable::without(const std::string& name, const std::string& why) {
  missing_.push_back({long_name(name), short_name(name), why});
  std::erase_if(entries_, [&](const OptionEntry& entry) { return entry.name == long_name(name); });
}

OptionEntry& OptionTable::count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                                const std::function<void(std::uint64_t)>& take) {
  return value(name, "N", help,
               [=](const std::string& option, const std::string& text) { take(parse_count(option, text, min, max)); });
}

OptionEntry& OptionTable::seconds(const std::string& name, const std::string& help, double least_s, double& member,
                                  const std::string& default_text) {
  OptionEntry& entry =
      value(name, "TIME", help, [least_s, &member](const std::string& option, const std::string& text) {
        member = parse_seconds(option, text, least_s);
      });
  entry.default_text = default_text.empty() ? fmt::format("{:g}{}", member, member > 0 ? "s" : "") : default_text;
  return entry.recorded_as([&member] { return OptionValue(member); }, "s");
}

OptionEntry& OptionTable::share(const std::string& name, const std::string& help, double least, double& member) {
  OptionEntry& entry = value(name, "SHARE", help, [least, &member](const std::string& option, const std::string& text) {
    member = parse_share(option, text, least);
  });
  entry.min = least;
  entry.max = 1;
  entry.default_text = fmt::format("{:g}%", 100 * member);
  return entry.recorded_as([&member] { return OptionValue(member); });
}

OptionEntry& OptionTable::size(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                               std::uint64_t& member, const std::string& default_text) {
  OptionEntry& entry =
      value(name, "SIZE", help, [min, max, &member](const std::string& option, const std::string& text) {
        member = parse_size(option, text, min, max);
      });
  entry.default_text = default_text.empty() ? size_text(member) : default_text;
  return entry.recorded_as([&member] { return OptionValue(member); }, "bytes");
}

OptionEntry& OptionTable::sizes(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                                std::vector<std::uint64_t>& member) {
  OptionEntry& entry =
      value(name, "SIZE", help, [min, max, &member](const std::string& option, const std::string& text) {
        member = parse_byte_sizes(text);
        if (member.front() < min) {
          throw_bad_value(option, text, fmt::format("it must be at least {}", format_bytes(min)));
        }
        if (member.back() > max) throw_bad_value(option, text, fmt::format("it may be at most {}", format_bytes(max)));
      });
  for (const std::uint64_t bytes : member) {
    entry.default_text += (entry.default_text.empty() ? "" : ",") + size_text(bytes);
  }
  return entry.recorded_as([&member] { return OptionValue(member); }, "bytes");
}

OptionEntry& OptionTable::text(const std::string& name, const char* type, const std::string& help, std::string& member,
                               const std::string& why) {
  OptionEntry& entry = value(name, type, help, [&member, why](const std::string& option, const std::string& text) {
    if (text.empty() && !why.empty()) throw_bad_value(option, text, why);
    member = text;
  });
  return entry.recorded_as([&member] { return OptionValue(member); });
}

OptionEntry& OptionTable::file(const std::string& name, const std::string& help, std::string& member) {
  return text(name, "FILE", help, member, "it must name a file").as_file();
}

OptionEntry& OptionTable::words(const std::string& name, const std::string& help, std::vector<std::string>& member,
                                const Take& check) {
  OptionEntry& entry = value(name, "LIST", help, [&member, check](const std::string& option, const std::string& text) {
    const std::vector<std::string> list = words_of(text);
    for (const std::string& word : list) check(option, word);
    member = list;
  });
  entry.default_text = fmt::format("{}", fmt::join(member, ","));
  return entry.recorded_as([&member] { return OptionValue(fmt::format("{}", fmt::join(member, ","))); });
}

void OptionTable::no_effect_with(const std::string& other, std::initializer_list<const char*> names,
                                 const std::string& why) {
  for (const char* const name : names) {
    const auto found = std::ranges::find(entries_, name, &OptionEntry::name);
    assert(found != entries_.end());
    found->no_effect_with(other, why);
  }
}

void OptionTable::check_relations(const std::function<bool(const std::string& option)>& is_given) const {
  for (const OptionEntry& entry : entries_) {
    if (!is_given(entry.name)) continue;
    for (const OptionEntry::Relation& relation : entry.relations) {
      const bool is_other_given = is_given(relation.other);
      switch (relation.kind) {
        case OptionEntry::Relation::Kind::needs:
          if (!is_other_given) throw_no_effect(entry.name, relation.why);
          break;
        case OptionEntry::Relation::Kind::no_effect_with:
          if (is_other_given) throw_no_effect(entry.name, relation.why);
          break;
        case OptionEntry::Relation::Kind::conflicts_with:
          if (is_other_given) throw_apart(entry.name, relation.other, relation.why);
          break;
      }
    }
  }
}

std::vector<Option> OptionTable::recorded() const {
  std::vector<Option> options;
  for (const OptionEntry& entry : entries_) {
    if (entry.recorded) options.push_back(option_of(entry));
  }
  return options;
}

Json OptionTable::recorded_schema() const {
  Json required = Json::array(), properties = Json::object();
  for (const OptionEntry& entry : entries_) {
    if (!entry.recorded) continue;
    const Option option = option_of(entry);
    if (!entry.is_later) required.push_back(json_name(option));
    properties[json_name(option)] = schema_of(entry, option.value);
  }
  return {{"type", "object"}, {"required", required}, {"properties", properties}};
}

Json OptionTable::described(const std::string& command) const {
  Json arguments = Json::array(), options = Json::array();
  for (const Argument& argument : arguments_) {
    arguments.push_back({{"name", argument.name + (argument.members != nullptr ? "..." : "")},
                         {"help", argument.help},
                         {"choices", argument.choices},
                         {"is_file", argument.choices.empty()},
                         {"min", 1},
                         {"max", 1}});
  }
  for (const OptionEntry& entry : entries_) {
    const bool is_flag = entry.values == OptionEntry::Values::none;
    options.push_back({{"long", entry.name},
                       {"short", text_or_null(entry.short_name)},
                       {"value", is_flag ? Json(nullptr) : Json(entry.value)},
                       {"value_is_optional", entry.values == OptionEntry::Values::optional},
                       {"may_repeat", entry.values == OptionEntry::Values::repeated},
                       {"choices", entry.choices},
                       {"meanings", entry.meanings},
                       {"suggested", entry.suggested},
                       {"default", text_or_null(entry.default_text)},
                       {"help", entry.help},
                       {"is_file", entry.is_file},
                       {"group", entry.group},
                       {"needs", related_json(entry, true)},
                       {"excludes", related_json(entry, false)}});
  }
  Json without = Json::array();
  for (const Missing& one : missing_) without.push_back({{"long", one.name}, {"why", one.why}});
  const std::string program = "leadline ";
  const std::string name = command.starts_with(program) ? command.substr(program.size()) : command;
  return {{"command", name}, {"arguments", arguments}, {"options", options}, {"without", without}};
}

}  // namespace leadline
