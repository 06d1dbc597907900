// SPDX-License-Identifier: Apache-2.0
// The texts of a congestion test.
#include "bench/congestion/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "output/progress_outlet.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::congestion {
namespace {

constexpr std::size_t most_victims_named = 8;

/// Three digits, of large numbers all.
std::string ratio_text(double ratio) {
  constexpr double large = 1000;
  if (!std::isfinite(ratio)) return "-";
  return ratio < large ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio);
}

std::string factor_text(const Factor& factor) { return ratio_text(factor.estimate); }

std::string interval_text(const Factor& factor) {
  if (!std::isfinite(factor.low) || !std::isfinite(factor.high)) return "-";
  return fmt::format("{} to {}", ratio_text(factor.low), ratio_text(factor.high));
}

const char* title_of(Test test) {
  switch (test) {
    case Test::latency:
      return "latency: 8 B to the partner and back, from when each was due";
    case Test::bandwidth:
      return "bandwidth: of a stream to the partner";
    case Test::allreduce:
      break;
  }
  return "allreduce: 8 B over all victims, one behind the other";
}

std::string words_of_quantile(const std::string& quantile) { return quantile == "p99" ? "99 % quantile" : quantile; }

/// Impacts that share `shared` with the load, of this test, in their order.
template <class AnyImpact>
std::vector<const AnyImpact*> chosen_of(const std::vector<AnyImpact>& impacts, Test test) {
  std::vector<const AnyImpact*> chosen;
  for (const AnyImpact& impact : impacts) {
    if (impact.test == test && impact.shared == Shared::all) chosen.push_back(&impact);
  }
  return chosen;
}

/// `name_of_load(impact)`: what a row begins with.
template <class AnyImpact, class NameOfLoad>
std::string table_of_times(const std::vector<const AnyImpact*>& impacts, const NameOfLoad& name_of_load) {
  std::vector<double> all;
  for (const AnyImpact* const impact : impacts) {
    for (const double time_ns : {impact->alone.median, impact->loaded.median, impact->loaded.p99})
      all.push_back(time_ns);
  }
  const Unit unit = time_unit(output::middle_of(all));
  output::Table table({{"under", output::Align::left},
                       {fmt::format("median {}", unit.name)},
                       {"alone"},
                       {"factor"},
                       {"95 % interval"},
                       {fmt::format("p99 {}", unit.name)},
                       {"alone"},
                       {"factor"},
                       {"95 % interval"},
                       {fmt::format("p99.9 {}", unit.name)},
                       {"factor"}});
  for (const AnyImpact* const impact : impacts) {
    table.add_row({name_of_load(*impact), output::in_unit(impact->loaded.median, unit),
                   output::in_unit(impact->alone.median, unit), factor_text(impact->median),
                   interval_text(impact->median), output::in_unit(impact->loaded.p99, unit),
                   output::in_unit(impact->alone.p99, unit), factor_text(impact->p99), interval_text(impact->p99),
                   output::in_unit(impact->loaded.p999, unit), factor_text(impact->p999)});
  }
  return table.text();
}

/// A stream counts by its rate: message size by mean time.
template <class AnyImpact, class NameOfLoad>
std::string table_of_rates(const std::vector<const AnyImpact*>& impacts, std::uint64_t size_bytes,
                           const NameOfLoad& name_of_load) {
  const auto rate = [&](const Times& times) { return 1e9 * static_cast<double>(size_bytes) / times.mean; };
  std::vector<double> rates, times;
  for (const AnyImpact* const impact : impacts) {
    rates.insert(rates.end(), {rate(impact->alone), rate(impact->loaded)});
    times.push_back(impact->loaded.median);
  }
  const Unit rate_unit = bandwidth_unit(output::middle_of(rates)), unit = time_unit(output::middle_of(times));
  output::Table table({{"under", output::Align::left},
                       {rate_unit.name},
                       {"alone"},
                       {"factor"},
                       {"95 % interval"},
                       {fmt::format("p99 {}", unit.name)},
                       {"alone"},
                       {"factor"},
                       {"95 % interval"}});
  for (const AnyImpact* const impact : impacts) {
    table.add_row({name_of_load(*impact), output::in_unit(rate(impact->loaded), rate_unit),
                   output::in_unit(rate(impact->alone), rate_unit), factor_text(impact->mean),
                   interval_text(impact->mean), output::in_unit(impact->loaded.p99, unit),
                   output::in_unit(impact->alone.p99, unit), factor_text(impact->p99), interval_text(impact->p99)});
  }
  return table.text() + "  factors are of the time of a message: above 1 it takes longer under load\n";
}

template <class AnyImpact, class NameOfLoad>
std::string tables_text(const std::vector<AnyImpact>& impacts, std::uint64_t size_bytes,
                        const NameOfLoad& name_of_load) {
  std::string text;
  for (const Test test : all_tests) {
    const auto chosen = chosen_of(impacts, test);
    if (chosen.empty()) continue;
    const std::string table = test == Test::bandwidth ? table_of_rates(chosen, size_bytes, name_of_load)
                                                      : table_of_times(chosen, name_of_load);
    text += fmt::format("\n{}\n{}", title_of(test), table);
  }
  return text;
}

std::string who_does_what(const CongestionResult& result) {
  const output::HostsOfRanks hosts(result.hosts);
  std::string victims;
  for (std::size_t i = 0; i < std::min(result.victims.size(), most_victims_named); ++i) {
    victims += (i > 0 ? ", " : "") + hosts.with_host(result.victims[i]);
  }
  if (result.victims.size() > most_victims_named) {
    victims += fmt::format(" and {} more", result.victims.size() - most_victims_named);
  }
  std::uint32_t num_rounds = 0;
  for (const Impact& impact : result.impacts) num_rounds = std::max(num_rounds, impact.num_rounds);
  const std::string rounds = num_rounds < result.request.rounds
                                 ? fmt::format("{} of {} rounds", num_rounds, result.request.rounds)
                                 : output::counted(num_rounds, "round");
  return fmt::format("victims: {}; {} load the network; {}\n", victims, output::counted(result.num_load_ranks, "rank"),
                     rounds);
}

/// Where messages share different things with the load.
std::string shared_text(const CongestionResult& result) {
  output::Table table({{"under", output::Align::left},
                       {"test", output::Align::left},
                       {"shared with the load", output::Align::left},
                       {"rounds"},
                       {"median factor"},
                       {"p99 factor"},
                       {"95 % interval"}});
  for (const Impact& impact : result.impacts) {
    if (impact.shared == Shared::all || impact.cell.load < 0) continue;
    table.add_row({name_of(result.request, impact.cell), name_of(impact.test), name_of(impact.shared),
                   std::to_string(impact.num_rounds), factor_text(impact.median), factor_text(impact.p99),
                   interval_text(impact.p99)});
  }
  return table.has_rows() ? "\nby what messages share with the load\n" + table.text() : "";
}

std::string recovery_text(double recovery_s) {
  if (!std::isfinite(recovery_s)) return "-";
  return recovery_s > 0 ? format_time_ns(1e9 * recovery_s) : "at once";
}

std::string loads_text(const CongestionResult& result) {
  std::vector<double> rates;
  for (const LoadSummary& load : result.loads) rates.push_back(load.bytes_per_s);
  const Unit unit = bandwidth_unit(output::middle_of(rates));
  output::Table table({{"load", output::Align::left},
                       {fmt::format("all ranks {}", unit.name)},
                       {"without victims, 100 %"},
                       {"fairness"},
                       {"recovery"}});
  for (const LoadSummary& load : result.loads) {
    if (load.num_rounds == 0) continue;
    table.add_row({name_of(result.request, load.cell), output::in_unit(load.bytes_per_s, unit),
                   output::in_unit(load.alone_bytes_per_s, unit),
                   std::isfinite(load.fairness) ? fmt::format("{:.3f}", load.fairness) : "-",
                   recovery_text(load.recovery_s)});
  }
  if (!table.has_rows()) return "";
  return fmt::format(
      "\nloads\n{}  recovery: from the end of the load until latency is as alone; - = longer than a test, or not "
      "measured\n",
      table.text());
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
  BarProgress(std::uint32_t num_rounds, std::size_t num_phases, output::ProgressOutlet outlet)
      : num_rounds_(num_rounds), num_phases_(num_phases), bar_(std::move(outlet)) {}
  ~BarProgress() override { bar_.vanish(); }
  BarProgress(const BarProgress&) = delete;
  BarProgress& operator=(const BarProgress&) = delete;

  void phase_begins(std::uint32_t round, std::size_t index, const std::string& what) override {
    if (!bar_.is_due()) return;
    const double rounds = round + static_cast<double>(index) / static_cast<double>(num_phases_);
    bar_.draw(std::min(rounds / num_rounds_, 1.0), fmt::format("round {}/{}", round + 1, num_rounds_), what);
  }
  void round_ends(std::uint32_t round, double /*elapsed_s*/) override {
    if (round + 1 == num_rounds_) bar_.vanish();
  }
  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(output::line_of_lost_pair(low, high, why));
  }

 private:
  std::uint32_t num_rounds_;
  std::size_t num_phases_;
  output::ProgressBar bar_;
};

}  // namespace

std::string verdict_text(const CongestionResult& result) {
  if (result.impacts.empty()) return "nothing was measured\n";
  const auto worst = worst_of(result);
  const auto is_known = [](const Impact& impact) {
    return std::isfinite(impact.median.low) || std::isfinite(impact.p99.low);
  };
  if (std::ranges::none_of(result.impacts, is_known)) {
    return fmt::format("what loads surely do is not known: intervals need {} rounds, with enough operations in each\n",
                       fewest_rounds_of_interval);
  }
  if (!worst) return "no load surely makes the median or the 99 % quantile of a test longer\n";
  return fmt::format("under {} the {} of {} is {} times as long as alone (95 % interval {})\n",
                     name_of(result.request, worst->impact->cell), words_of_quantile(worst->quantile),
                     name_of(worst->impact->test), factor_text(worst->factor), interval_text(worst->factor));
}

std::string congestion_summary(const CongestionResult& result, const std::string& path) {
  std::string text = output::run_head(result) + output::simulated_line(result) + who_does_what(result);
  text += "\n" + verdict_text(result);
  text += tables_text(result.impacts, bandwidth_size_bytes(result.request),
                      [&](const Impact& impact) { return name_of(result.request, impact.cell); });
  text += shared_text(result) + loads_text(result);
  for (const std::string& part :
       {output::findings_text(result.findings), output::run_tail(result, result.request.format, path)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

std::string congestion_plan_text(const CongestionRequest& request, const Plan& plan) {
  std::vector<int> victims(plan.roles.victims.begin(), plan.roles.victims.end());
  std::string text =
      fmt::format("Congestion test of {}: {} ({}), {} load the network; {}\n",
                  output::counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                  output::counted(victims.size(), "victim"), number_ranges(victims),
                  output::counted(plan.roles.load.size(), "rank"),
                  plan.roles.victims_are_hosts ? "a host has ranks of one kind" : "hosts have ranks of both kinds");
  text += fmt::format("{}, in each of them victims alone and under:", output::counted(request.rounds, "round"));
  for (const Cell& cell : plan.cells) text += " " + name_of(request, cell) + ",";
  text.back() = '\n';
  text += fmt::format("Each time: latency every {}, bandwidth with {}, allreduce; {} each\n",
                      format_time_ns(1e9 * request.interval_s), format_bytes(bandwidth_size_bytes(request)),
                      output::format_duration(request.test_time_s));
  text += fmt::format("Messages of the load: {}\n", format_bytes(request.load_size_bytes));
  text += fmt::format("Time: {}, and what lies between the phases\n", output::format_duration(plan.measuring_s));
  return text;
}

std::unique_ptr<Progress> make_congestion_lines(const CongestionRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<LineProgress>(request.rounds, std::move(outlet));
}

std::unique_ptr<Progress> make_congestion_bar(const CongestionRequest& request, std::size_t num_phases,
                                              output::ProgressOutlet outlet) {
  return std::make_unique<BarProgress>(request.rounds, num_phases, std::move(outlet));
}

std::unique_ptr<Progress> make_congestion_progress(const CongestionRequest& request, std::size_t num_phases) {
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) {
    return make_congestion_bar(request, num_phases, output::standard_error_outlet());
  }
  return make_congestion_lines(request, output::standard_error_outlet());
}

output::ResultInfo info_of(const Hdf5Reader& reader) {
  const Header& header = reader.header();
  const std::vector<HostRanks> hosts = output::hosts_of(reader);
  const std::vector<KeptImpact> impacts = kept_impacts(header, reader.path());
  const std::int32_t num_measured = reader.num_rounds_measured();

  std::string text = output::line("result", fmt::format("congestion test, format {}", header.format_version));
  text += output::run_text(header) + output::ranks_text(header, hosts) + output::sizes_text(header);
  text +=
      output::line("victims", fmt::format("{}; {} load the network", output::counted(header.victims.size(), "rank"),
                                          output::counted(static_cast<std::uint64_t>(header.num_load_ranks), "rank")));
  text += output::line("rounds", fmt::format("{} of {}", num_measured, header.num_rounds));
  const auto name_of_load = [](const KeptImpact& impact) {
    if (impact.named.load.empty()) return std::string("no load");
    return fmt::format("{} {} %", output::harmless(impact.named.load), impact.named.intensity_percent);
  };
  text += tables_text(impacts, header.message_sizes_bytes.front(), name_of_load);
  if (!header.summary) text += "\n  No impacts: the run ended before its summary was written.\n";

  Json json = output::run_json("congestion", header);
  result::add_fields(json, header);
  json["num_rounds_measured"] = num_measured;
  output::add_origin(json, header, hosts);
  json["impacts"] = header.summary ? result::json_of(impacts) : Json(nullptr);
  return {text, json};
}

}  // namespace leadline::bench::congestion
