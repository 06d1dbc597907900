// SPDX-License-Identifier: Apache-2.0
// The extents of grids: those that were left open are chosen as even as can be.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "core/error.hpp"
#include "schedule/topology.hpp"

namespace leadline::schedule {
namespace {

[[noreturn]] void refuse(int num_ranks, const std::vector<std::int32_t>& wanted, const std::string& hint) {
  std::vector<std::string> words;
  for (const std::int32_t extent : wanted) words.push_back(extent == 0 ? "?" : std::to_string(extent));
  const std::string grid = fmt::format("{}", fmt::join(words, " x "));
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no such grid of {} ranks", num_ranks),
              fmt::format("{} is not {}", grid, num_ranks), hint);
}

std::vector<std::int32_t> divisors_of(std::int32_t number) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t i = 1; std::int64_t{i} * i <= number; ++i) {
    if (number % i != 0) continue;
    divisors.push_back(i);
    if (number / i != i) divisors.push_back(number / i);
  }
  std::ranges::sort(divisors);
  return divisors;
}

/// Appends so many extents, none above `limit` and none above the one before it, whose product is `product`: the
/// largest as small as can be, then the next. False, with nothing appended, where there are none.
bool append_even(std::vector<std::int32_t>& extents, std::int32_t product, std::size_t num, std::int32_t limit) {
  if (num == 0) return product == 1;
  for (const std::int32_t extent : divisors_of(product)) {
    if (extent > limit) return false;
    extents.push_back(extent);
    if (append_even(extents, product / extent, num - 1, extent)) return true;
    extents.pop_back();
  }
  return false;
}

}  // namespace

std::vector<std::int32_t> grid_extents(int num_ranks, const std::vector<std::int32_t>& wanted) {
  std::int64_t product = 1;
  for (const std::int32_t extent : wanted) {
    product *= std::max(extent, 1);
    if (extent < 0 || product > num_ranks)
      refuse(num_ranks, wanted, "The product of the extents is the number of ranks");
  }
  const auto num_open = static_cast<std::size_t>(std::ranges::count(wanted, 0));
  const bool is_fine = num_ranks % product == 0 && (num_open > 0 || product == num_ranks);
  if (!is_fine) refuse(num_ranks, wanted, "The product of the extents is the number of ranks");

  const auto left = static_cast<std::int32_t>(num_ranks / product);
  std::vector<std::int32_t> chosen;
  [[maybe_unused]] const bool has_some = append_even(chosen, left, num_open, left);
  assert(has_some);
  std::vector<std::int32_t> extents = wanted;
  auto next = chosen.begin();
  for (std::int32_t& extent : extents) {
    if (extent == 0) extent = *next++;
  }
  return extents;
}

}  // namespace leadline::schedule
