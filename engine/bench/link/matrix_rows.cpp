// SPDX-License-Identifier: Apache-2.0
// Reads rows in this thread while another turns them into logarithms: the HDF5 library is for one thread.
#include "bench/link/matrix_rows.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/printable.hpp"
#include "diagnosis/drift.hpp"
#include "network/parse_network.hpp"
#include "network/stored_network.hpp"
#include "result/file_kind.hpp"

namespace leadline::bench::link {
namespace {

constexpr std::int64_t rows_a_block = 32;

/// Rows as they were read.
struct Block {
  std::int64_t first = 0;
  std::vector<std::vector<double>> times_ns;
};

double logarithm(double time_ns) { return time_ns > 0 ? std::log(time_ns) : std::numeric_limits<double>::quiet_NaN(); }

/// `over_known`: as ratios over what the rows hold.
void code(Block block, bool over_known, diagnosis::DenseRows& rows) {
  std::vector<float> known;
  auto from = static_cast<std::uint32_t>(block.first);
  for (auto& values : block.times_ns) {
    for (double& value : values) value = logarithm(value);
    if (over_known) {
      rows.get(from, known);
      for (std::size_t to = 0; to < values.size(); ++to) values[to] -= static_cast<double>(known[to]);
    }
    rows.set(from++, values);
  }
}

}  // namespace

diagnosis::Layout layout_of(std::int64_t num_ranks,
                            const std::function<RankPlacement(std::int64_t rank)>& placement_of) {
  diagnosis::Layout layout;
  std::unordered_map<std::string, std::uint32_t> hosts;
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    const RankPlacement placement = placement_of(rank);
    const auto [known, is_new] = hosts.try_emplace(placement.host, static_cast<std::uint32_t>(hosts.size()));
    layout.host_of.push_back(known->second);
    layout.socket_of.push_back(placement.numa_node);
    layout.adapter_of.push_back(printable(placement.adapter, LineEnds::replaced));
    if (is_new) layout.host_names.push_back(printable(placement.host, LineEnds::replaced));
  }
  const bool knows_sockets = std::ranges::any_of(layout.socket_of, [](std::int32_t socket) { return socket >= 0; });
  if (!knows_sockets) layout.socket_of.clear();
  return layout;
}

network::Network network_for(const std::string& topology, const std::string& stored, const std::string& path,
                             const std::vector<std::string>& hosts) {
  if (!topology.empty()) return network::parse_network(topology, hosts);
  if (stored.empty()) return {};
  try {
    network::StoredNetwork found = network::stored_network(stored, hosts);
    return found.why_left_out.empty() ? std::move(found.network) : network::Network{};
  } catch (const JsonError& error) {
    result::throw_damaged(path, error.what());
  }
}

SliceRows::SliceRows(ResultReader& reader, std::size_t repeat_index, std::size_t size_index, std::size_t num_workers)
    : reader_(reader), repeat_index_(repeat_index), size_index_(size_index), num_workers_(num_workers) {}

void SliceRows::load(PairTime time, diagnosis::DenseRows& rows) {
  const bool over_known = time == &PairRecord::time_ns_mean;
  const std::int64_t num_ranks = reader_.header().num_ranks;
  std::future<void> coding;
  for (std::int64_t first = 0; first < num_ranks; first += rows_a_block) {
    Block block{first, {}};
    for (std::int64_t rank = first; rank < std::min(first + rows_a_block, num_ranks); ++rank) {
      block.times_ns.push_back(reader_.times_ns(repeat_index_, size_index_, rank, time));
    }
    if (coding.valid()) coding.get();
    coding = std::async(std::launch::async, [&rows, over_known, read = std::move(block)]() mutable {
      code(std::move(read), over_known, rows);
    });
  }
  if (coding.valid()) coding.get();
}

/// Of the partners of a rank; empty where they are unknown, or too many.
std::vector<std::int32_t> SliceRows::rounds(std::int64_t rank) {
  if (reader_.header().num_ranks > diagnosis::most_ranks_of_rounds) return {};
  return reader_.rounds(repeat_index_, rank);
}

void SliceRows::load_sparse(diagnosis::SparseRows& rows) {
  for (std::int64_t rank = 0; rank < reader_.header().num_ranks; ++rank) {
    MeasuredTimes measured = reader_.measured_ns(repeat_index_, size_index_, rank, &PairRecord::time_ns_median);
    for (double& value : measured.times_ns) value = std::log(value);
    rows.append(measured.partners, measured.times_ns, rounds(rank));
  }
}

const diagnosis::Rows& SliceRows::of(Symptom symptom) {
  const auto num_ranks = static_cast<std::uint32_t>(reader_.header().num_ranks);
  if (reader_.header().stored_rounds) {
    if (!sparse_) load_sparse(sparse_.emplace(num_ranks, num_workers_));
    return *sparse_;
  }
  if (!dense_) {
    dense_.emplace(num_ranks, num_workers_);
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      if (const auto of_rank = rounds(rank); !of_rank.empty()) dense_->set_rounds(rank, of_rank);
    }
  }
  if (loaded_ == symptom) return *dense_;
  if (loaded_ != Symptom::slow) load(&PairRecord::time_ns_median, *dense_);
  if (symptom == Symptom::unsteady) load(&PairRecord::time_ns_mean, *dense_);
  loaded_ = symptom;
  return *dense_;
}

diagnosis::Recorded recorded_retests(const ResultReader& reader, std::size_t repeat_index, std::size_t size_index) {
  const Header& header = reader.header();
  const auto is_of_slice = [&](const auto& one) {
    return one.repeat == header.repeats[repeat_index].repeat && std::cmp_equal(one.size_index, size_index);
  };
  std::vector<SecondMeasurement> measured;
  for (const MeasuredAgain& one : header.second_measurements.value_or(std::vector<MeasuredAgain>{})) {
    if (!is_of_slice(one)) continue;
    measured.push_back({static_cast<std::uint32_t>(one.from), static_cast<std::uint32_t>(one.to), one.is_alone != 0,
                        one.time_ns_median, one.time_ns_mean});
  }
  if (!header.second_measurements) {
    for (const Retest& one : header.retests.value_or(std::vector<Retest>{})) {
      if (!is_of_slice(one) || !(one.retest_time_ns > 0)) continue;
      measured.push_back({static_cast<std::uint32_t>(one.from), static_cast<std::uint32_t>(one.to), true,
                          one.retest_time_ns, std::numeric_limits<double>::quiet_NaN()});
    }
  }
  return diagnosis::recorded(measured);
}

}  // namespace leadline::bench::link
