// SPDX-License-Identifier: Apache-2.0
// Takes settings in, and reads their values.
#include "transport/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

[[noreturn]] void refuse(const std::string& problem, const std::string& why) {
  throw Error(ExitStatus::bad_command_line, problem, why, R"("leadline transports --verbose" lists all settings)");
}

std::string names_of(std::span<const Setting> known) {
  std::string names;
  for (const Setting& setting : known) names += (names.empty() ? "" : ", ") + std::string(setting.name);
  return names.empty() ? "it has none" : "it has " + names;
}

[[noreturn]] void refuse_value(std::string_view name, const std::string& value, const std::string& why) {
  refuse(fmt::format(R"(bad value "{}" for the setting {})", value, name), why);
}

}  // namespace

Settings::Settings(std::string_view transport, std::span<const Setting> known, std::string_view argument,
                   std::span<const std::string> options) {
  if (!argument.empty()) {
    if (known.empty()) {
      refuse(fmt::format("the transport {} takes no argument", transport),
             fmt::format(R"("{}" stands behind its name)", argument));
    }
    add(transport, known, known.front().name, argument);
  }
  for (const std::string_view option : options) {
    const auto equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(fmt::format(R"(bad value "{}" for --transport-option)", option), "it must be NAME=VALUE");
    }
    add(transport, known, option.substr(0, equals), option.substr(equals + 1));
  }
}

void Settings::add(std::string_view transport, std::span<const Setting> known, std::string_view name,
                   std::string_view value) {
  if (std::none_of(known.begin(), known.end(), [&](const Setting& setting) { return name == setting.name; })) {
    refuse(fmt::format(R"(the transport {} has no setting "{}")", transport, name), names_of(known));
  }
  if (value.empty()) refuse_value(name, "", "it is empty");
  if (!given_.emplace(name, value).second) {
    refuse(fmt::format("the setting {} of the transport {} is given twice", name, transport),
           fmt::format(R"("{}" and "{}")", given_.find(name)->second, value));
  }
}

std::string Settings::text(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? "" : found->second;
}

std::optional<std::uint64_t> Settings::number(std::string_view name, std::uint64_t min, std::uint64_t max) const {
  const std::string value = text(name);
  if (value.empty()) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size() || number < min || number > max) {
    refuse_value(name, value, fmt::format("it must be a whole number from {} to {}", min, max));
  }
  return number;
}

bool Settings::is_on(std::string_view name) const {
  const std::string value = text(name);
  if (!value.empty() && value != "yes" && value != "no") refuse_value(name, value, "it must be yes or no");
  return value == "yes";
}

}  // namespace leadline::transport
