// SPDX-License-Identifier: Apache-2.0
// Adds up sparse counts by merging sorted lists, and hands coded rows to a few threads.
#include "diagnosis/rows.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace leadline::diagnosis {
namespace {

std::string merged(const std::string& left, std::string_view right) {
  const std::vector<CountAt> a = entries_of<CountAt>(left), b = entries_of<CountAt>(right);
  std::vector<CountAt> sum;
  sum.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(sum),
             [](const CountAt& one, const CountAt& other) { return one.index < other.index; });
  std::size_t num = 0;
  for (const CountAt& one : sum) {
    if (num > 0 && sum[num - 1].index == one.index) {
      sum[num - 1].count += one.count;
    } else {
      sum[num++] = one;
    }
  }
  sum.resize(num);
  return bytes_of(std::span<const CountAt>(sum));
}

constexpr std::uint32_t rows_a_block = 16;

/// Calls work(worker, first, end) for blocks of rows until all are done; throws the first exception of any.
template <typename Work>
void in_blocks(std::uint32_t num_rows, std::size_t num_workers, const Work& work) {
  std::atomic<std::uint32_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&](std::size_t worker) {
    try {
      for (std::uint32_t first = next.fetch_add(rows_a_block); first < num_rows; first = next.fetch_add(rows_a_block)) {
        work(worker, first, std::min(first + rows_a_block, num_rows));
      }
    } catch (...) {
      const std::scoped_lock lock(failing);
      if (!failure) failure = std::current_exception();
      next = num_rows;
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t worker = 1; worker < num_workers; ++worker) others.emplace_back(run, worker);
  run(0);
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

void decode(std::span<const std::uint16_t> codes, float lowest, std::vector<float>& values) {
  values.resize(codes.size());
  std::ranges::transform(codes, values.begin(), [&](std::uint16_t code) { return LogCode::value(code, lowest); });
}

}  // namespace

void ChangedRows::visit(const std::function<void(std::size_t worker, const Row& row)>& look) const {
  std::vector<std::vector<float>> values(rows_.num_workers());
  rows_.visit([&](std::size_t worker, const Row& row) {
    std::vector<float>& own = values[worker];
    own.assign(row.values.begin(), row.values.end());
    change(row, own);
    look(worker, {row.from, row.partners, own, row.rounds});
  });
}

std::vector<CountAt> add_up_counts(const Rows& rows, std::vector<CountAt> own) {
  if (rows.is_whole()) return own;
  return entries_of<CountAt>(rows.all_reduce(bytes_of(std::span<const CountAt>(own)), merged));
}

DenseRows::DenseRows(std::uint32_t num_ranks, std::size_t num_workers, float lowest)
    : CodedRows(num_ranks, num_workers), lowest_(lowest), codes_(std::size_t{num_ranks} * num_ranks) {}

void DenseRows::set(std::uint32_t from, std::span<const double> logarithms) {
  std::ranges::transform(logarithms, codes_.begin() + std::ptrdiff_t{from} * num_ranks(),
                         [&](double logarithm) { return LogCode::of(logarithm, lowest_); });
}

void DenseRows::set_rounds(std::uint32_t from, std::span<const std::int32_t> rounds) {
  rounds_.resize(codes_.size());
  std::ranges::transform(rounds, rounds_.begin() + std::ptrdiff_t{from} * num_ranks(), round_code);
}

void DenseRows::get(std::uint32_t from, std::vector<float>& logarithms) const {
  decode(std::span(codes_).subspan(std::size_t{from} * num_ranks(), num_ranks()), lowest_, logarithms);
}

void DenseRows::visit(const std::function<void(std::size_t worker, const Row& row)>& look) const {
  std::vector<std::vector<float>> values(num_workers());
  in_blocks(num_ranks(), num_workers(), [&](std::size_t worker, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t from = first; from < end; ++from) {
      get(from, values[worker]);
      const std::span<const std::uint16_t> rounds(rounds_);
      look(worker, {from,
                    {},
                    values[worker],
                    rounds.empty() ? rounds : rounds.subspan(std::size_t{from} * num_ranks(), num_ranks())});
    }
  });
}

SparseRows::SparseRows(std::uint32_t num_ranks, std::size_t num_workers, float lowest)
    : CodedRows(num_ranks, num_workers), lowest_(lowest) {
  begin_.reserve(std::size_t{num_ranks} + 1);
}

void SparseRows::append(std::span<const std::uint32_t> partners, std::span<const double> logarithms,
                        std::span<const std::int32_t> rounds) {
  partners_.insert(partners_.end(), partners.begin(), partners.end());
  std::ranges::transform(logarithms, std::back_inserter(codes_),
                         [&](double logarithm) { return LogCode::of(logarithm, lowest_); });
  for (std::size_t index = 0; !rounds.empty() && index < partners.size(); ++index)
    rounds_.push_back(round_code(rounds[partners[index]]));
  begin_.push_back(partners_.size());
}

void SparseRows::visit(const std::function<void(std::size_t worker, const Row& row)>& look) const {
  std::vector<std::vector<float>> values(num_workers());
  const auto num_rows = static_cast<std::uint32_t>(begin_.size() - 1);
  in_blocks(num_rows, num_workers(), [&](std::size_t worker, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t from = first; from < end; ++from) {
      const std::size_t begin = begin_[from], length = begin_[from + 1] - begin;
      if (length == 0) continue;
      decode(std::span(codes_).subspan(begin, length), lowest_, values[worker]);
      const std::span<const std::uint16_t> rounds(rounds_);
      look(worker, {from, std::span(partners_).subspan(begin, length), values[worker],
                    rounds.empty() ? rounds : rounds.subspan(begin, length)});
    }
  });
}

}  // namespace leadline::diagnosis
