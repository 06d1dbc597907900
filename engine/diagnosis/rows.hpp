// SPDX-License-Identifier: Apache-2.0
// The numbers that a diagnosis works on, row by row: each rank with its own, or all in this process, coded in two
// bytes a pair.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::diagnosis {

/// What one rank measured towards others: logarithms, of nanoseconds or of a ratio. NaN = not measured.
struct Row {
  std::uint32_t from = 0;
  std::span<const std::uint32_t> partners{};  ///< of each value; empty = values[k] belongs to rank k
  std::span<const float> values{};
  std::span<const std::uint16_t> rounds{};  ///< of each value, from 1 in the order of time; 0 = none; empty = unknown

  std::uint32_t partner(std::size_t index) const {
    return partners.empty() ? static_cast<std::uint32_t>(index) : partners[index];
  }
};

/// A matrix by rows. Every function is collective over the holders of rows.
class Rows {
 public:
  Rows() = default;
  virtual ~Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  virtual std::uint32_t num_ranks() const = 0;

  /// Threads that visit() uses; their numbers are below it.
  virtual std::size_t num_workers() const = 0;

  /// Shows every row of this process once; its spans are valid until `look` returns. Each worker is one thread.
  virtual void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const = 0;

  /// Whether all rows are in this process, so that nothing has to be combined.
  virtual bool is_whole() const = 0;

  /// The sum of all holders' texts under `combine` (associative and commutative), the same for all.
  virtual std::string all_reduce(
      std::string own, const std::function<std::string(std::string left, std::string_view right)>& combine) const = 0;
};

/// Entries (plain data) as bytes, and back.
template <typename Entry>
std::string bytes_of(std::span<const Entry> entries) {
  std::string text(entries.size_bytes(), '\0');
  if (!entries.empty()) std::memcpy(text.data(), entries.data(), text.size());
  return text;
}

template <typename Entry>
std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries(text.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), text.data(), text.size());
  return entries;
}

/// Other rows with some of their values changed. They outlive it.
class ChangedRows : public Rows {
 public:
  explicit ChangedRows(const Rows& rows) : rows_(rows) {}

  std::uint32_t num_ranks() const override { return rows_.num_ranks(); }
  std::size_t num_workers() const override { return rows_.num_workers(); }
  bool is_whole() const override { return rows_.is_whole(); }
  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string, std::string_view)>& combine) const override {
    return rows_.all_reduce(std::move(own), combine);
  }
  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

 private:
  /// `values`: those of the row, to be changed in place.
  virtual void change(const Row& row, std::span<float> values) const = 0;

  const Rows& rows_;
};

/// Collective: the sums of all holders' numbers, element by element, in place.
template <typename Number>
void add_up(const Rows& rows, std::span<Number> numbers) {
  if (rows.is_whole()) return;
  std::string own = bytes_of(std::span<const Number>(numbers));
  const std::string sum = rows.all_reduce(std::move(own), [](std::string left, std::string_view right) {
    for (std::size_t at = 0; at < left.size(); at += sizeof(Number)) {
      Number a, b;
      std::memcpy(&a, left.data() + at, sizeof a);
      std::memcpy(&b, right.data() + at, sizeof b);
      a += b;
      std::memcpy(left.data() + at, &a, sizeof a);
    }
    return left;
  });
  if (!numbers.empty()) std::memcpy(numbers.data(), sum.data(), sum.size());
}

/// A count at an index of a long list.
struct CountAt {
  std::uint64_t index = 0;
  std::uint64_t count = 0;
};

/// Collective: the sums of all holders' counts, by index; `own` is sorted by index. For long lists that are mostly 0.
std::vector<CountAt> add_up_counts(const Rows& rows, std::vector<CountAt> own);

/// Collective: all holders' entries (plain data), in no particular order.
template <typename Entry>
std::vector<Entry> gather_all(const Rows& rows, const std::vector<Entry>& own) {
  if (rows.is_whole()) return own;
  return entries_of<Entry>(rows.all_reduce(
      bytes_of(std::span(own)), [](std::string left, std::string_view right) { return left.append(right); }));
}

/// Collective: the first `most` of all holders' entries (plain data) in a total order, sorted.
template <typename Entry, typename Before>
std::vector<Entry> gather_first(const Rows& rows, std::vector<Entry> own, std::size_t most, const Before& before) {
  const auto first = [&](std::vector<Entry>& entries) {
    const std::size_t kept = std::min(entries.size(), most);
    std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end(), before);
    entries.resize(kept);
  };
  first(own);
  if (rows.is_whole()) return own;
  return entries_of<Entry>(
      rows.all_reduce(bytes_of(std::span<const Entry>(own)), [&](std::string left, std::string_view right) {
        std::vector<Entry> entries = entries_of<Entry>(left.append(right));
        first(entries);
        return bytes_of(std::span<const Entry>(entries));
      }));
}

/// Logarithms in steps of 1/2047 (0.05 %), from `lowest` to 32 above it; 0 = none. What lies outside is moved to the
/// end.
struct LogCode {
  static constexpr float steps = 2047;
  static constexpr float of_times = -2;   ///< lowest: of ns, and of mean over median; up to 3 hours
  static constexpr float of_ratios = -8;  ///< lowest: of ns up to 26 s, and of ratios from 1/2981

  static std::uint16_t of(double logarithm, float lowest = of_times) {
    if (!std::isfinite(logarithm)) return 0;
    const double code = 1.5 + (logarithm - static_cast<double>(lowest)) * static_cast<double>(steps);  // to be cut off
    return static_cast<std::uint16_t>(std::clamp(code, 1.0, 65'535.0));
  }
  static float value(std::uint16_t code, float lowest = of_times) {
    const float logarithm = lowest + (static_cast<float>(code) - 1) * (1 / steps);
    return code == 0 ? NAN : logarithm;
  }
};

/// A round's number as rows keep it; 0 = none, or too large.
inline std::uint16_t round_code(std::int32_t round) {
  return round > 0 && round <= UINT16_MAX ? static_cast<std::uint16_t>(round) : 0;
}

/// Rows that are all in this process.
class CodedRows : public Rows {
 public:
  std::uint32_t num_ranks() const override { return num_ranks_; }
  std::size_t num_workers() const override { return num_workers_; }
  bool is_whole() const override { return true; }
  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string, std::string_view)>&) const override {
    return own;
  }

 protected:
  CodedRows(std::uint32_t num_ranks, std::size_t num_workers) : num_ranks_(num_ranks), num_workers_(num_workers) {}

 private:
  std::uint32_t num_ranks_;
  std::size_t num_workers_;
};

/// All pairs of N ranks. Rows may be set by several threads, each its own.
class DenseRows final : public CodedRows {
 public:
  DenseRows(std::uint32_t num_ranks, std::size_t num_workers, float lowest = LogCode::of_times);

  /// `logarithms` has an element for every rank.
  void set(std::uint32_t from, std::span<const double> logarithms);

  /// The rounds in which `from` met the others, by rank; 0 = in none. Of all ranks or of none.
  void set_rounds(std::uint32_t from, std::span<const std::int32_t> rounds);

  /// What was set, in steps; NaN where there is nothing.
  void get(std::uint32_t from, std::vector<float>& logarithms) const;

  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

 private:
  float lowest_;
  std::vector<std::uint16_t> codes_;
  std::vector<std::uint16_t> rounds_;  ///< empty = unknown
};

/// Some pairs of N ranks. Rows are appended in the order of the ranks, by one thread.
class SparseRows final : public CodedRows {
 public:
  SparseRows(std::uint32_t num_ranks, std::size_t num_workers, float lowest = LogCode::of_times);

  /// The next rank's values; `partners` and `logarithms` are as long. `rounds`: see DenseRows; empty = unknown.
  void append(std::span<const std::uint32_t> partners, std::span<const double> logarithms,
              std::span<const std::int32_t> rounds = {});

  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

 private:
  float lowest_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> partners_;
  std::vector<std::uint16_t> codes_;
  std::vector<std::uint16_t> rounds_;  ///< of each value; empty = unknown
};

}  // namespace leadline::diagnosis
