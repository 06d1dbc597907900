// SPDX-License-Identifier: Apache-2.0
// The texts of a collective test.
#include "bench/collective/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/collective/json.hpp"
#include "core/units.hpp"
#include "output/progress_outlet.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::collective {
namespace {

std::string table_of(const std::vector<CellSummary>& cells) {
  output::Table table(
      {{"operation", output::Align::left}, {"size"}, {"time"}, {"shortest"}, {"longest"}, {"algbw"}, {"busbw"}});
  const auto time = [](double time_ns) { return std::isfinite(time_ns) ? format_time_ns(time_ns) : "-"; };
  const auto rate = [](double bytes_per_s) { return std::isfinite(bytes_per_s) ? format_bandwidth(bytes_per_s) : "-"; };
  for (const CellSummary& cell : cells) {
    table.add_row({name_of(cell.cell.operation), format_bytes(cell.cell.message_size_bytes), time(cell.median),
                   time(cell.min), time(cell.max), rate(cell.bandwidths.algorithm_bytes_per_s),
                   rate(cell.bandwidths.bus_bytes_per_s)});
  }
  return table.text() + "  time: median over batches, of the slowest rank; algbw and busbw as nccl-tests define them\n";
}

const char* words_of(Algorithm algorithm) {
  return algorithm == Algorithm::library ? "the transport's library" : "our own, over its messages";
}

std::string ranks_of_groups(std::int64_t least, std::int64_t most) {
  if (least == most) return output::counted(static_cast<std::uint64_t>(least), "rank");
  return fmt::format("{} to {} ranks", least, most);
}

std::string who_does_what(const CollectiveResult& result) {
  std::string text = fmt::format("operations: {}", words_of(result.algorithm));
  if (result.request.group_hosts > 0) {
    text += fmt::format("; {} of {}, {}", output::counted(static_cast<std::uint64_t>(result.num_groups), "group"),
                        ranks_of_groups(result.group_ranks_min, result.group_ranks_max),
                        result.request.serial ? "one after another" : "at the same time");
  }
  std::uint64_t num = 0;
  for (const CellSummary& cell : result.cells) num = std::max(num, cell.num);
  const std::uint64_t of_round = std::uint64_t{result.request.num_batches} *
                                 static_cast<std::uint64_t>(std::max(result.num_groups, std::int32_t{1}));
  const std::uint64_t num_rounds = num / of_round;
  text += num_rounds < result.request.rounds ? fmt::format("; {} of {} rounds\n", num_rounds, result.request.rounds)
                                             : fmt::format("; {}\n", output::counted(num_rounds, "round"));
  return text;
}

class LineProgress final : public Progress {
 public:
  LineProgress(std::uint32_t num_rounds, output::ProgressOutlet outlet) : lines_(num_rounds, std::move(outlet)) {}

  void round_ends(std::uint32_t round, double elapsed_s) override { lines_.round_ends(round, elapsed_s); }
  void pair_lost(int low, int high, const std::string& why) override { lines_.pair_lost(low, high, why); }

 private:
  output::RoundLines lines_;
};

class BarProgress final : public Progress {
 public:
  BarProgress(std::uint32_t num_rounds, output::ProgressOutlet outlet)
      : num_rounds_(num_rounds), bar_(std::move(outlet)) {}
  ~BarProgress() override { bar_.vanish(); }
  BarProgress(const BarProgress&) = delete;
  BarProgress& operator=(const BarProgress&) = delete;

  void cell_begins(std::uint32_t round, const std::string& what, double share) override {
    if (bar_.is_due()) bar_.draw(share, fmt::format("round {}/{}", round + 1, num_rounds_), what);
  }
  void round_ends(std::uint32_t round, double /*elapsed_s*/) override {
    if (round + 1 == num_rounds_) bar_.vanish();
  }
  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(output::line_of_lost_pair(low, high, why));
  }

 private:
  std::uint32_t num_rounds_;
  output::ProgressBar bar_;
};

}  // namespace

std::string collective_summary(const CollectiveResult& result, const std::string& path) {
  std::string text = output::run_head(result) + who_does_what(result);
  const bool has_any = std::ranges::any_of(result.cells, [](const CellSummary& cell) { return cell.num > 0; });
  text += "\n" + (has_any ? table_of(result.cells) : std::string("nothing was measured\n"));
  for (const std::string& part :
       {output::findings_text(result.findings), output::run_tail(result, result.request.format, path)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

std::string collective_plan_text(const CollectiveRequest& request, const Plan& plan) {
  std::string text = fmt::format("Collective test of {}: {}\n",
                                 output::counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                                 fmt::join(request.operations, ", "));
  if (request.group_hosts > 0) {
    text += fmt::format(
        "In each round {} of {}, {}\n", output::counted(plan.num_groups, "random group"),
        ranks_of_groups(static_cast<std::int64_t>(plan.least_ranks), static_cast<std::int64_t>(plan.most_ranks)),
        request.serial ? "one after another" : "at the same time");
  }
  text += fmt::format("Algorithm: {}\n", name_of(request.algorithm));
  text += "Message sizes:";
  for (const std::uint64_t size : request.message_sizes_bytes) text += " " + format_bytes(size) + ",";
  text.back() = '\n';
  text += fmt::format("{} of {} batches with {} each\n", output::counted(request.rounds, "round"), request.num_batches,
                      output::counted(request.num_iterations, "operation"));
  text += output::estimate_head(plan.assumption);
  text += fmt::format("Time: {}\n", output::format_duration(plan.measuring_s));
  text += fmt::format("Memory: {} on the fullest host\n", about_bytes(whole_bytes(plan.host_bytes)));
  return text;
}

std::unique_ptr<Progress> make_collective_lines(const CollectiveRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<LineProgress>(request.rounds, std::move(outlet));
}

std::unique_ptr<Progress> make_collective_bar(const CollectiveRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<BarProgress>(request.rounds, std::move(outlet));
}

std::unique_ptr<Progress> make_collective_progress(const CollectiveRequest& request) {
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) return make_collective_bar(request, output::standard_error_outlet());
  return make_collective_lines(request, output::standard_error_outlet());
}

output::ResultInfo info_of(const Hdf5Reader& reader) {
  const Header& header = reader.header();
  const std::vector<HostRanks> hosts = output::hosts_of(reader);
  const std::vector<CellSummary> cells = kept_cells(header, reader.path());
  const std::size_t num_measured = reader.num_rounds_measured();

  std::string text = output::line("result", fmt::format("collective test, format {}", header.format_version));
  text += output::run_text(header) + output::ranks_text(header, hosts) + output::sizes_text(header);
  text += output::line("operations by", output::harmless(header.algorithm));
  if (header.group_hosts > 0) {
    text +=
        output::line("groups", fmt::format("{} of {} in a round", header.num_groups,
                                           output::counted(static_cast<std::uint64_t>(header.group_hosts), "host")));
  }
  text += output::line("rounds", fmt::format("{} of {}", num_measured, header.num_rounds));
  text += header.summary ? "\n" + table_of(cells) : "\n  No numbers: the run ended before its summary was written.\n";

  Json json = output::run_json("collective", header);
  result::add_fields(json, header);
  json["num_rounds_measured"] = num_measured;
  output::add_origin(json, header, hosts);
  json["cells"] = header.summary ? result::json_of(cells) : Json(nullptr);
  return {text, json};
}

}  // namespace leadline::bench::collective
