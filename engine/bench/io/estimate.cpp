// SPDX-License-Identifier: Apache-2.0
// Sums over buffers, ranks, hosts and files.
#include "bench/io/estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/cost.hpp"
#include "bench/io/buffers.hpp"

namespace leadline::bench::io {
namespace {

/// Layout (16), whom it reads for, its name and the list that names are kept in.
constexpr double bytes_per_rank = 128;
/// Rows, histograms and the lists of slow calls while a phase goes on.
constexpr double fixed_bytes = 1 << 16;

/// From the beginning of one buffer to that of the next: each begins on a page.
double stride_of(std::uint64_t bytes) {
  const std::uint64_t num_pages = (bytes + page_bytes - 1) / page_bytes;
  return static_cast<double>(num_pages * page_bytes);
}

double ring_bytes(const IoRequest& request) {
  return stride_of(request.object_size_bytes) * static_cast<double>(ring_depth(request));
}

/// An I/O rank of a funnel makes its own objects where they are written from, and has no ring.
double io_rank_bytes(const IoRequest& request, const Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return ring_bytes(request);
  return stride_of(plan.buffer_size_bytes) * plan.num_buffers;
}

double bytes_on_fullest_host(const Plan& plan, double own, double io_rank) {
  std::vector<double> on_host(1, 0.0);
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) {
    const auto& host_of = plan.rank_layout.host_of;
    const std::size_t host = host_of.empty() ? 0 : host_of[static_cast<std::size_t>(rank)];
    if (host >= on_host.size()) on_host.resize(host + 1, 0.0);
    on_host[host] += plan.layout.is_opener(rank) ? io_rank : own;
  }
  return *std::ranges::max_element(on_host);
}

double file_bytes(const IoRequest& request, const Plan& plan) {
  if (request.no_file) return 0;
  double bytes = 0;
  for (int file = 0; file < plan.layout.num_files(); ++file) {
    bytes += static_cast<double>(std::max(plan.layout.file_size_bytes(file), request.preallocate_bytes));
  }
  return bytes;
}

double funnel_bytes(const IoRequest& request, const Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return 0;
  double num_senders = 0;
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) num_senders += plan.layout.is_opener(rank) ? 0 : 1;
  return num_senders * static_cast<double>(plan.num_objects) * static_cast<double>(request.object_size_bytes);
}

}  // namespace

Estimate estimate_of(const IoRequest& request, const Plan& plan) {
  const double tables = bytes_per_rank * plan.layout.num_ranks() + fixed_bytes;
  const double own = ring_bytes(request) + tables, io_rank = io_rank_bytes(request, plan) + tables;
  Estimate estimate;
  estimate.own_bytes = whole_bytes(own);
  estimate.io_rank_bytes = whole_bytes(io_rank);
  estimate.host_bytes = bytes_on_fullest_host(plan, own, io_rank);
  estimate.file_bytes = whole_bytes(file_bytes(request, plan));
  estimate.funnel_bytes = whole_bytes(funnel_bytes(request, plan));
  return estimate;
}

}  // namespace leadline::bench::io
