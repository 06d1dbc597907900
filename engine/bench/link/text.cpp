// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints of a link test, its progress and its summary.
#include "bench/link/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/like.hpp"
#include "bench/link/slice_facts.hpp"
#include "bench/lost_pairs.hpp"
#include "core/terminal.hpp"
#include "core/units.hpp"
#include "diagnosis/line_rate.hpp"
#include "output/diagnosis_text.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"
#include "schedule/schedule.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::link {

namespace {

constexpr std::size_t most_rows_shown = 64;
constexpr std::size_t most_slow_pairs_shown = 20;

double bandwidth_of(double time_ns, const SliceSummary& summary, Direction direction) {
  return bandwidth_bytes_per_s(time_ns, summary.slice.message_size_bytes, direction);
}

const char* meaning_of(Direction direction) {
  switch (direction) {
    case Direction::semidirectional:
      return "time is half a round trip; one direction at a time";
    case Direction::unidirectional:
      return "time is that of one message in a stream; one direction";
    case Direction::bidirectional:
      return "time is that of one message each way; bandwidth counts both directions";
  }
  return "";
}

std::string head(const LinkResult& result) {
  std::string text = output::participants_line(result);
  text += fmt::format("{}: {}\n", name_of(result.request.direction), meaning_of(result.request.direction));
  const std::string pairs = pairs_text(result.request);
  if (pairs != pairs_text({})) text += fmt::format("{}\n", pairs);
  // Not repeated where a finding says it.
  if (result.provenance.num_ranks == 1 && !output::has_finding(result, "loop_to_itself")) {
    text += "1 rank: this is the loop to itself, not a link\n";
  }
  return text + output::simulated_line(result);
}

struct ListedClass {
  const char* name;
  const PairSummary* summary;
};

/// All pairs, and the two classes where both are there; one class alone is all pairs.
std::vector<ListedClass> classes_of(const SliceSummary& summary) {
  const bool has_both = summary.same_host.num_pairs > 0 && summary.between_hosts.num_pairs > 0;
  if (has_both) {
    return {{"all", &summary.all}, {"same host", &summary.same_host}, {"between hosts", &summary.between_hosts}};
  }
  return {{summary.between_hosts.num_pairs > 0 ? "all, between hosts" : "all, same host", &summary.all}};
}

/// A class of pairs with one message size, over all repeats and permutations.
struct ClassRow {
  std::uint64_t message_size_bytes = 0;
  const char* name = "";
  std::uint64_t num_pairs = 0;  ///< the least of all repeats
  std::vector<double> medians_ns{};
  double p05_ns = PairSummary::none, p95_ns = PairSummary::none;  ///< the least, the greatest
  double min_ns = PairSummary::none, max_ns = PairSummary::none;

  void add(const PairSummary& pairs) {
    num_pairs = medians_ns.empty() ? pairs.num_pairs : std::min(num_pairs, pairs.num_pairs);
    medians_ns.push_back(pairs.time_ns_median);
    p05_ns = std::fmin(p05_ns, pairs.time_ns_p05);  // a number where either is one
    p95_ns = std::fmax(p95_ns, pairs.time_ns_p95);
    min_ns = std::fmin(min_ns, pairs.time_ns_min);
    max_ns = std::fmax(max_ns, pairs.time_ns_max);
  }
  double median_ns() const {
    std::vector<double> sorted = medians_ns;
    return stats::summarize(sorted).median;
  }
};

/// Sizes in their order, same host before between hosts; classes without pairs are left out.
std::vector<ClassRow> class_rows(const LinkResult& result) {
  std::map<std::pair<int, int>, ClassRow> rows;
  for (const SliceSummary& summary : result.slices) {
    const Slice& slice = summary.slice;
    const auto add = [&](int order, const char* name, const PairSummary& pairs) {
      if (pairs.num_pairs == 0) return;
      rows.try_emplace({slice.size_index, order}, ClassRow{slice.message_size_bytes, name}).first->second.add(pairs);
    };
    add(0, "same host", summary.same_host);
    add(1, "between hosts", summary.between_hosts);
  }
  std::vector<ClassRow> in_order;
  for (auto& [place, row] : rows) in_order.push_back(std::move(row));
  return in_order;
}

std::string time_or_dash(double time_ns) { return std::isfinite(time_ns) ? format_time_ns(time_ns) : "-"; }

/// With up to 10^10 pairs it is as wide as usual_text_width.
output::Table class_table(const std::vector<ClassRow>& rows, Direction direction, int width) {
  struct TextColumn {
    output::Column title;
    int least_width;  ///< of the text, so that the column is there
    std::function<std::string(const ClassRow&)> cell;
  };
  constexpr int range = 68, number = usual_text_width, extremes = 100;
  const auto bandwidth = [&](const ClassRow& row) {
    const double bytes_per_s = bandwidth_bytes_per_s(row.median_ns(), row.message_size_bytes, direction);
    return std::isfinite(bytes_per_s) ? format_bandwidth(bytes_per_s) : "-";
  };
  std::vector<TextColumn> shown{
      {{"message"}, 0, [](const ClassRow& row) { return format_bytes(row.message_size_bytes); }},
      {{"pairs", output::Align::left}, 0, [](const ClassRow& row) { return row.name; }},
      {{"number"}, number, [](const ClassRow& row) { return std::to_string(row.num_pairs); }},
      {{"median"}, 0, [](const ClassRow& row) { return time_or_dash(row.median_ns()); }},
      {{"5 %"}, range, [](const ClassRow& row) { return time_or_dash(row.p05_ns); }},
      {{"95 %"}, range, [](const ClassRow& row) { return time_or_dash(row.p95_ns); }},
      {{"fastest"}, extremes, [](const ClassRow& row) { return time_or_dash(row.min_ns); }},
      {{"slowest"}, extremes, [](const ClassRow& row) { return time_or_dash(row.max_ns); }},
      {{"bandwidth"}, 0, bandwidth}};
  std::erase_if(shown, [&](const TextColumn& column) { return column.least_width > width; });

  std::vector<output::Column> titles;
  for (const TextColumn& column : shown) titles.push_back(column.title);
  output::Table table(std::move(titles));
  for (const ClassRow& row : rows) {
    std::vector<std::string> cells;
    for (const TextColumn& column : shown) cells.push_back(column.cell(row));
    table.add_row(std::move(cells));
  }
  return table;
}

/// A row for each class of pairs and message size.
std::string all_classes(const LinkResult& result, int width) {
  if (result.slices.empty()) return "";
  std::vector<ClassRow> rows = class_rows(result);
  std::string text = fmt::format("{}, {}{}\n", output::counted(result.slices.front().all.num_pairs, "ordered pair"),
                                 output::counted(static_cast<std::uint64_t>(result.num_rounds), "round"),
                                 result.slices.size() > 1 ? " each" : "");
  if (rows.empty()) return text;
  const std::size_t num_repeats =
      std::ranges::max(rows, {}, [](const ClassRow& row) { return row.medians_ns.size(); }).medians_ns.size();
  const std::size_t num_left_out = rows.size() - std::min(rows.size(), most_rows_shown);
  rows.resize(rows.size() - num_left_out);
  text += class_table(rows, result.request.direction, width).text();
  if (num_left_out > 0) text += fmt::format("  ... and {} more in the result file\n", num_left_out);
  if (num_repeats > 1) {
    text +=
        fmt::format("  of {} repeats: the median of their medians, the least 5 %, the greatest 95 %\n", num_repeats);
  }
  return text;
}

std::string interval(double low, double high, const Unit& unit) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "-";
  return output::in_unit(low, unit) + " to " + output::in_unit(high, unit);
}

std::string one_slice(const SliceSummary& summary, const LinkResult& result) {
  const Direction direction = result.request.direction;
  const Unit time = time_unit(summary.all.time_ns_median);
  const Unit bandwidth = bandwidth_unit(bandwidth_of(summary.all.time_ns_median, summary, direction));
  const std::vector<ListedClass> classes = classes_of(summary);

  std::vector<output::Column> columns{{"", output::Align::left}};
  for (const auto& each : classes) {
    columns.push_back({fmt::format("{}: {}", each.name, time.name)});
    columns.push_back({bandwidth.name});
  }
  output::Table table(std::move(columns));
  const auto add = [&](const std::string& label, double PairSummary::*member) {
    std::vector<std::string> cells{label};
    for (const auto& each : classes) {
      cells.push_back(output::in_unit(each.summary->*member, time));
      cells.push_back(output::in_unit(bandwidth_of(each.summary->*member, summary, direction), bandwidth));
    }
    table.add_row(std::move(cells));
  };

  std::vector<std::string> pairs{"ordered pairs"};
  for (const auto& each : classes) pairs.insert(pairs.end(), {std::to_string(each.summary->num_pairs), ""});
  table.add_row(std::move(pairs));
  add("median", &PairSummary::time_ns_median);
  add("  95 % interval from", &PairSummary::median_interval_low_ns);
  add("                  to", &PairSummary::median_interval_high_ns);
  add("min (fastest pair)", &PairSummary::time_ns_min);
  for (const PairQuantile& one : pair_quantiles) {
    if (one.time_ns != &PairSummary::time_ns_median) add(one.name, one.time_ns);
  }
  add("max (slowest pair)", &PairSummary::time_ns_max);
  add("mean", &PairSummary::time_ns_mean);
  return fmt::format("message size {}, {}\n", format_bytes(summary.slice.message_size_bytes),
                     output::counted(static_cast<std::uint64_t>(result.num_rounds), "round")) +
         table.text();
}

/// One unit must serve all slices.
struct SweepUnits {
  Unit time, bandwidth;
};

SweepUnits sweep_units(const LinkResult& result) {
  std::vector<double> times, bandwidths;
  for (const SliceSummary& summary : result.slices) {
    times.push_back(summary.all.time_ns_median);
    bandwidths.push_back(bandwidth_of(summary.all.time_ns_median, summary, result.request.direction));
  }
  return {time_unit(output::middle_of(times)), bandwidth_unit(output::middle_of(bandwidths))};
}

std::string many_slices(const LinkResult& result) {
  const SweepUnits units = sweep_units(result);
  const auto any = [&](auto predicate) { return std::any_of(result.slices.begin(), result.slices.end(), predicate); };
  const bool has_repeats = any([](const SliceSummary& summary) { return summary.slice.repeat > 0; });
  const bool has_classes = any([](const SliceSummary& summary) { return classes_of(summary).size() > 1; });

  std::vector<output::Column> columns{{"message size"}};
  if (has_repeats) columns.push_back({"repeat"});
  if (has_classes) columns.push_back({"pairs", output::Align::left});
  for (const char* title : {"median ", "95 % interval ", "min ", "p01 ", "p99 ", "max "}) {
    columns.push_back({std::string(title) + units.time.name});
  }
  columns.push_back({std::string("median ") + units.bandwidth.name});
  output::Table table(std::move(columns));

  const auto add_row = [&](const SliceSummary& summary, const char* name, const PairSummary& pairs) {
    std::vector<std::string> cells{format_bytes(summary.slice.message_size_bytes)};
    if (has_repeats) cells.push_back(std::to_string(summary.slice.repeat + 1));
    if (has_classes) cells.emplace_back(name);
    cells.push_back(output::in_unit(pairs.time_ns_median, units.time));
    cells.push_back(interval(pairs.median_interval_low_ns, pairs.median_interval_high_ns, units.time));
    for (const double time_ns : {pairs.time_ns_min, pairs.time_ns_p01, pairs.time_ns_p99, pairs.time_ns_max}) {
      cells.push_back(output::in_unit(time_ns, units.time));
    }
    cells.push_back(
        output::in_unit(bandwidth_of(pairs.time_ns_median, summary, result.request.direction), units.bandwidth));
    table.add_row(std::move(cells));
  };
  const std::size_t num_shown = has_classes ? most_rows_shown / 2 : most_rows_shown;
  for (const SliceSummary& summary : result.slices) {
    if (&summary - result.slices.data() >= static_cast<std::ptrdiff_t>(num_shown)) break;
    if (has_classes) {
      add_row(summary, "same host", summary.same_host);
      add_row(summary, "between hosts", summary.between_hosts);
    } else {
      add_row(summary, "", summary.all);
    }
  }
  const std::string pairs = output::counted(result.slices.front().all.num_pairs, "ordered pair");
  std::string text = fmt::format("{}, {} each\n{}", pairs,
                                 output::counted(static_cast<std::uint64_t>(result.num_rounds), "round"), table.text());
  if (result.slices.size() > num_shown) {
    text += fmt::format("  ... and {} more in the result file\n", result.slices.size() - num_shown);
  }
  return text;
}

std::string all_to_all_text(const AllToAllSummary& all_to_all) {
  std::string text;
  for (const auto& [when, spread] :
       {std::pair{"before the rounds", all_to_all.before}, std::pair{"after the rounds", all_to_all.after},
        std::pair{"before each round", all_to_all.each_round}}) {
    if (spread.num == 0) continue;
    text += fmt::format("all-to-all of {} {}: mean {}, {} to {} over the ranks\n",
                        format_bytes(all_to_all.message_size_bytes), when, format_time_ns(spread.mean),
                        format_time_ns(spread.min), format_time_ns(spread.max));
  }
  return text;
}

/// What only some runs measure: the bandwidth across a cut, exchanges of all with all.
std::string beside_the_pairs(const LinkResult& result) {
  std::string text;
  const std::size_t num_shown = std::min(result.slices.size(), most_rows_shown);
  for (const SliceSummary& summary : std::span(result.slices).first(num_shown)) {
    const std::string size = format_bytes(summary.slice.message_size_bytes);
    if (const Spread& across = summary.bisection_bytes_per_s; across.num > 0) {
      text += fmt::format("bisection bandwidth with messages of {}: mean {}, {} to {} over {}\n", size,
                          format_bandwidth(across.mean), format_bandwidth(across.min), format_bandwidth(across.max),
                          output::counted(across.num, "round"));
    }
    text += all_to_all_text(summary.all_to_all);
    if (const Spread& received = summary.received_mean_time_ns; received.num > 0) {
      text += fmt::format("received in messages of {}: mean {}, {} to {} over {}\n", size,
                          format_time_ns(received.mean), format_time_ns(received.min), format_time_ns(received.max),
                          output::counted(received.num, "ordered pair"));
    }
  }
  return text;
}

const char* words_for(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_retested:
      return "not retested";
    case Verdict::not_slow:
      return "not unusual";
    case Verdict::slow_alone_too:
      return "slow alone too";
    case Verdict::only_under_load:
      return "only under load";
  }
  return "";
}

struct ListedPair {
  const SliceSummary* summary;
  SlowPairDetails details;
};

/// Of one slice all pairs; of a sweep those that are slow, suspects first.
std::vector<ListedPair> listed_pairs(const LinkResult& result) {
  std::vector<ListedPair> listed;
  for (std::size_t index = 0; index < result.slices.size(); ++index) {
    for (const auto& details : slow_pairs_of(result, index)) {
      if (result.slices.size() > 1 && details.verdict == Verdict::not_slow) continue;
      listed.push_back({&result.slices[index], details});
    }
  }
  if (result.slices.size() > 1) {
    std::stable_partition(listed.begin(), listed.end(),
                          [](const ListedPair& pair) { return pair.details.verdict == Verdict::slow_alone_too; });
  }
  return listed;
}

std::string end_of(std::uint32_t rank, const std::string& host) {
  return host.empty() ? std::to_string(rank) : fmt::format("{} ({})", rank, host);
}

std::string slowest_pairs(const LinkResult& result) {
  const std::vector<ListedPair> listed = listed_pairs(result);
  const bool is_sweep = result.slices.size() > 1;
  if (listed.empty()) {
    if (!is_sweep || result.request.retest <= 0) return "";
    return fmt::format("no slow pairs: none takes {} times the median of its kind\n", slow_factor);
  }
  std::vector<double> times;
  for (const auto& pair : listed) times.push_back(pair.details.pair.time_ns);
  const Unit unit = time_unit(output::middle_of(times));
  std::vector<output::Column> columns;
  if (is_sweep) columns.push_back({"message size"});
  columns.insert(columns.end(),
                 {{"from", output::Align::left}, {"", output::Align::left}, {"to", output::Align::left}});
  columns.push_back({fmt::format("first {}", unit.name)});
  columns.push_back({fmt::format("retest {}", unit.name)});
  columns.insert(columns.end(), {{"ratio"}, {"verdict", output::Align::left}});
  output::Table table(std::move(columns));

  for (std::size_t index = 0; index < std::min(listed.size(), most_slow_pairs_shown); ++index) {
    const auto& [summary, details] = listed[index];
    const SlowPair& pair = details.pair;
    std::vector<std::string> cells;
    if (is_sweep) cells.push_back(format_bytes(summary->slice.message_size_bytes));
    cells.insert(cells.end(), {end_of(pair.from, details.from_host), "->", end_of(pair.to, details.to_host)});
    cells.push_back(output::in_unit(pair.time_ns, unit));
    cells.push_back(output::in_unit(
        pair.retest_time_ns > 0 ? pair.retest_time_ns : std::numeric_limits<double>::quiet_NaN(), unit));
    cells.push_back(std::isfinite(details.ratio) ? fmt::format("{:.2f}", details.ratio) : "-");
    cells.emplace_back(words_for(details.verdict));
    table.add_row(std::move(cells));
  }
  std::string text = fmt::format("slowest pairs (first under load, then alone)\n{}", table.text());
  if (listed.size() > most_slow_pairs_shown) {
    text += fmt::format("  ... and {} more in the result file\n", listed.size() - most_slow_pairs_shown);
  }
  return text;
}

/// "measured in 2.74 s"; with --verbose what that was.
std::string tail(const LinkResult& result, const std::string& result_path) {
  double measuring_s = 0, slowest_pairs_s = 0, retest_s = 0;
  for (const SliceSummary& summary : result.slices) {
    measuring_s += summary.measuring_s;
    slowest_pairs_s += summary.slowest_pairs_s;
    retest_s += summary.retest_s;
  }
  std::string text;
  if (!result.slices.empty()) {
    text += fmt::format("measured in {}", output::format_duration(measuring_s));
    if (result.request.verbose) {
      text += fmt::format(" (slowest halves of the rounds {}, retest {})", output::format_duration(slowest_pairs_s),
                          output::format_duration(retest_s));
    }
    text += '\n';
  }
  return text + output::run_tail(result, result.request.format, result_path);
}

}  // namespace

std::string link_summary(const LinkResult& result, const std::string& result_path, int width) {
  std::vector<Finding> losses, others;
  std::ranges::partition_copy(result.findings, std::back_inserter(losses), std::back_inserter(others),
                              bench::is_of_loss);
  std::string text =
      output::incomplete_line(result) + output::verdict_text(diagnosed_slices(result), result.slices.size());
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  };
  const bool is_verbose = result.request.verbose;
  add_part(output::findings_text(losses));  // the verdict says nothing of who is not there any more
  add_part(head(result) + all_classes(result, width));
  add_part(like_text(result));
  add_part(beside_the_pairs(result));
  if (is_verbose) {
    if (result.slices.size() == 1) add_part(one_slice(result.slices.front(), result));
    if (result.slices.size() > 1) add_part(many_slices(result));
    add_part(slowest_pairs(result));
  }
  add_part(output::findings_text(others, is_verbose ? output::NoteDetail::full : output::NoteDetail::message_alone));
  add_part(tail(result, result_path));
  return text;
}

std::string health_line(const LinkResult& result, const std::string& /*result_path*/) {
  std::string faults;
  double measuring_s = 0;
  std::uint64_t num_pairs = 0, num_measured = 0;
  for (const SliceSummary& slice : result.slices) {
    measuring_s += slice.measuring_s + slice.diagnosis_s;
    if (!slice.diagnosis) continue;
    num_pairs += slice.diagnosis->num_pairs;
    num_measured += slice.diagnosis->num_measured;
    for (const ComparedClass& one : slice.diagnosis->profile) {
      if (one.change == Change::slower) faults += (faults.empty() ? "" : "; ") + output::class_sentence(one);
    }
    for (const diagnosis::FaultGroup& group : diagnosis::fault_groups(*slice.diagnosis)) {
      if (counts(group.fault)) faults += (faults.empty() ? "" : "; ") + output::group_sentence(group);
    }
  }
  if (!faults.empty()) return fmt::format("bad: {}\n", faults);
  std::string beside;
  for (const SliceSummary& slice : result.slices) {
    if (!slice.diagnosis || !slice.diagnosis->line_rate) continue;
    const LineRateShare& reached = *slice.diagnosis->line_rate;
    if (reached.share >= diagnosis::least_share_of_line_rate) continue;
    beside = fmt::format(", but a pair between hosts reaches {:.3g} % of the line rate ({})", 100 * reached.share,
                         reached.adapter);
  }
  const auto& provenance = result.provenance;
  const double share = num_pairs > 0 ? 100 * static_cast<double>(num_measured) / static_cast<double>(num_pairs) : 0;
  return fmt::format("ok: {} on {}, {:.0f} % of all pairs in {}, no fault{}\n",
                     output::counted(static_cast<std::uint64_t>(provenance.num_ranks), "rank"),
                     output::counted(static_cast<std::uint64_t>(provenance.num_hosts), "host"), share,
                     output::format_duration(measuring_s), beside);
}

namespace {

double left_s(std::int64_t round, std::int64_t num_rounds, double elapsed_s) {
  return output::time_left_s(static_cast<double>(round), static_cast<double>(num_rounds), elapsed_s);
}

/// How much of all rounds of all slices is done, each counted by the time that its messages are assumed to take.
class RemainingRounds {
 public:
  explicit RemainingRounds(const LinkRequest& request) {
    for (const std::uint64_t size : request.message_sizes_bytes) {
      const MessageCounts counts = message_counts(request, size);
      costs_.push_back(static_cast<double>(counts.num_messages) * message_s(CostAssumption{}, size));
    }
  }

  void slices_begin(std::size_t num_now, int first_number, int num_slices) {
    const auto begin = static_cast<std::size_t>(first_number - 1);
    before_ = cost(0, begin);
    now_ = cost(begin, begin + num_now);
    later_ = cost(begin + num_now, std::max(static_cast<std::size_t>(num_slices), begin + num_now));
  }

  /// 0 to 1, once `share_now` of the rounds of the slices under way are done.
  double share(double share_now) const { return (before_ + now_ * share_now) / (before_ + now_ + later_); }

  /// If what is to come goes on as the slices under way did in `elapsed_s`; without retests.
  double left_s(double share_now, double elapsed_s) const {
    return elapsed_s / share_now * (1 - share_now + later_ / now_);
  }

 private:
  /// Of the slices of these indices, in units of one alone.
  double cost(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t index = begin; index < end; ++index) {
      sum += costs_[index % costs_.size()];
    }
    return sum;
  }

  std::vector<double> costs_;  ///< of a round, by size
  double before_ = 0, now_ = 1, later_ = 0;
};

double share_of_rounds(const RoundNumbers& round, std::int64_t num_rounds) {
  return static_cast<double>(round.round) / static_cast<double>(std::max<std::int64_t>(num_rounds, 1));
}

std::string sizes_text(std::span<const Slice> slices) {
  std::vector<std::string> sizes;
  for (const Slice& slice : slices) sizes.push_back(format_bytes(slice.message_size_bytes));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

/// "1 KiB", "1 KiB (2 of 6)" where there are several slices, all sizes where their rounds take turns.
std::string title_of(const std::vector<Slice>& slices, int first_number, int num_slices) {
  const std::string sizes = sizes_text(slices);
  return slices.size() == 1 && num_slices > 1 ? fmt::format("{} ({} of {})", sizes, first_number, num_slices) : sizes;
}

class LinkMarkProgress : public Progress {
 public:
  LinkMarkProgress(const LinkRequest& request, output::ProgressOutlet outlet)
      : outlet_(std::move(outlet)), remaining_(request), began_s_(outlet_.now_s()) {}

  void slices_begin(const std::vector<Slice>& slices, int first_number, int num_slices) override {
    title_ = title_of(slices, first_number, num_slices);
    remaining_.slices_begin(slices.size(), first_number, num_slices);
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    const double share_now = share_of_rounds(round, num_rounds);
    const double share = remaining_.share(share_now);
    if (!marks_.passes(share)) return;
    outlet_.write(fmt::format(
        "{:>3.0f} %  {}, round {}/{} after {}, {} left, mean {}\n", std::floor(100 * share + 1e-6), title_, round.round,
        num_rounds, output::format_duration(outlet_.now_s() - began_s_),
        output::format_duration(remaining_.left_s(share_now, elapsed_s)), format_time_ns(round.time_ns_mean)));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    outlet_.write(output::line_of_lost_pair(low, high, why));
  }

 private:
  output::ProgressOutlet outlet_;
  output::ProgressMarks marks_;
  RemainingRounds remaining_;
  double began_s_;
  std::string title_;
};

class LinkLineProgress : public Progress {
 public:
  LinkLineProgress(Direction direction, output::ProgressOutlet outlet)
      : direction_(direction), outlet_(std::move(outlet)) {}

  void slices_begin(const std::vector<Slice>& slices, int first_number, int num_slices) override {
    const Slice& slice = slice_ = slices.back();
    so_far_ = {};
    std::string text = fmt::format("message size {}", format_bytes(slice.message_size_bytes));
    if (slices.size() > 1) {
      text += fmt::format(" (in turn with {})", sizes_text(std::span(slices).first(slices.size() - 1)));
    } else if (num_slices > 1) {
      text += fmt::format(" ({} of {})", first_number, num_slices);
    }
    if (slice.repeat > 0) text += fmt::format(", repeat {}", slice.repeat + 1);
    if (slice.permutation >= 0) text += fmt::format(", permutation {}", slice.permutation + 1);
    title_ = std::move(text);
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    if (so_far_.num_pairs == 0) begin_table(round, num_rounds);
    add(round);
    const std::string number = fmt::format("{}/{}", round.round, num_rounds);
    outlet_.write(fmt::format(
        "{:>{}} {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} |{} {:>10} {:>10}\n", number,
        number_width_, time(round.time_ns_min), time(round.time_ns_mean), time(round.time_ns_max),
        bandwidth(round.time_ns_min), bandwidth(round.time_ns_mean), bandwidth(round.time_ns_max),
        time(so_far_.time_ns_min), time(so_far_.time_ns_mean), time(so_far_.time_ns_max), across(round),
        output::format_duration(elapsed_s), output::format_duration(left_s(round.round, num_rounds, elapsed_s))));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    outlet_.write(output::line_of_lost_pair(low, high, why));
  }

  void retest_done(const SlowPair& pair) override {
    outlet_.write(fmt::format("retest {} -> {}: {} at first, {} alone\n", pair.from, pair.to,
                              format_time_ns(pair.time_ns), format_time_ns(pair.retest_time_ns)));
  }

 private:
  std::string time(double time_ns) const { return output::in_unit(time_ns, time_unit_); }
  std::string bandwidth(double time_ns) const {
    return output::in_unit(bandwidth_bytes_per_s(time_ns, slice_.message_size_bytes, direction_), bandwidth_unit_);
  }

  /// What crosses the cut in a round of a bisection; nothing elsewhere.
  std::string across(const RoundNumbers& round) const {
    if (!round.bisection_bytes_per_s) return "";
    const auto& [num, min, mean, max] = *round.bisection_bytes_per_s;
    return fmt::format(" {:>10} {:>10} {:>10} |", output::in_unit(min, cut_unit_), output::in_unit(mean, cut_unit_),
                       output::in_unit(max, cut_unit_));
  }

  void begin_table(const RoundNumbers& first, std::int64_t num_rounds) {
    time_unit_ = time_unit(first.time_ns_mean);
    bandwidth_unit_ = bandwidth_unit(bandwidth_bytes_per_s(first.time_ns_mean, slice_.message_size_bytes, direction_));
    const bool has_cut = first.bisection_bytes_per_s.has_value();
    if (has_cut) cut_unit_ = bandwidth_unit(first.bisection_bytes_per_s->mean);
    number_width_ = std::max<std::size_t>(5, 2 * std::to_string(num_rounds).size() + 1);
    const std::string groups = fmt::format(
        "{:>{}} {:^32} | {:^32} | {:^32} |{}", "", number_width_, fmt::format("this round, {}", time_unit_.name),
        fmt::format("this round, {}", bandwidth_unit_.name), fmt::format("rounds so far, {}", time_unit_.name),
        has_cut ? fmt::format(" {:^32} |", fmt::format("across the cut, {}", cut_unit_.name)) : "");
    const std::string titles =
        fmt::format("{:>{}} {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} |{} {:>10} {:>10}",
                    "round", number_width_, "min", "mean", "max", "at min", "at mean", "at max", "min", "mean", "max",
                    has_cut ? fmt::format(" {:>10} {:>10} {:>10} |", "min", "mean", "max") : "", "elapsed", "left");
    outlet_.write(fmt::format("{}\n{}\n{}\n", title_, groups, titles));
  }

  void add(const RoundNumbers& round) {
    if (so_far_.num_pairs == 0) {
      so_far_ = round;
      return;
    }
    const auto pairs_before = static_cast<double>(so_far_.num_pairs);
    const auto pairs_now = static_cast<double>(round.num_pairs);
    so_far_.time_ns_min = std::min(so_far_.time_ns_min, round.time_ns_min);
    so_far_.time_ns_max = std::max(so_far_.time_ns_max, round.time_ns_max);
    so_far_.time_ns_mean =
        (so_far_.time_ns_mean * pairs_before + round.time_ns_mean * pairs_now) / (pairs_before + pairs_now);
    so_far_.num_pairs += round.num_pairs;
  }

  Direction direction_;
  output::ProgressOutlet outlet_;
  Slice slice_;
  std::string title_;
  RoundNumbers so_far_;
  Unit time_unit_, bandwidth_unit_, cut_unit_;
  std::size_t number_width_ = 5;
};

class LinkBarProgress : public Progress {
 public:
  LinkBarProgress(const LinkRequest& request, std::int64_t num_rounds, output::ProgressOutlet outlet)
      : bar_(std::move(outlet)), remaining_(request), num_rounds_(num_rounds) {}

  void slices_begin(const std::vector<Slice>& slices, int first_number, int num_slices) override {
    title_ = title_of(slices, first_number, num_slices);
    remaining_.slices_begin(slices.size(), first_number, num_slices);
    num_retested_ = 0;
    // The first round may take minutes.
    if (bar_.is_due()) bar_.draw(remaining_.share(0), fmt::format("{} round 0/{}", title_, num_rounds_), "begins");
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    if (!bar_.is_due() && round.round < num_rounds) return;
    const double share_now = share_of_rounds(round, num_rounds);
    const std::string left = output::format_duration(remaining_.left_s(share_now, elapsed_s));
    bar_.draw(remaining_.share(share_now), fmt::format("{} round {}/{}", title_, round.round, num_rounds),
              fmt::format("{} left, mean {}", left, format_time_ns(round.time_ns_mean)));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(output::line_of_lost_pair(low, high, why));
  }

  void retest_done(const SlowPair& pair) override {
    ++num_retested_;
    if (!bar_.is_due()) return;
    bar_.draw(remaining_.share(1), fmt::format("{} retest {}", title_, num_retested_),
              fmt::format("{} -> {}", pair.from, pair.to));
  }

  void slice_ends(const SliceSummary&) override { bar_.vanish(); }

 private:
  output::ProgressBar bar_;
  RemainingRounds remaining_;
  std::int64_t num_rounds_;
  std::string title_;
  int num_retested_ = 0;
};

}  // namespace

std::unique_ptr<Progress> make_line_progress(Direction direction, output::ProgressOutlet outlet) {
  return std::make_unique<LinkLineProgress>(direction, std::move(outlet));
}

std::unique_ptr<Progress> make_mark_progress(const LinkRequest& request, output::ProgressOutlet outlet) {
  return std::make_unique<LinkMarkProgress>(request, std::move(outlet));
}

std::unique_ptr<Progress> make_bar_progress(const LinkRequest& request, std::int64_t num_rounds,
                                            output::ProgressOutlet outlet) {
  return std::make_unique<LinkBarProgress>(request, num_rounds, std::move(outlet));
}

std::unique_ptr<Progress> make_progress(const LinkRequest& request, std::int64_t num_rounds) {
  const output::ProgressOutlet outlet = output::standard_error_outlet();
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) return make_bar_progress(request, num_rounds, outlet);
  if (request.verbose) return make_line_progress(request.direction, outlet);
  return make_mark_progress(request, outlet);
}

namespace {

constexpr int max_ranks_in_full = 16;
constexpr std::int64_t max_rounds_in_full = 64;
constexpr std::int64_t rounds_at_each_end = 4;

std::string rounds_in_full(const schedule::Schedule& schedule, bool is_shift) {
  std::string text =
      is_shift ? "Rounds (the first of a pair sends to the other):\n" : "Rounds (the first of a pair sends first):\n";
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    text += fmt::format("  round {:>3} (number {:>3} of the plain order):", round + 1, schedule.number_of(round));
    for (const schedule::Pair& pair : schedule.pairs(round)) text += fmt::format(" {}-{}", pair.first, pair.second);
    text += '\n';
  }
  return text;
}

std::string shown_round(const schedule::Schedule& schedule, int rank, std::int64_t round) {
  const auto pairing = schedule.pairing(rank, round);
  if (!pairing) return fmt::format("  round {:>8}: rests\n", round + 1);
  return fmt::format("  round {:>8}: partner {:>8}, {}\n", round + 1, pairing->partner,
                     pairing->leads_first ? "sends first" : "answers first");
}

/// The first ones: each costs as much as there are hosts, and which is the last may depend on the time they take.
std::string first_rounds_of_one_rank(const schedule::Schedule& schedule, int rank) {
  std::string text = fmt::format("First rounds of rank {}:\n", rank);
  const std::int64_t num_shown = std::min(schedule.num_rounds(), 2 * rounds_at_each_end);
  for (std::int64_t round = 0; round < num_shown; ++round) text += shown_round(schedule, rank, round);
  return text;
}

std::string rounds_of_one_rank(const schedule::Schedule& schedule, int rank) {
  std::string text = fmt::format("Rounds of rank {}:\n", rank);
  std::int64_t pairings = 0, first_sends = 0;
  const std::int64_t num_rounds = schedule.num_rounds();
  for (std::int64_t round = 0; round < num_rounds; ++round) {
    const auto pairing = schedule.pairing(rank, round);
    if (pairing) {
      ++pairings;
      first_sends += pairing->leads_first ? 1 : 0;
    }
    const bool is_shown = round < rounds_at_each_end || round >= num_rounds - rounds_at_each_end;
    if (round == rounds_at_each_end && num_rounds > 2 * rounds_at_each_end) text += "  ...\n";
    if (!is_shown) continue;
    text += shown_round(schedule, rank, round);
  }
  return text +
         fmt::format("  {} rounds walked: {} partners, sends first {} times\n", num_rounds, pairings, first_sends);
}

}  // namespace

std::string pairs_text(const LinkRequest& request) {
  std::string text = is_sample(request) ? "pairs of ranks" : "all pairs of ranks";
  if (request.shift) text = "all ordered pairs of ranks, in shifts of a ring";
  if (request.bisection) text = "pairs across the two halves of the ranks";
  if (request.between_hosts) text = "pairs on different hosts";
  if (request.bisection && request.between_hosts) text = "pairs across the two halves of the hosts";
  if (request.one_per_host) text += ", one rank per host";
  if (request.serial) text += ", one pair at a time";
  if (request.rounds > 0) return text + fmt::format(", in {} randomly sampled rounds", request.rounds);
  return is_sample(request) ? text + ", in randomly sampled rounds" : text;
}

namespace {

/// What is special about the messages of some sizes, and whose measurement it is.
std::string like_plan(const LinkRequest& request) {
  std::string text;
  for (const MessagesFrom& from : request.messages_by_size) {
    const MessageCounts counts = message_counts(request, from.size_bytes);
    text += fmt::format("  from {} on: {} messages after {} for warm-up, in {} timed batches\n",
                        format_bytes(from.size_bytes), counts.num_messages, counts.num_warmup, counts.num_batches);
  }
  if (request.like == Like::none) return text;
  const std::string own = differences_from_like(request);
  text += fmt::format("As {} does{}{}\n", name_of(request.like), own.empty() ? "" : ", but with ", own);
  return text;
}

}  // namespace

std::string plan_text(const LinkRequest& request, const Plan& plan) {
  const int num_ranks = plan.rank_layout.num_ranks;
  const schedule::Schedule schedule(schedule_spec(request, plan.rank_layout, 0));
  const bool in_full = num_ranks <= max_ranks_in_full && schedule.num_rounds() <= max_rounds_in_full;

  std::string text = fmt::format("Link test of {} rank{}: {} round{} x {} message size{} x {} repeat{}\n", num_ranks,
                                 num_ranks == 1 ? "" : "s", plan.num_rounds, plan.num_rounds == 1 ? "" : "s",
                                 request.message_sizes_bytes.size(), request.message_sizes_bytes.size() == 1 ? "" : "s",
                                 plan.num_repeats, plan.num_repeats == 1 ? "" : "s");
  const std::string windows =
      request.direction == Direction::semidirectional ? "" : fmt::format(", {} in flight", request.window);
  text += fmt::format("Each measurement: {} messages after {} for warm-up, in {} timed batches, {}{}\n",
                      request.num_messages, request.num_warmup, message_counts(request, 0).num_batches,
                      name_of(request.direction), windows);
  text += like_plan(request);
  text += fmt::format("Measured are {}\n", pairs_text(request));
  if (request.all_to_all != AllToAll::none) {
    text += fmt::format("All-to-all exchanges: {}\n", name_of(request.all_to_all));
  }
  const Estimate& estimate = plan.estimate;
  if (request.budget_s > 0) {
    text += fmt::format("Random rounds until {} of {} are over: about {}, at most {}\n",
                        output::format_duration(budget_share_of_rounds * request.budget_s),
                        output::format_duration(request.budget_s), estimate.num_rounds, plan.num_rounds);
  }
  if (in_full) {
    text += rounds_in_full(schedule, request.shift);
  } else {
    text += is_sample(request) ? first_rounds_of_one_rank(schedule, 0) : rounds_of_one_rank(schedule, 0);
  }

  text += output::estimate_head(estimate.assumption);
  text += fmt::format("  time      {} of messages, without retest and barriers\n",
                      output::format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} a rank for message buffers, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}, {} statistics of each pair\n", about_bytes(estimate.file_bytes),
                      name_of(estimate.statistics));
  return text;
}

}  // namespace leadline::bench::link
