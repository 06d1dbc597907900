// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints of a bisection test, its progress, and what `leadline info` says of its file.
#include "bench/bisection/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/bisection/stopping.hpp"
#include "bench/plan.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::bench::bisection {
namespace {

constexpr std::size_t most_patterns = 40;
constexpr std::size_t most_ranks_in_full = 16;
constexpr std::uint64_t num_random_shown = 3;

std::string who_plays(const Plan& plan) {
  const auto& host_of = plan.rank_layout.host_of;
  const std::uint64_t num_hosts =
      host_of.empty() ? 1 : std::uint64_t{1} + *std::max_element(host_of.begin(), host_of.end());
  std::string text = fmt::format("Bisection test of {} on {}",
                                 output::counted(static_cast<std::uint64_t>(plan.rank_layout.num_ranks), "rank"),
                                 output::counted(num_hosts, "host"));
  if (plan.ranks.size() < static_cast<std::size_t>(plan.rank_layout.num_ranks)) {
    text += fmt::format(", of which {} take part", plan.ranks.size());
  }
  if (plan.has_random && plan.ranks.size() % 2 == 1) text += "; in each random pattern one rests";
  return text + "\n";
}

std::string when_it_ends(const BisectionRequest& request) {
  std::string text;
  if (request.precision > 0) text += fmt::format(", until the 95 % interval is ± {:g} %", 100 * request.precision);
  if (request.time_limit_s > 0) text += fmt::format(", for {} at most", output::format_duration(request.time_limit_s));
  return text;
}

std::string what_is_measured(const BisectionRequest& request, const Plan& plan) {
  std::string text;
  if (plan.has_random) {
    text += fmt::format("Random patterns: up to {} of each message size, seed {}, pairs {}{}\n", request.rounds,
                        request.seed, plan.participants.within_hosts ? "on any host" : "between hosts",
                        when_it_ends(request));
  }
  if (!plan.named.empty()) {
    text += fmt::format("Named patterns: {}, {} each\n", plan.named.size(),
                        request.repeat == 1 ? "once" : fmt::format("{} times", request.repeat));
  }
  if (request.num_worst_steps > 0) {
    text += fmt::format("Search for bad patterns: {}\n", output::counted(request.num_worst_steps, "step"));
  }
  text += "Message sizes:";
  for (const std::uint64_t size : request.message_sizes_bytes) text += " " + format_bytes(size) + ",";
  text.back() = '\n';
  text += fmt::format("Each pattern: {} after {} for warm-up", output::counted(request.num_exchanges, "timed exchange"),
                      request.num_warmup);
  if (request.verify) text += fmt::format(", {} verified", request.num_exchanges);
  if (plan.has_random && request.num_baseline_pairs > 0) {
    text += fmt::format("; behind each random one {} alone", output::counted(request.num_baseline_pairs, "pair"));
  }
  return text + "\n";
}

/// "0-5 1-3" for pairs, "0>1 1>2" where they differ.
std::string in_full(const schedule::Pattern& pattern) {
  std::string text;
  const auto num_ranks = static_cast<std::int32_t>(pattern.send_to.size());
  for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
    const std::int32_t to = pattern.send_to[static_cast<std::size_t>(rank)];
    if (to == schedule::no_rank) continue;
    const bool is_pair = pattern.send_to[static_cast<std::size_t>(to)] == rank;
    if (is_pair && rank < to) text += fmt::format(" {}-{}", rank, to);
    if (!is_pair) text += fmt::format(" {}>{}", rank, to);
  }
  return text;
}

/// Of few ranks who plays with whom, of many the connection of the first that does not rest.
std::string pattern_line(const std::string& name, const schedule::Pattern& pattern) {
  if (pattern.send_to.size() <= most_ranks_in_full) return fmt::format("  {}:{}\n", name, in_full(pattern));
  const auto first = std::find_if(pattern.send_to.begin(), pattern.send_to.end(),
                                  [](std::int32_t to) { return to != schedule::no_rank; });
  return fmt::format("  {}: {}, the first from rank {} to {}\n", name,
                     output::counted(static_cast<std::uint64_t>(pattern.num_connections()), "connection"),
                     first - pattern.send_to.begin(), *first);
}

std::string first_patterns(const BisectionRequest& request, const Plan& plan) {
  std::string text = "Patterns:\n";
  for (std::uint64_t index = 0; plan.has_random && index < std::min(request.rounds, num_random_shown); ++index) {
    text += pattern_line(fmt::format("random {}", index),
                         schedule::random_pattern(plan.participants, plan.ranks, request.seed, index));
  }
  for (std::size_t i = 0; i < std::min(plan.named.size(), most_patterns); ++i) {
    text += pattern_line(plan.named[i].name,
                         schedule::named_pattern(plan.named[i], plan.rank_layout.num_ranks, plan.ranks));
  }
  if (plan.named.size() > most_patterns) text += fmt::format("  ... and {} more\n", plan.named.size() - most_patterns);
  return text;
}

}  // namespace

std::string plus_minus(const Interval& interval, const Unit& unit) {
  if (!std::isfinite(interval.half_width)) return output::in_unit(interval.mean, unit);
  return fmt::format("{} ± {}", output::in_unit(interval.mean, unit), output::in_unit(interval.half_width, unit));
}

std::string share_text(double share) { return output::in_unit(share, Unit{}); }

double relative_width(const Interval& interval) { return interval.half_width / interval.mean; }

const BisectionSummary* summary_of(const BisectionResult& result, int size_index) {
  for (const BisectionSummary& summary : result.sizes) {
    if (summary.size_index == size_index && summary.num_patterns > 0) return &summary;
  }
  return nullptr;
}

bool has_random_patterns(const BisectionResult& result) {
  return std::any_of(result.sizes.begin(), result.sizes.end(),
                     [](const BisectionSummary& summary) { return summary.num_patterns > 0; });
}

Unit unit_of_bandwidths(const BisectionResult& result) {
  std::vector<double> bandwidths;
  for (const BisectionSummary& summary : result.sizes) bandwidths.push_back(summary.ebb.mean);
  if (std::isnan(output::middle_of(bandwidths))) {
    for (const PatternSummary& pattern : result.patterns) bandwidths.push_back(pattern.bytes_per_s_mean);
  }
  return bandwidth_unit(output::middle_of(bandwidths));
}

std::string bisection_plan_text(const BisectionRequest& request, const Plan& plan) {
  std::string text = who_plays(plan) + what_is_measured(request, plan) + first_patterns(request, plan);
  const Estimate& estimate = plan.estimate;
  text += output::estimate_head(estimate.assumption);
  const char* const until = request.precision > 0 ? "at most " : "";  // fewer patterns may do
  text += fmt::format("  time      {}{}\n", until, output::format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} a rank for message buffers, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}{}\n", until, about_bytes(estimate.file_bytes));
  return text;
}

namespace {

std::uint64_t random_patterns_for(const BisectionRequest& request, const Interval& so_far) {
  if (!(request.precision > 0) || !std::isfinite(so_far.half_width)) return request.rounds;
  const double ratio = so_far.half_width / (so_far.mean * request.precision);
  const double num =
      std::min(std::ceil(static_cast<double>(so_far.num) * ratio * ratio), static_cast<double>(request.rounds));
  const std::uint64_t least = std::max(Stopping::min_patterns, so_far.num);
  return std::min(std::max(static_cast<std::uint64_t>(num), least), request.rounds);
}

constexpr double pattern_line_interval_s = 1;

class BisectionLineProgress final : public Progress {
 public:
  BisectionLineProgress(const BisectionRequest& request, std::size_t num_named, output::ProgressOutlet outlet)
      : remaining_(request, num_named), outlet_(std::move(outlet)) {
    number_width_ = std::to_string(std::max<std::uint64_t>(request.rounds, 1'000'000)).size();
  }

  void size_begins(int size_index, std::uint64_t message_size_bytes) override {
    remaining_.size_begins(size_index);
    message_size_bytes_ = message_size_bytes;
    has_titles_ = false;
  }

  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) override {
    remaining_.pattern_ends(summary, so_far, elapsed_s);
    if (!has_titles_) write_titles(summary);
    waiting_ = line(summary, so_far, elapsed_s);
    if (outlet_.now_s() < next_line_s_) return;
    write_waiting();
  }

  void retest_done(const SlowConnection& connection) override {
    write_waiting();
    outlet_.write(fmt::format("retest {} -> {}: {} with all others, {} alone\n", connection.from, connection.to,
                              format_time_ns(connection.time_ns), format_time_ns(connection.alone_time_ns)));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    write_waiting();
    outlet_.write(output::line_of_lost_pair(low, high, why));
  }

  void size_ends(const BisectionSummary&) override { write_waiting(); }

 private:
  void write_titles(const PatternSummary& first) {
    unit_ = bandwidth_unit(first.bytes_per_s_mean);
    outlet_.write(fmt::format("message size {}\n{:>{}}  {:<14} {:>12} {:>12} {:>8} {:>11} {:>11}\n",
                              format_bytes(message_size_bytes_), "pattern", number_width_, "", unit_.name, "eBB so far",
                              "±", "elapsed", "left"));
    has_titles_ = true;
    next_line_s_ = outlet_.now_s();
  }

  std::string line(const PatternSummary& summary, const Interval& so_far, double elapsed_s) const {
    return fmt::format("{:>{}}  {:<14} {:>12} {:>12} {:>8} {:>11} {:>11}\n", summary.position.number + 1, number_width_,
                       summary.position.name, output::in_unit(summary.bytes_per_s_mean, unit_),
                       output::in_unit(so_far.mean, unit_), output::percent_text(relative_width(so_far)),
                       output::format_duration(elapsed_s), output::format_duration(remaining_.left_s()));
  }

  void write_waiting() {
    if (!waiting_) return;
    outlet_.write(*waiting_);
    waiting_.reset();
    next_line_s_ = outlet_.now_s() + pattern_line_interval_s;
  }

  BisectionRemaining remaining_;
  output::ProgressOutlet outlet_;
  std::uint64_t message_size_bytes_ = 0;
  bool has_titles_ = false;
  std::optional<std::string> waiting_;
  double next_line_s_ = 0;
  std::size_t number_width_;
  Unit unit_;
};

class BisectionBarProgress final : public Progress {
 public:
  BisectionBarProgress(const BisectionRequest& request, std::size_t num_named, output::ProgressOutlet outlet)
      : remaining_(request, num_named), bar_(std::move(outlet)) {}
  ~BisectionBarProgress() override { bar_.vanish(); }
  BisectionBarProgress(const BisectionBarProgress&) = delete;
  BisectionBarProgress& operator=(const BisectionBarProgress&) = delete;

  void size_begins(int size_index, std::uint64_t message_size_bytes) override {
    remaining_.size_begins(size_index);
    size_ = format_bytes(message_size_bytes);
    bar_.draw(0, size_, "begins");  // the first pattern may take long
  }

  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) override {
    remaining_.pattern_ends(summary, so_far, elapsed_s);
    if (!bar_.is_due()) return;
    const auto done = static_cast<double>(remaining_.num_done());
    const double share = done / std::max(static_cast<double>(remaining_.num_patterns()), done);
    bar_.draw(share, fmt::format("{} {} {}", size_, summary.position.name, summary.position.number + 1),
              fmt::format("{} left, {}", output::format_duration(remaining_.left_s()), so_far_text(summary, so_far)));
  }

  void retest_done(const SlowConnection& connection) override {
    if (bar_.is_due()) bar_.draw(1, size_ + " retest", fmt::format("{} -> {}", connection.from, connection.to));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(output::line_of_lost_pair(low, high, why));
  }

  void size_ends(const BisectionSummary&) override { bar_.vanish(); }

 private:
  static std::string so_far_text(const PatternSummary& summary, const Interval& so_far) {
    if (std::isnan(so_far.mean)) return "mean " + format_bandwidth(summary.bytes_per_s_mean);
    const std::string text = "eBB " + format_bandwidth(so_far.mean);
    const double width = relative_width(so_far);
    return std::isfinite(width) ? fmt::format("{} to {}", text, output::percent_text(width)) : text;
  }

  BisectionRemaining remaining_;
  output::ProgressBar bar_;
  std::string size_;
};

}  // namespace

BisectionRemaining::BisectionRemaining(const BisectionRequest& request, std::size_t num_named)
    : request_(request),
      has_random_(std::find(request.patterns.begin(), request.patterns.end(), name_of(PatternKind::random)) !=
                  request.patterns.end()),
      num_others_(num_named * static_cast<std::uint64_t>(request.repeat) + request.num_worst_steps) {}

void BisectionRemaining::size_begins(int size_index) {
  size_index_ = size_index;
  size_began_s_ = last_s_;
  num_random_ = has_random_ ? request_.rounds : 0;
  num_random_done_ = num_others_done_ = 0;
}

/// Of the sizes that are still to come, as shares of this one.
double BisectionRemaining::later_sizes() const {
  const bench::CostAssumption assumption;
  const auto& sizes = request_.message_sizes_bytes;
  const auto now = static_cast<std::size_t>(size_index_);
  double sum = 0;
  for (std::size_t size = now + 1; size < sizes.size(); ++size) {
    sum += bench::message_s(assumption, sizes[size]) / bench::message_s(assumption, sizes[now]);
  }
  return sum;
}

void BisectionRemaining::pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) {
  last_s_ = elapsed_s;
  if (summary.position.kind == PatternKind::random) {
    ++num_random_done_;
    num_random_ = random_patterns_for(request_, so_far);
  } else {
    ++num_others_done_;
    num_random_ = num_random_done_;  // there will be no more
  }
  const double pattern_s = (elapsed_s - size_began_s_) / static_cast<double>(num_done());
  const auto take_s = [&](std::uint64_t all, std::uint64_t done) {
    return (static_cast<double>(all - std::min(all, done)) + static_cast<double>(all) * later_sizes()) * pattern_s;
  };
  left_s_ = take_s(num_random_, num_random_done_) + take_s(num_others_, num_others_done_);
  if (request_.time_limit_s > 0) left_s_ = std::min(left_s_, std::max(request_.time_limit_s - elapsed_s, 0.0));
}

std::unique_ptr<Progress> make_bisection_lines(const BisectionRequest& request, std::size_t num_named,
                                               output::ProgressOutlet outlet) {
  return std::make_unique<BisectionLineProgress>(request, num_named, std::move(outlet));
}

std::unique_ptr<Progress> make_bisection_bar(const BisectionRequest& request, std::size_t num_named,
                                             output::ProgressOutlet outlet) {
  return std::make_unique<BisectionBarProgress>(request, num_named, std::move(outlet));
}

std::unique_ptr<Progress> make_bisection_progress(const BisectionRequest& request, std::size_t num_named) {
  if (request.quiet) return std::make_unique<Progress>();
  if (output::is_redrawable_terminal()) return make_bisection_bar(request, num_named, output::standard_error_outlet());
  return make_bisection_lines(request, num_named, output::standard_error_outlet());
}

namespace {

/// One message size.
struct SizeInfo {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_patterns = 0;   ///< of every kind that are in the file, also of a run that was killed
  std::uint64_t num_baseline = 0;   ///< likewise pairs that were measured alone
  std::optional<KeptSize> numbers;  ///< nothing without a summary
};

constexpr std::size_t most_sizes_shown = 64;

std::string participants_text(const Header& header) {
  const auto participants = static_cast<std::uint64_t>(header.num_participants);
  return output::line("participants", fmt::format("{}{}", output::counted(participants, "rank"),
                                                  header.within_hosts ? ", pairs within hosts, too" : ""));
}

std::string patterns_text(const Header& header) {
  const std::string asked = output::harmless(result::option_text(header, "pattern"));
  return output::line("patterns",
                      fmt::format("{}; seed {}, {} each", asked, header.seed,
                                  output::counted(static_cast<std::uint64_t>(header.num_exchanges), "exchange")));
}

/// The eBB of all sizes goes in one unit.
Unit unit_of_ebb(const std::vector<SizeInfo>& sizes) {
  std::vector<double> bandwidths;
  for (const SizeInfo& size : sizes) {
    if (size.numbers) bandwidths.push_back(size.numbers->ebb.mean);
  }
  return bandwidth_unit(output::middle_of(bandwidths));
}

std::string size_table(const std::vector<SizeInfo>& sizes, const Header& header) {
  const Unit unit = unit_of_ebb(sizes);
  output::Table table({{"message size"},
                       {"patterns"},
                       {"pairs alone"},
                       {fmt::format("eBB {}", unit.name)},
                       {"of pairs alone"},
                       {"static"},
                       {"tail"},
                       {"stopped by", output::Align::left}});
  const std::size_t num_shown = std::min(sizes.size(), most_sizes_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const SizeInfo& size = sizes[index];
    const std::optional<KeptSize>& numbers = size.numbers;
    table.add_row({format_bytes(size.message_size_bytes), std::to_string(size.num_patterns),
                   std::to_string(size.num_baseline), numbers ? plus_minus(numbers->ebb, unit) : "-",
                   numbers ? plus_minus(numbers->contention_share, Unit{}) : "-",
                   numbers ? plus_minus(numbers->static_share, Unit{}) : "-", numbers ? share_text(numbers->tail) : "-",
                   numbers ? output::harmless(numbers->stopped_by) : "-"});
  }
  std::string text = "\n" + table.text();
  if (sizes.size() > num_shown) text += fmt::format("  and {} more\n", sizes.size() - num_shown);
  if (!header.summary) text += "  No eBB: the run ended before its summary was written.\n";
  return text;
}

Json size_json(const SizeInfo& size) {
  Json json = {{"message_size_bytes", size.message_size_bytes},
               {"num_patterns", size.num_patterns},
               {"num_baseline", size.num_baseline}};
  result::add_fields(json, size.numbers.value_or(KeptSize{}));
  if (!size.numbers) json["stopped_by"] = json["ebb"] = json["contention_share"] = nullptr;
  return json;
}

}  // namespace

output::ResultInfo info_of(const Hdf5Reader& reader) {
  const Header& header = reader.header();
  const std::vector<HostRanks> hosts = output::hosts_of(reader);
  const std::vector<std::optional<KeptSize>> numbers = kept_sizes(header, reader.path());
  std::vector<SizeInfo> sizes;
  Json json_of_sizes = Json::array();
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    sizes.push_back(
        {header.message_sizes_bytes[index], reader.num_patterns(index), reader.num_baseline(index), numbers[index]});
    json_of_sizes.push_back(size_json(sizes.back()));
  }

  std::string text = output::line("result", fmt::format("bisection test, format {}", header.format_version));
  text += output::run_text(header) + output::ranks_text(header, hosts) + participants_text(header) +
          output::sizes_text(header);
  text += patterns_text(header) + size_table(sizes, header);
  Json json = output::run_json("bisection", header);
  result::add_fields(json, header);
  json["max_patterns"] = header.max_patterns;
  output::add_origin(json, header, hosts);
  json["sizes"] = std::move(json_of_sizes);
  return {text, json};
}

}  // namespace leadline::bench::bisection
