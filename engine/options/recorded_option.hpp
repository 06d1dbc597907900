// SPDX-License-Identifier: Apache-2.0
// The options of a run as a list of names and typed values: what files and reports iterate over.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

}  // namespace leadline
