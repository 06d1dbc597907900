// SPDX-License-Identifier: Apache-2.0
// A topology test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/topology/hdf5_reader.hpp"
#include "bench/topology/output.hpp"
#include "bench/topology/plan.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/result.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::topology {

/// A topology at a size, over its repeats.
struct RepeatedCell {
  /// The repeat in the middle by its median time, of two in the middle the slower; null = never measured.
  const CellSummary* middle = nullptr;
  std::size_t num_repeats = 0;
  double time_ns_least = 0, time_ns_greatest = 0;  ///< of the repeats' medians

  /// (Greatest - least) / middle.
  double spread() const;
};

/// Refers to the result.
class TopologyCells {
 public:
  explicit TopologyCells(const TopologyResult& result);

  const RepeatedCell& at(std::size_t topology_index, std::size_t size_index) const {
    return cells_[topology_index * num_sizes_ + size_index];
  }

  /// The chosen rate at the median exchange of the middle repeat; NaN = not measured.
  double rate(std::size_t topology_index, std::size_t size_index, Rate rate) const;

  /// The same at another time of an exchange.
  double rate_at(std::size_t topology_index, std::size_t size_index, Rate rate, double time_ns) const;

  std::size_t num_topologies() const { return result_.topologies.size(); }
  std::size_t num_sizes() const { return num_sizes_; }

  /// The largest of which anything was measured; num_sizes() where nothing was.
  std::size_t largest_measured() const;

  /// Topologies by their rate at this size, the lowest first; those not measured are left out.
  std::vector<std::size_t> by_rate(std::size_t size_index, Rate rate) const;

 private:
  const TopologyResult& result_;
  std::size_t num_sizes_;
  std::vector<RepeatedCell> cells_;
};

double chosen(const Rates& rates, Rate rate);

/// For standard output, at the end: rates over size by topology; per topology the rates at the largest size with the
/// interval of the median, slowest rank, slowest channel, fairness; with --duration the load over time; findings.
/// `path`: where the result lies, empty = nowhere.
std::string topology_summary(const TopologyResult& result, const std::string& path);

/// On standard error; null with --quiet.
std::unique_ptr<Progress> make_topology_progress(const TopologyRequest& request,
                                                 const std::vector<TopologyFacts>& topologies);

/// For --dry-run.
std::string topology_plan_text(const TopologyRequest& request, const Plan& plan);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(const Hdf5Reader& reader);

/// One line a cell: exchange time and chosen rate at the median, time since the beginning, and how long it will still
/// take; units are chosen with the first line of a message size. With --duration one line a slice of load, with what
/// was verified.
std::unique_ptr<Progress> make_topology_lines(const TopologyRequest& request,
                                              const std::vector<TopologyFacts>& topologies,
                                              output::ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<Progress> make_topology_bar(const TopologyRequest& request,
                                            const std::vector<TopologyFacts>& topologies,
                                            output::ProgressOutlet outlet);

}  // namespace leadline::bench::topology
