// SPDX-License-Identifier: Apache-2.0
// Values of options as text.
#include "options/recorded_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace leadline
