// SPDX-License-Identifier: Apache-2.0
// NETTEST's words, tabs and digits.
#include "compat/nettest/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compat/values.hpp"

namespace leadline::compat::nettest {
namespace {

constexpr double mebi = 1024.0 * 1024.0;

double mb_per_s(const bench::topology::CellSummary& summary, const bench::topology::TopologyResult& result) {
  const bench::topology::TopologyFacts& topology =
      result.topologies[static_cast<std::size_t>(summary.cell.topology_index)];
  // The mean, and the closing barrier in it: NETTEST's time of an exchange.
  const bench::topology::Rates rates =
      rates_of(topology, summary.served, summary.cell.message_size_bytes, summary.with_barrier.mean);
  switch (result.request.rate) {
    case bench::topology::Rate::local:
      return rates.local / mebi;
    case bench::topology::Rate::total:
      return rates.total / mebi;
    case bench::topology::Rate::average:
      return rates.average / mebi;
  }
  return 0;
}

/// Whose throughput it is. The one word of total is the only one that NETTEST's page shows.
const char* word_of(bench::topology::Rate rate) {
  switch (rate) {
    case bench::topology::Rate::local:
      return "node";
    case bench::topology::Rate::total:
      return "network";
    case bench::topology::Rate::average:
      return "channel";
  }
  return "";
}

std::string capitalised(std::string word) {
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

std::string title_of(const bench::topology::TopologyFacts& topology) {
  const std::string suffix = topology.mode == schedule::ChannelMode::both_ways ? "2" : "";
  switch (topology.shape) {
    case schedule::Shape::star:
      return "Star" + suffix;
    case schedule::Shape::complete:
      return "Chaos" + suffix;
    case schedule::Shape::ring:
      return "Ring" + suffix;
    default:
      return topology.name;
  }
}

std::string titles(const bench::topology::TopologyResult& result) {
  std::string text;
  for (const bench::topology::TopologyFacts& topology : result.topologies) text += "\t" + title_of(topology);
  return text + "\n";
}

std::string unit_line(char unit) {
  const std::uint64_t bytes = unit_bytes(unit);
  const std::string name = unit == 'b' ? "b" : fmt::format("{}b", unit);
  return fmt::format("\tMessage length unit is 1{} = {} byte{}\n", name, bytes, bytes == 1 ? "" : "s");
}

std::string chaos_line(const bench::topology::TopologyResult& result) {
  for (const bench::topology::TopologyFacts& topology : result.topologies) {
    if (topology.shape != schedule::Shape::complete) continue;
    return fmt::format("\tRunning chaos test with {} logical links used.\n", topology.num_channels);
  }
  return {};
}

std::string nodes_line(const std::vector<HostRanks>& hosts) {
  std::string text = "\tNodes:";
  for (const std::string& host : host_of_each_rank(hosts)) text += " " + host;
  return text + "\n";
}

class NettestProgress final : public bench::topology::Progress {
 public:
  NettestProgress(bench::topology::TopologyResult so_far, const Lengths& lengths, Outlet outlet, double& elapsed_s)
      : so_far_(std::move(so_far)), lengths_(lengths), outlet_(std::move(outlet)), elapsed_s_(elapsed_s) {
    outlet_.out(heading(lengths_, so_far_));
  }

  void cell_ends(const bench::topology::CellSummary& summary, double elapsed_s) override {
    elapsed_s_ = elapsed_s;
    row_.push_back(summary);
    if (row_.size() < so_far_.topologies.size()) return;
    outlet_.out(row(lengths_, so_far_, row_));
    row_.clear();
  }

 private:
  bench::topology::TopologyResult so_far_;
  Lengths lengths_;
  Outlet outlet_;
  double& elapsed_s_;
  std::vector<bench::topology::CellSummary> row_;
};

}  // namespace

std::string heading(const Lengths& lengths, const bench::topology::TopologyResult& so_far) {
  const bench::topology::TopologyRequest& request = so_far.request;
  std::string text = "NETTEST/MPI of 2003/07/08 is running with following parameters:\n";
  text += unit_line(lengths.unit);
  text += fmt::format("\tMessages: {} to {} units, step {}, multiplier {}\n", lengths.min, lengths.max, lengths.step,
                      lengths.multiplier);
  text += fmt::format("\t{} times for each test routine, {} iterations for whole test\n", request.num_iterations,
                      request.repeat);
  text += chaos_line(so_far);
  text += nodes_line(so_far.hosts);
  text += fmt::format("\n\t{} throughput values in MB/sec\n", capitalised(word_of(request.rate)));
  return text + fmt::format("Size,{}", lengths.unit) + titles(so_far);
}

std::string row(const Lengths& lengths, const bench::topology::TopologyResult& so_far,
                const std::vector<bench::topology::CellSummary>& cells) {
  std::string text = std::to_string(cells.front().cell.message_size_bytes / unit_bytes(lengths.unit));
  for (const bench::topology::CellSummary& cell : cells) text += fmt::format("\t{:.2f}", mb_per_s(cell, so_far));
  return text + "\n";
}

std::string ending(const bench::topology::TopologyResult& result, double elapsed_s) {
  std::vector<double> best(result.topologies.size());
  for (const bench::topology::CellSummary& summary : result.cells) {
    double& column = best[static_cast<std::size_t>(summary.cell.topology_index)];
    column = std::max(column, mb_per_s(summary, result));
  }
  std::string text = fmt::format("\nMPI Network Test complete in {:.2f} sec\n", elapsed_s);
  text += fmt::format("\n\tBest {} throughput values in MB/sec\n", word_of(result.request.rate)) + titles(result);
  for (const double value : best) text += fmt::format("\t{:.2f}", value);
  return text + "\n";
}

std::unique_ptr<bench::topology::Progress> make_progress(bench::topology::TopologyResult so_far, const Lengths& lengths,
                                                         Outlet outlet, double& elapsed_s) {
  return std::make_unique<NettestProgress>(std::move(so_far), lengths, std::move(outlet), elapsed_s);
}

}  // namespace leadline::compat::nettest
