// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints of a topology test: which channels there would be, and what it would cost.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/units.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"
#include "output/topology_text.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_topologies = 40;
constexpr int most_ranks_drawn = 16;
constexpr std::size_t most_topologies_in_full = 8;

std::string each_cell(const TopologyRequest& request) {
  if (request.duration_s > 0) {
    return fmt::format("Load for {}, topology after topology; every {}exchange is verified\n",
                       format_duration(request.duration_s),
                       request.verify_every > 1 ? fmt::format("{}th ", request.verify_every) : "");
  }
  std::string text = fmt::format("Each: {} after {} for warm-up", counted(request.num_iterations, "timed exchange"),
                                 request.num_warmup);
  if (request.num_traced > 0) text += fmt::format(", {} traced", request.num_traced);
  if (request.verify) text += fmt::format(", {} verified", request.num_iterations);
  return text + "\n";
}

std::string table_of_topologies(const bench::topology::Plan& plan) {
  Table table({{"topology", Align::left}, {"messages", Align::left}, {"channels"}, {"of the busiest rank"}});
  for (std::size_t i = 0; i < std::min(plan.topologies.size(), most_topologies); ++i) {
    const schedule::Topology& topology = plan.topologies[i];
    table.add_row({topology.spec().name, schedule::name_of(topology.spec().mode),
                   std::to_string(topology.num_channels()), std::to_string(topology.max_channels())});
  }
  std::string text = table.text();
  if (plan.topologies.size() > most_topologies) {
    text += fmt::format("  ... and {} more\n", plan.topologies.size() - most_topologies);
  }
  return text;
}

/// Every channel of a few ranks, the rank that starts first.
std::string channels_in_full(const bench::topology::Plan& plan) {
  if (plan.rank_layout.num_ranks > most_ranks_drawn || plan.topologies.size() > most_topologies_in_full) return "";
  std::string text = "Channels (the first of a pair starts):\n";
  for (const schedule::Topology& topology : plan.topologies) {
    text += fmt::format("  {}:", topology.spec().name);
    for (int rank = 0; rank < plan.rank_layout.num_ranks; ++rank) {
      for (const schedule::Channel& channel : topology.channels(rank)) {
        if (channel.starts) text += fmt::format(" {}-{}", rank, channel.partner);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string topology_plan_text(const TopologyRequest& request, const bench::topology::Plan& plan) {
  const auto num_ranks = static_cast<std::uint64_t>(plan.rank_layout.num_ranks);
  std::string text =
      fmt::format("Topology test of {}: {} x {} x {}\n", counted(num_ranks, "rank"),
                  plan.topologies.size() == 1 ? "1 topology" : fmt::format("{} topologies", plan.topologies.size()),
                  counted(request.message_sizes_bytes.size(), "message size"),
                  counted(static_cast<std::uint64_t>(request.repeat), "repeat"));
  text += each_cell(request) + table_of_topologies(plan) + channels_in_full(plan);
  const bench::topology::Estimate& estimate = plan.estimate;
  text += estimate_head(estimate.assumption);
  text += fmt::format("  time      {}\n", format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} for message buffers of the busiest rank, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}\n", about_bytes(estimate.file_bytes));
  return text;
}

}  // namespace leadline::output
