// SPDX-License-Identifier: Apache-2.0
// The guide's table of suffixes. The old parser read 1GB as 10^10, 1.5M as 1M, and 1k as garbage.
#include "compat/mpi_io_test/sizes.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include "cli/arguments.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

struct Suffix {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array suffixes{
    Suffix{"", 1},
    Suffix{"w", 2},
    Suffix{"b", 512},
    Suffix{"KB", 1000},
    Suffix{"K", std::uint64_t{1} << 10},
    Suffix{"KiB", std::uint64_t{1} << 10},
    Suffix{"MB", 1'000'000},
    Suffix{"M", std::uint64_t{1} << 20},
    Suffix{"MiB", std::uint64_t{1} << 20},
    Suffix{"GB", 1'000'000'000},
    Suffix{"G", std::uint64_t{1} << 30},
    Suffix{"GiB", std::uint64_t{1} << 30},
    Suffix{"TB", 1'000'000'000'000},
    Suffix{"T", std::uint64_t{1} << 40},
    Suffix{"TiB", std::uint64_t{1} << 40},
};

constexpr const char* examples =
    "Write for example 65536, 64K (65536) or 64KB (64000); there are w (2), b (512), KB K MB M GB G TB T and KiB to "
    "TiB";

}  // namespace

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::result_out_of_range) cli::throw_bad_value(option, text, "it is too large", examples);
  if (problem != std::errc{}) cli::throw_bad_value(option, text, "it does not begin with a number", examples);
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  for (const Suffix& known : suffixes) {
    if (known.name != suffix) continue;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(number, known.factor, &bytes)) {
      cli::throw_bad_value(option, text, "it is too large", examples);
    }
    return bytes;
  }
  cli::throw_bad_value(option, text, "what stands behind the number is no unit", examples);
}

}  // namespace leadline::compat::mpi_io_test
