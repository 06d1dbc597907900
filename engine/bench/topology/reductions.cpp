// SPDX-License-Identifier: Apache-2.0
// The greatest of all ranks, element by element.
#include "bench/topology/reductions.hpp"

#include <algorithm>
#include <cstddef>

namespace leadline::bench::topology {
namespace {

constexpr std::size_t values_a_piece = 8192;

std::string greater_of_each(std::string left, std::string_view right) {
  for (std::size_t at = 0; at < left.size(); at += sizeof(double)) {
    double a = 0, b = 0;
    std::memcpy(&a, left.data() + at, sizeof a);
    std::memcpy(&b, right.data() + at, sizeof b);
    a = std::max(a, b);
    std::memcpy(left.data() + at, &a, sizeof a);
  }
  return left;
}

}  // namespace

void max_over_ranks(cluster::Cluster& cluster, std::span<double> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += values_a_piece) {
    const std::span<double> piece = values.subspan(begin, std::min(values_a_piece, values.size() - begin));
    std::string text(reinterpret_cast<const char*>(piece.data()), piece.size_bytes());
    text = cluster.all_reduce(std::move(text), greater_of_each);
    std::memcpy(piece.data(), text.data(), piece.size_bytes());
  }
}

}  // namespace leadline::bench::topology
