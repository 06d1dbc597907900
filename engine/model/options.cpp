// SPDX-License-Identifier: Apache-2.0
// The one list that pairs the members of a request with the names of their options.
#include "model/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace leadline {

std::vector<Option> options_of(const LinkRequest& request) {
  const auto integer = [](auto value) { return OptionValue(static_cast<std::int64_t>(value)); };
  return {
      {"transport", "", request.transport},
      {"interface", "", request.interface},
      {"local", "", integer(request.num_local)},
      {"message_size", "bytes", request.message_sizes_bytes},
      {"messages", "", request.num_messages},
      {"warmup", "", request.num_warmup},
      {"batches", "", integer(request.num_batches)},
      {"window", "", integer(request.window)},
      {"direction", "", std::string(name_of(request.direction))},
      {"serial", "", request.serial},
      {"rounds", "", request.rounds},
      {"shuffle_rounds", "", request.shuffle_rounds},
      {"shuffle_ranks", "", integer(request.shuffle_ranks)},
      {"seed", "", request.seed},
      {"repeat", "", integer(request.repeat)},
      {"min_time", "s", request.min_time_s},
      {"retest_slowest", "", integer(request.retest_slowest)},
      {"allocator", "", request.allocator},
      {"fill", "", std::string(name_of(request.fill))},
      {"verify", "", request.verify},
      {"wait", "", std::string(name_of(request.wait))},
      {"timeout", "s", request.timeout_s},
      {"output", "", request.output},
      {"format", "", std::string(name_of(request.format))},
      {"overwrite", "", request.overwrite},
      {"quiet", "", request.quiet},
      {"dry_run", "", request.dry_run},
      {"ranks", "", integer(request.dry_run_ranks)},
  };
}

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

std::string as_text(const OptionValue& value) { return std::visit(TextOf{}, value); }

}  // namespace leadline
