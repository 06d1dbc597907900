// SPDX-License-Identifier: Apache-2.0
// The k slowest of many ordered pairs, kept in the memory of k.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leadline::stats {

/// An ordered pair of ranks with what it is judged by. Plain bytes, so that it may travel between ranks.
struct TimedPair {
  std::uint32_t from = 0, to = 0;
  double time_ns = 0;

  bool operator==(const TimedPair&) const = default;
};

/// Larger times first, equal ones by from and to: one order for everybody, whoever saw which pair when.
inline bool is_slower(const TimedPair& a, const TimedPair& b) {
  if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
  return a.from != b.from ? a.from < b.from : a.to < b.to;
}

/// Keeps the `capacity` slowest of all pairs added, the same ones in whichever order they come. A time that is NaN
/// was not measured and is not kept.
class Slowest {
 public:
  explicit Slowest(std::size_t capacity) : capacity_(capacity) {}

  void add(const TimedPair& pair) {
    if (capacity_ == 0 || pair.time_ns != pair.time_ns) return;
    if (heap_.size() == capacity_) {
      if (!is_slower(pair, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), is_slower);
      heap_.pop_back();
    }
    heap_.push_back(pair);
    std::push_heap(heap_.begin(), heap_.end(), is_slower);
  }

  /// As if all of them had been added here.
  void merge(std::span<const TimedPair> pairs) {
    for (const TimedPair& pair : pairs) add(pair);
  }
  void merge(const Slowest& other) {
    if (&other != this) merge(other.heap_);
  }

  std::size_t size() const { return heap_.size(); }

  /// Slowest first.
  std::vector<TimedPair> sorted() const {
    std::vector<TimedPair> result = heap_;
    std::sort(result.begin(), result.end(), is_slower);
    return result;
  }

 private:
  std::size_t capacity_;
  std::vector<TimedPair> heap_;  // the fastest of those kept in front
};

}  // namespace leadline::stats
