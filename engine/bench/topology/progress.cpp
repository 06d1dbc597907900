// SPDX-License-Identifier: Apache-2.0
// The two ways to show progress, and the choice between them.
#include "bench/topology/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/plan.hpp"
#include "bench/topology/text.hpp"
#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
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
  double left_s(double elapsed_s) const { return time_left_s(done_, std::max(total_, done_), elapsed_s); }

 private:
  static double weight(const TopologyFacts& topology, std::uint64_t size) {
    const bench::CostAssumption assumption;
    return 1e-9 * assumption.latency_ns +
           topology.max_channels_rank * static_cast<double>(size) / assumption.bandwidth_bytes_per_s;
  }

  double total_ = 0, done_ = 0;
};

/// What both kinds look up.
class TopologyProgress : public bench::topology::Progress {
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
                       ProgressOutlet outlet)
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
    outlet_.write(line_of_lost_pair(low, high, why));
  }

  void load_goes_on(const LoadPoint& point, double elapsed_s) override {
    const Cell& cell = point.cell;
    const double rate_now = rate(cell, point.served, point.time_ns_mean());
    if (num_slices_++ == 0) begin_load(rate_now);
    outlet_.write(fmt::format("{:>5}  {:<{}} {:>12} {:>14} {:>10} {:>10} {:>11} {:>11}\n", num_slices_,
                              topology(cell).name, name_width_, format_bytes(cell.message_size_bytes),
                              in_unit(rate_now, rate_unit_), point.num_exchanges, point.num_verified,
                              format_duration(elapsed_s), format_duration(load_left_s(elapsed_s))));
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
                              topology(cell).name, name_width_, in_unit(time_ns, time_unit_),
                              in_unit(rate(cell, summary.served, time_ns), rate_unit_), format_duration(elapsed_s),
                              format_duration(left_s)));
  }

  ProgressOutlet outlet_;
  std::pair<int, int> table_of_{-1, -1};
  std::size_t index_ = 0, num_cells_ = 0, num_slices_ = 0;
  std::size_t name_width_ = 8, number_width_ = 5;
  Unit time_unit_, rate_unit_;
};

class TopologyBarProgress final : public TopologyProgress {
 public:
  TopologyBarProgress(const TopologyRequest& request, const std::vector<TopologyFacts>& topologies,
                      ProgressOutlet outlet)
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
    so_far_ = fmt::format("{} left, {} {}", format_duration(remaining().left_s(elapsed_s)), rate_name(),
                          format_bandwidth(rate(cell, summary.served, summary.exchange.median)));
    const bool is_last = index_ + 1 == num_cells_;
    if (bar_.is_due() && !is_last) bar_.draw(remaining().share(), title(cell), so_far_);
    if (is_last) bar_.vanish();
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(line_of_lost_pair(low, high, why));
  }

  void load_goes_on(const LoadPoint& point, double elapsed_s) override {
    const Cell& cell = point.cell;
    const double left_s = load_left_s(elapsed_s);
    bar_.draw(load_share(elapsed_s), fmt::format("{} {}", topology(cell).name, format_bytes(cell.message_size_bytes)),
              fmt::format("{} left, {} {}", format_duration(left_s), rate_name(),
                          format_bandwidth(rate(cell, point.served, point.time_ns_mean()))));
    if (left_s == 0) bar_.vanish();
  }

 private:
  std::string title(const Cell& cell) const {
    return fmt::format("{} {} ({}/{})", topology(cell).name, format_bytes(cell.message_size_bytes), index_ + 1,
                       num_cells_);
  }

  ProgressBar bar_;
  std::size_t index_ = 0, num_cells_ = 0;
  std::string so_far_;
};

}  // namespace

std::unique_ptr<bench::topology::Progress> make_topology_lines(const TopologyRequest& request,
                                                               const std::vector<TopologyFacts>& topologies,
                                                               ProgressOutlet outlet) {
  return std::make_unique<TopologyLineProgress>(request, topologies, std::move(outlet));
}

std::unique_ptr<bench::topology::Progress> make_topology_bar(const TopologyRequest& request,
                                                             const std::vector<TopologyFacts>& topologies,
                                                             ProgressOutlet outlet) {
  return std::make_unique<TopologyBarProgress>(request, topologies, std::move(outlet));
}

std::unique_ptr<bench::topology::Progress> make_topology_progress(const TopologyRequest& request,
                                                                  const std::vector<TopologyFacts>& topologies) {
  if (request.quiet) return std::make_unique<bench::topology::Progress>();
  if (is_redrawable_terminal()) return make_topology_bar(request, topologies, standard_error_outlet());
  return make_topology_lines(request, topologies, standard_error_outlet());
}

}  // namespace leadline::output
