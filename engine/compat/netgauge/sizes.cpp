// SPDX-License-Identifier: Apache-2.0
// Netgauge read digits only, and nothing else in silence; here units count, and what is missing is told.
#include "compat/netgauge/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cli/arguments.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::compat::netgauge {
namespace {

constexpr const char* examples = "Write for example -s 4096, -s 1024-65536, -s -1M or -s 1M-1M";
constexpr std::uint64_t netgauges_max_bytes = std::uint64_t{1} << 30;

/// One end of the range, out of `text`, the whole of it.
std::uint64_t end_bytes(const std::string& option, const std::string& text, const std::string& end, SizeRange& range) {
  std::uint64_t bytes = 0;
  try {
    bytes = parse_bytes(end);
  } catch (const Error& error) {
    cli::throw_bad_value(option, text, error.problem() + (error.why().empty() ? "" : ": " + error.why()), examples);
  }
  if (bytes == 0 || bytes > max_message_size_bytes) {
    cli::throw_bad_value(option, text, "a message must have from 1 B to 1 TiB", examples);
  }
  if (end.find_first_not_of("0123456789") != std::string::npos) {
    const std::string remark = fmt::format("{}: {} is {} bytes; Netgauge knew no units", option, end, bytes);
    if (range.remarks.empty() || range.remarks.back() != remark) range.remarks.push_back(remark);
  }
  return bytes;
}

}  // namespace

SizeRange size_range(const std::string& option, const std::string& text) {
  SizeRange range;
  const auto dash = text.find('-');
  if (dash == std::string::npos) {
    range.min_bytes = range.max_bytes = end_bytes(option, text, text, range);
  } else {
    if (dash + 1 == text.size()) {
      cli::throw_bad_value(option, text, "the range has no end, which Netgauge read as 1 GiB", examples);
    }
    if (dash > 0) range.min_bytes = end_bytes(option, text, text.substr(0, dash), range);
    range.max_bytes = end_bytes(option, text, text.substr(dash + 1), range);
  }
  if (range.max_bytes < range.min_bytes) {
    cli::throw_bad_value(option, text, "the range ends below its beginning", examples);
  }
  if (range.max_bytes > netgauges_max_bytes) {
    range.remarks.push_back(fmt::format("{}: sizes above 1 GiB are measured; Netgauge ended there", option));
  }
  return range;
}

std::vector<std::uint64_t> sizes_in(const SizeRange& range, std::uint64_t grad) {
  std::vector<std::uint64_t> sizes{range.min_bytes};
  while (sizes.back() < range.max_bytes) {
    if (sizes.size() == max_sizes) {
      throw Error(ExitStatus::bad_command_line, fmt::format("-g {} makes too many sizes", grad),
                  fmt::format("there may be {}", max_sizes), "Choose a smaller -g, or a narrower -s");
    }
    const std::uint64_t size = sizes.back();
    const auto octave = static_cast<std::uint64_t>(std::bit_width(size)) - 1;
    const std::uint64_t step = octave < grad ? 1 : std::uint64_t{1} << (octave - (grad - 1));
    sizes.push_back(std::min(size + step, range.max_bytes));
  }
  return sizes;
}

}  // namespace leadline::compat::netgauge
