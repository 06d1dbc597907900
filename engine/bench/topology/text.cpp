// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints of a topology test, its progress, and what `leadline info` says of its file.
#include "bench/topology/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "bench/plan.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::topology {
namespace {

RepeatedCell brought_together(std::vector<const CellSummary*>& repeats) {
  RepeatedCell cell;
  cell.num_repeats = repeats.size();
  if (repeats.empty()) return cell;
  std::sort(repeats.begin(), repeats.end(),
            [](const auto* one, const auto* other) { return one->exchange.median < other->exchange.median; });
  cell.middle = repeats[repeats.size() / 2];
  cell.time_ns_least = repeats.front()->exchange.median;
  cell.time_ns_greatest = repeats.back()->exchange.median;
  return cell;
}

constexpr std::size_t most_topologies = 40;
constexpr int most_ranks_drawn = 16;
constexpr std::size_t most_topologies_in_full = 8;

std::string each_cell(const TopologyRequest& request) {
  if (request.duration_s > 0) {
    return fmt::format("Load for {}, topology after topology; every {}exchange is verified\n",
                       output::format_duration(request.duration_s),
                       request.verify_every > 1 ? fmt::format("{}th ", request.verify_every) : "");
  }
  std::string text = fmt::format("Each: {} after {} for warm-up",
                                 output::counted(request.num_iterations, "timed exchange"), request.num_warmup);
  if (request.num_traced > 0) text += fmt::format(", {} traced", request.num_traced);
  if (request.verify) text += fmt::format(", {} verified", request.num_iterations);
  return text + "\n";
}

std::string table_of_topologies(const Plan& plan) {
  output::Table table(
      {{"topology", output::Align::left}, {"messages", output::Align::left}, {"channels"}, {"of the busiest rank"}});
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
std::string channels_in_full(const Plan& plan) {
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

double RepeatedCell::spread() const {
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  return (time_ns_greatest - time_ns_least) / middle->exchange.median;
}

double chosen(const Rates& rates, Rate rate) {
  switch (rate) {
    case Rate::local:
      return rates.local;
    case Rate::total:
      return rates.total;
    case Rate::average:
      break;
  }
  return rates.average;
}

TopologyCells::TopologyCells(const TopologyResult& result)
    : result_(result), num_sizes_(result.request.message_sizes_bytes.size()) {
  std::vector<std::vector<const CellSummary*>> repeats(num_topologies() * num_sizes_);
  for (const CellSummary& summary : result.cells) {
    if (std::isnan(summary.exchange.median)) continue;
    const auto topology = static_cast<std::size_t>(summary.cell.topology_index);
    repeats[topology * num_sizes_ + static_cast<std::size_t>(summary.cell.size_index)].push_back(&summary);
  }
  for (auto& each : repeats) cells_.push_back(brought_together(each));
}

double TopologyCells::rate_at(std::size_t topology_index, std::size_t size_index, Rate rate, double time_ns) const {
  const CellSummary* const middle = at(topology_index, size_index).middle;
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t message_size_bytes = result_.request.message_sizes_bytes[size_index];
  return chosen(rates_of(result_.topologies[topology_index], middle->served, message_size_bytes, time_ns), rate);
}

double TopologyCells::rate(std::size_t topology_index, std::size_t size_index, Rate rate) const {
  const CellSummary* const middle = at(topology_index, size_index).middle;
  if (middle == nullptr) return std::numeric_limits<double>::quiet_NaN();
  return rate_at(topology_index, size_index, rate, middle->exchange.median);
}

std::size_t TopologyCells::largest_measured() const {
  for (std::size_t size = num_sizes_; size-- > 0;) {
    for (std::size_t topology = 0; topology < num_topologies(); ++topology) {
      if (at(topology, size).middle != nullptr) return size;
    }
  }
  return num_sizes_;
}

std::vector<std::size_t> TopologyCells::by_rate(std::size_t size_index, Rate rate) const {
  std::vector<std::size_t> order;
  for (std::size_t topology = 0; topology < num_topologies(); ++topology) {
    if (at(topology, size_index).middle != nullptr) order.push_back(topology);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return this->rate(one, size_index, rate) < this->rate(other, size_index, rate);
  });
  return order;
}

std::string topology_plan_text(const TopologyRequest& request, const Plan& plan) {
  const auto num_ranks = static_cast<std::uint64_t>(plan.rank_layout.num_ranks);
  std::string text =
      fmt::format("Topology test of {}: {} x {} x {}\n", output::counted(num_ranks, "rank"),
                  plan.topologies.size() == 1 ? "1 topology" : fmt::format("{} topologies", plan.topologies.size()),
                  output::counted(request.message_sizes_bytes.size(), "message size"),
                  output::counted(static_cast<std::uint64_t>(request.repeat), "repeat"));
  text += each_cell(request) + table_of_topologies(plan) + channels_in_full(plan);
  const Estimate& estimate = plan.estimate;
  text += output::estimate_head(estimate.assumption);
  text += fmt::format("  time      {}\n", output::format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} for message buffers of the busiest rank, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}\n", about_bytes(estimate.file_bytes));
  return text;
}

namespace {

/// How far a test is: cells of large messages and of many channels take longer, so that a count of cells would mislead.
class Remaining {
 public:
  Remaining(const TopologyRequest& request, const std::vector<TopologyFacts>& topologies) {
    for (const TopologyFacts& topology : topologies) {
      for (const std::uint64_t size : request.message_sizes_bytes) total_ += weight(topology, size);
    }
    total_ *= request.repeat;
  }

  void cell_done(const TopologyFacts& topology, const Cell& cell) {
    done_ += weight(topology, cell.message_size_bytes);
  }
  double share() const { return std::min(done_ / total_, 1.0); }
  double left_s(double elapsed_s) const { return output::time_left_s(done_, std::max(total_, done_), elapsed_s); }

 private:
  static double weight(const TopologyFacts& topology, std::uint64_t size) {
    const bench::CostAssumption assumption;
    return 1e-9 * assumption.latency_ns +
           topology.max_channels_rank * static_cast<double>(size) / assumption.bandwidth_bytes_per_s;
  }

  double total_ = 0, done_ = 0;
};

/// What both kinds look up.
class TopologyProgress : public Progress {
 public:
  TopologyProgress(const TopologyRequest& request, const std::vector<TopologyFacts>& topologies)
      : request_(request), topologies_(topologies), remaining_(request, topologies) {}

 protected:
  const TopologyFacts& topology(const Cell& cell) const {
    return topologies_[static_cast<std::size_t>(cell.topology_index)];
  }
  double rate(const Cell& cell, const ServedChannels& served, double time_ns) const {
    return chosen(rates_of(topology(cell), served, cell.message_size_bytes, time_ns), request_.rate);
  }
  const char* rate_name() const { return name_of(request_.rate); }
  Remaining& remaining() { return remaining_; }
  double load_left_s(double elapsed_s) const { return std::max(request_.duration_s - elapsed_s, 0.0); }
  double load_share(double elapsed_s) const { return std::min(elapsed_s / request_.duration_s, 1.0); }

 private:
  const TopologyRequest request_;
  const std::vector<TopologyFacts> topologies_;
  Remaining remaining_;
};

class TopologyLineProgress final : public TopologyProgress {
 public:
  TopologyLineProgress(const TopologyRequest& request, const std::vector<TopologyFacts>& topologies,
                       output::ProgressOutlet outlet)
      : TopologyProgress(request, topologies), outlet_(std::move(outlet)) {
    for (const TopologyFacts& each : topologies) name_width_ = std::max(name_width_, each.name.size());
  }

  void cell_begins(const Cell&, std::size_t index, std::size_t num_cells) override {
    index_ = index;
    num_cells_ = num_cells;
  }

  void cell_ends(const CellSummary& summary, double elapsed_s) override {
    const Cell& cell = summary.cell;
    remaining().cell_done(topology(cell), cell);
    const std::string number = fmt::format("{}/{}", index_ + 1, num_cells_);
    if (is_new_size(cell)) begin_table(summary);
    write_line(number, summary, elapsed_s, remaining().left_s(elapsed_s));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    outlet_.write(output::line_of_lost_pair(low, high, why));
  }

  void load_goes_on(const LoadPoint& point, double elapsed_s) override {
    const Cell& cell = point.cell;
    const double rate_now = rate(cell, point.served, point.time_ns_mean());
    if (num_slices_++ == 0) begin_load(rate_now);
    outlet_.write(fmt::format("{:>5}  {:<{}} {:>12} {:>14} {:>10} {:>10} {:>11} {:>11}\n", num_slices_,
                              topology(cell).name, name_width_, format_bytes(cell.message_size_bytes),
                              output::in_unit(rate_now, rate_unit_), point.num_exchanges, point.num_verified,
                              output::format_duration(elapsed_s), output::format_duration(load_left_s(elapsed_s))));
  }

 private:
  bool is_new_size(const Cell& cell) {
    const std::pair now{cell.repeat, cell.size_index};
    return std::exchange(table_of_, now) != now;
  }

  void begin_table(const CellSummary& summary) {
    const Cell& cell = summary.cell;
    time_unit_ = time_unit(summary.exchange.median);
    rate_unit_ = bandwidth_unit(rate(cell, summary.served, summary.exchange.median));
    number_width_ = std::max<std::size_t>(5, 2 * std::to_string(num_cells_).size() + 1);
    std::string title = fmt::format("message size {}", format_bytes(cell.message_size_bytes));
    if (cell.repeat > 0) title += fmt::format(", repeat {}", cell.repeat + 1);
    outlet_.write(fmt::format("{}\n{:>{}}  {:<{}} {:>12} {:>14} {:>11} {:>11}\n", title, "cell", number_width_,
                              "topology", name_width_, fmt::format("median {}", time_unit_.name), rate_title(),
                              "elapsed", "left"));
  }

  void begin_load(double rate) {
    rate_unit_ = bandwidth_unit(rate);
    outlet_.write(fmt::format("{:>5}  {:<{}} {:>12} {:>14} {:>10} {:>10} {:>11} {:>11}\n", "slice", "topology",
                              name_width_, "message size", rate_title(), "exchanges", "verified", "elapsed", "left"));
  }

  std::string rate_title() const { return fmt::format("{} {}", rate_name(), rate_unit_.name); }

  void write_line(const std::string& number, const CellSummary& summary, double elapsed_s, double left_s) {
    const Cell& cell = summary.cell;
    const double time_ns = summary.exchange.median;
    outlet_.write(fmt::format("{:>{}}  {:<{}} {:>12} {:>14} {:>11} {:>11}\n", number, number_width_,
                              topology(cell).name, name_width_, output::in_unit(time_ns, time_unit_),
                              output::in_unit(rate(cell, summary.served, time_ns), rate_unit_),
                              output::format_duration(elapsed_s), output::format_duration(left_s)));
  }

  output::ProgressOutlet outlet_;
  std::pair<int, int> table_of_{-1, -1};
  std::size_t index_ = 0, num_cells_ = 0, num_slices_ = 0;
  std::size_t name_width_ = 8, number_width_ = 5;
  Unit time_unit_, rate_unit_;
};

class TopologyBarProgress final : public TopologyProgress {
 public:
  TopologyBarProgress(const TopologyRequest& request, const std::vector<TopologyFacts>& topologies,
                      output::ProgressOutlet outlet)
      : TopologyProgress(request, topologies), bar_(std::move(outlet)) {}
  ~TopologyBarProgress() override { bar_.vanish(); }
  TopologyBarProgress(const TopologyBarProgress&) = delete;
  TopologyBarProgress& operator=(const TopologyBarProgress&) = delete;

  void cell_begins(const Cell& cell, std::size_t index, std::size_t num_cells) override {
    index_ = index;
    num_cells_ = num_cells;
    if (bar_.is_due()) bar_.draw(remaining().share(), title(cell), so_far_);
  }

  void cell_ends(const CellSummary& summary, double elapsed_s) override {
    const Cell& cell = summary.cell;
    remaining().cell_done(topology(cell), cell);
    so_far_ = fmt::format("{} left, {} {}", output::format_duration(remaining().left_s(elapsed_s)), rate_name(),
                          format_bandwidth(rate(cell, summary.served, summary.exchange.median)));
    const bool is_last = index_ + 1 == num_cells_;
    if (bar_.is_due() && !is_last) bar_.draw(remaining().share(), title(cell), so_far_);
    if (is_last) bar_.vanish();
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(output::line_of_lost_pair(low, high, why));
  }

  void load_goes_on(const LoadPoint& point, double elapsed_s) override {
    const Cell& cell = point.cell;
    const double left_s = load_left_s(elapsed_s);
    bar_.draw(load_share(elapsed_s), fmt::format("{} {}", topology(cell).name, format_bytes(cell.message_size_bytes)),
              fmt::format("{} left, {} {}", output::format_duration(left_s), rate_name(),
                          format_bandwidth(rate(cell, point.served, point.time_ns_mean()))));
    if (left_s == 0) bar_.vanish();
  }

 private:
  std::string title(const Cell& cell) const {
    return fmt::format("{} {} ({}/{})", topology(cell).name, format_bytes(cell.message_size_bytes), index_ + 1,
                       num_cells_);
  }

  output::ProgressBar bar_;
  std::size_t index_ = 0, num_cells_ = 0;
  std::string so_far_;
};

}  // namespace

std::unique_ptr<Progress> make_topology_lines(const TopologyRequest& request,
                                              const std::vector<TopologyFacts>& topologies,
                                              output::ProgressOutlet outlet) {
  return std::make_unique<TopologyLineProgress>(request, topologies, std::move(outlet));
}

std::unique_ptr<Progress> make_topology_bar(const TopologyRequest& request,
                                            const std::vector<TopologyFacts>& topologies,
                                            output::ProgressOutlet outlet) {
  return std::make_unique<TopologyBarProgress>(request, topologies, std::move(outlet));
}

std::unique_ptr<Progress> make_topology_progress(const TopologyRequest& request,
                                                 const std::vector<TopologyFacts>& topologies) {
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) return make_topology_bar(request, topologies, output::standard_error_outlet());
  return make_topology_lines(request, topologies, output::standard_error_outlet());
}

namespace {

constexpr std::size_t most_topologies_shown = 64;

std::string measured_text(const Header& header, std::size_t num_load_points) {
  if (header.has_load) {
    const std::string duration_s = output::harmless(result::option_text(header, "duration"));
    return output::line("load", fmt::format("for {} s, {}", duration_s, output::counted(num_load_points, "point")));
  }
  return output::line(
      "cells",
      fmt::format("{} of {} of {} exchanges", output::counted(static_cast<std::uint64_t>(header.num_repeats), "repeat"),
                  output::counted(header.message_sizes_bytes.size(), "message size"), header.num_iterations));
}

std::string topologies_text(const Header& header, const std::vector<std::optional<BestRates>>& rates) {
  const std::vector<KeptTopology>& topologies = header.topologies;
  output::Table table({{"topology", output::Align::left},
                       {"mode", output::Align::left},
                       {"channels"},
                       {"best total"},
                       {"local"},
                       {"average"},
                       {"at size"}});
  for (std::size_t index = 0; index < std::min(topologies.size(), most_topologies_shown); ++index) {
    const KeptTopology& topology = topologies[index];
    const std::optional<BestRates>& best = rates[index];
    const auto rate = [&](double Rates::*which) { return best ? format_bandwidth(best->rates.*which) : "-"; };
    table.add_row({output::harmless(topology.name), output::harmless(topology.mode),
                   std::to_string(topology.num_channels), rate(&Rates::total), rate(&Rates::local),
                   rate(&Rates::average), best ? format_bytes(best->message_size_bytes) : "-"});
  }
  std::string text = "\n" + table.text();
  const std::size_t num_left_out = topologies.size() - std::min(topologies.size(), most_topologies_shown);
  if (num_left_out > 0) text += fmt::format("  and {} more\n", num_left_out);
  if (!header.summary) text += "  No rates: the run ended before its summary was written.\n";
  return text;
}

Json best_json(const std::optional<BestRates>& best) {
  if (!best) return nullptr;
  return {{"message_size_bytes", best->message_size_bytes},
          {"repeat", best->repeat},
          {"local_bytes_per_s", number(best->rates.local)},
          {"total_bytes_per_s", number(best->rates.total)},
          {"average_bytes_per_s", number(best->rates.average)}};
}

}  // namespace

output::ResultInfo info_of(const Hdf5Reader& reader) {
  const Header& header = reader.header();
  const std::vector<HostRanks> hosts = output::hosts_of(reader);
  const std::vector<std::optional<BestRates>> best = best_rates(header, reader.path());
  const std::size_t num_load_points = reader.num_load_points();
  std::string text = output::line("result", fmt::format("topology test, format {}", header.format_version));
  text += output::run_text(header) + output::ranks_text(header, hosts) + output::sizes_text(header);
  text += measured_text(header, num_load_points) + topologies_text(header, best);

  Json json = output::run_json("topology", header);
  json["num_repeats"] = header.has_load ? Json(nullptr) : Json(header.num_repeats);
  json["num_iterations"] = header.has_load ? Json(nullptr) : Json(header.num_iterations);
  json["num_load_points"] = header.has_load ? Json(num_load_points) : Json(nullptr);
  output::add_origin(json, header, hosts);
  json["topologies"] = Json::array();
  for (std::size_t index = 0; index < best.size(); ++index) {
    Json topology = result::json_of(header.topologies[index]);
    if (header.topologies[index].extents.empty()) topology["extents"] = nullptr;
    topology["best"] = best_json(best[index]);
    json["topologies"].push_back(std::move(topology));
  }
  return {text, json};
}

}  // namespace leadline::bench::topology
