// SPDX-License-Identifier: Apache-2.0
// Adds up sparse counts by merging sorted lists.
#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {
namespace {

std::string merged(const std::string& left, std::string_view right) {
  const std::vector<CountAt> a = entries_of<CountAt>(left), b = entries_of<CountAt>(right);
  std::vector<CountAt> sum;
  sum.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(sum),
             [](const CountAt& one, const CountAt& other) { return one.place < other.place; });
  std::size_t num = 0;
  for (const CountAt& one : sum) {
    if (num > 0 && sum[num - 1].place == one.place) {
      sum[num - 1].count += one.count;
    } else {
      sum[num++] = one;
    }
  }
  sum.resize(num);
  return bytes_of(std::span<const CountAt>(sum));
}

}  // namespace

std::vector<CountAt> add_up_counts(const Rows& rows, std::vector<CountAt> own) {
  if (rows.is_whole()) return own;
  return entries_of<CountAt>(rows.all_reduce(bytes_of(std::span<const CountAt>(own)), merged));
}

}  // namespace leadline::diagnosis
