// SPDX-License-Identifier: Apache-2.0
// LinkTest 2.x's grammar: labels, order, digits and units that grow with the value.
#include "compat/linktest/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/linktest/layers.hpp"
#include "compat/linktest/options.hpp"
#include "compat/values.hpp"
#include "core/units.hpp"

namespace leadline::compat::linktest {
namespace {

/// Digits after the point, and the width of the number: those of the kind of line.
struct Digits {
  int time_width = 10, time = 5, bandwidth_width = 10, bandwidth = 4;
};
constexpr Digits step_digits{}, analyse_digits{10, 4, 10, 3}, result_digits{13, 8, 10, 3};

std::string time_text(double time_ns, const Digits& digits) {
  const Unit unit = time_unit(time_ns);
  return fmt::format("{:>{}.{}f} {}", time_ns / unit.divisor, digits.time_width, digits.time, unit.name);
}

std::string bandwidth_text(double bytes_per_s, const Digits& digits) {
  const Unit unit = bandwidth_unit(bytes_per_s);
  return fmt::format("{:>{}.{}f} {}", bytes_per_s / unit.divisor, digits.bandwidth_width, digits.bandwidth, unit.name);
}

std::string figure(double time_ns, const Scale& scale, const Digits& digits) {
  return fmt::format("{} ({})", time_text(time_ns, digits),
                     bandwidth_text(bandwidth_bytes_per_s(time_ns, scale.message_size_bytes, scale.direction), digits));
}

/// Of the pairs of a step, or of the steps so far. The average comes last, as in LinkTest 2.1: there are scripts that
/// take the last words of a line.
template <typename Numbers>
std::string bisection_text(const Numbers& bisection) {
  const Digits& digits = step_digits;
  return fmt::format(" min. bisection bw: {} max. bisection bw: {} avg. bisection bw: {}",
                     bandwidth_text(bisection.min, digits), bandwidth_text(bisection.max, digits),
                     bandwidth_text(bisection.mean, digits));
}

const char* pattern_of(Direction direction) {
  switch (direction) {
    case Direction::unidirectional:
      return "Unidirectional End to End";
    case Direction::bidirectional:
      return "Bidirectional End to End";
    case Direction::semidirectional:
      break;
  }
  return "Semidirectional End to End";
}

const char* yes_or_no(bool value) { return value ? "Yes" : "No"; }

std::string write_protocol(const bench::link::LinkRequest& request) {
  if (request.format == ResultFormat::none) return "No";
  return request.row_path == RowPath::funnel ? "Yes, funneled" : "Yes, parallel";
}

/// Lines that only a run has which uses these options.
std::string further_arguments(const bench::link::LinkRequest& request) {
  std::string text;
  if (request.bisection) text += "bisection test: Yes\n";
  if (request.between_hosts) text += "group processes by hostname: Yes\n";
  if (request.all_to_all != bench::link::AllToAll::none) text += "all-to-all test: Yes\n";
  if (request.shuffle_rounds) text += fmt::format("randomize steps: Yes, seed {}\n", request.shuffle_rounds_seed);
  if (request.shuffle_ranks > 0) {
    text += fmt::format("randomized task orders: {}, seed {}\n", request.shuffle_ranks, request.shuffle_ranks_seed);
  }
  if (request.num_buffers > 1) text += fmt::format("multi buffer: Yes, {}\n", request.num_buffers);
  if (request.fill == Fill::mersenne) text += fmt::format("randomize buffers: Yes, seed {}\n", request.fill_seed);
  if (request.check_buffers) text += "check buffers: Yes\n";
  if (request.repeat != 1) text += fmt::format("min. iterations: {}\n", request.repeat);
  if (request.min_time_s > 0) text += fmt::format("min. runtime: {} s\n", request.min_time_s);
  return text;
}

const char* name_of_phase(bench::link::Phase phase) {
  using bench::link::Phase;
  switch (phase) {
    case Phase::joining:
      return "first sync";
    case Phase::placing:
      return "mapping";
    case Phase::shuffling:
      return "randvec";
    case Phase::scheduling:
      return "getpart";
    case Phase::finding_slowest:
      return "search slow";
    case Phase::retesting:
      return "test slow";
    case Phase::opening_file:
      return "sioncollect";
    case Phase::writing:
      return "sioncollwr";
    case Phase::closing_file:
      return "sionclose";
    case Phase::diagnosing:  // these front ends ask for none
    case Phase::everything:
      break;
  }
  return "all";
}

using bench::link::Phase;
using bench::link::RoundNumbers;

bool is_of_file(Phase phase) {
  return phase == Phase::opening_file || phase == Phase::writing || phase == Phase::closing_file;
}

class LinktestProgress final : public bench::link::Progress {
 public:
  LinktestProgress(bench::link::LinkRequest request, Outlet outlet)
      : request_(std::move(request)), outlet_(std::move(outlet)) {
    outlet_.out(arguments_box(request_));
  }

  void slices_begin(const std::vector<bench::link::Slice>& slices, int /*first_number*/, int /*num_slices*/) override {
    const bench::link::Slice& slice = slices.front();
    iteration_ = slice.repeat + 1;
    scale_ = {slice.message_size_bytes, request_.direction};
    so_far_ = {};
    retests_ = {};
    num_retested_ = 0;
    results_are_out_ = false;
    across_.reset();
    if (request_.bisection && !request_.serial) across_.emplace();  // one pair alone says nothing of the cut
    if (slice.permutation >= 0) {
      outlet_.out(fmt::format("Random task order {} of {}:\n", slice.permutation + 1, request_.shuffle_ranks));
    }
    outlet_.out(start_lines());
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    const Times times = times_of(round);
    so_far_.add(times);
    const std::optional<Spread> across = across_ ? round.bisection_bytes_per_s : std::nullopt;
    if (across) across_->add(across->mean);
    outlet_.out(step_line(request_, round.round, times, across, scale_) + analyse_line(so_far_, across_, scale_) +
                timing_line({round.round, num_rounds, elapsed_s}));
  }

  void retest_done(const SlowPair& pair) override {
    print_results();
    outlet_.out(slow_pair_line(num_retested_++, pair, scale_));
    if (pair.retest_time_ns > 0) retests_.add(times_of(pair.retest_time_ns));
  }

  void slice_ends(const bench::link::SliceSummary& summary) override {
    print_results();
    if (retests_.num_pairs > 0) outlet_.out(slow_pair_results(iteration_, retests_, scale_));
    if (const std::string text = all_to_all_results(iteration_, summary.all_to_all); !text.empty()) outlet_.out(text);
  }

  void phase_done(Phase phase, double seconds) override {
    if (request_.format == ResultFormat::none && is_of_file(phase)) return;
    outlet_.err(phase_line(phase, seconds));
  }

 private:
  /// Once a slice, behind its last step.
  void print_results() {
    if (results_are_out_ || so_far_.num_pairs == 0) return;
    outlet_.out(timing_results(iteration_, so_far_, across_, scale_));
    results_are_out_ = true;
  }

  bench::link::LinkRequest request_;
  Outlet outlet_;
  Scale scale_;
  int iteration_ = 1;
  Times so_far_, retests_;
  std::optional<BisectionSoFar> across_;
  std::size_t num_retested_ = 0;
  bool results_are_out_ = false;
};

}  // namespace

void BisectionSoFar::add(double bytes_per_s) {
  ++num_steps;
  min = num_steps == 1 ? bytes_per_s : std::min(min, bytes_per_s);
  max = num_steps == 1 ? bytes_per_s : std::max(max, bytes_per_s);
  mean += (bytes_per_s - mean) / static_cast<double>(num_steps);
}

std::string arguments_box(const bench::link::LinkRequest& request) {
  std::string text = "-------------------- LinkTest Args -------------------------\n";
  text += fmt::format("Virtual-Cluster Implementation: {}\n", layer_of(request.transport));
  text += fmt::format("Message length: {} B\n", request.message_sizes_bytes.front());
  text += fmt::format("Number of Messages: {}\n", num_messages_as_asked(request));
  text += fmt::format("Number of Messages. (Warmup): {}\n", num_warmup_as_asked(request));
  text += fmt::format("Communication Pattern: {}\n", pattern_of(request.direction));
  text += fmt::format("use gpus: {}\n", yes_or_no(request.allocator == "cuda"));
  text += fmt::format("mixing pe order: {}\n", yes_or_no(request.shuffle_ranks > 0));
  text += fmt::format("serial test only: {}\n", yes_or_no(request.serial));
  text += further_arguments(request);
  text += fmt::format("max serial retest: {}\n", request.retest);
  text += fmt::format("write protocol (SION): {}\n", write_protocol(request));
  if (request.format != ResultFormat::none) text += fmt::format("output file: \"{}\"\n", request.output);
  return text + "------------------------------------------------------------\n";
}

std::string start_lines() { return "Starting Test of all connections:\n---------------------------------\n"; }

std::string step_line(const bench::link::LinkRequest& request, std::int64_t step, const Times& times,
                      const std::optional<Spread>& bisection, const Scale& scale) {
  return fmt::format("{} PingPong for step {}: avg: {} min: {} max: {}{}\n", request.serial ? "Serial" : "Parallel",
                     step, figure(times.mean_ns, scale, step_digits), figure(times.min_ns, scale, step_digits),
                     figure(times.max_ns, scale, step_digits), bisection ? bisection_text(*bisection) : "");
}

std::string analyse_line(const Times& so_far, const std::optional<BisectionSoFar>& bisection, const Scale& scale) {
  return fmt::format("Analyse Summary: min. {} max. {} avg. {}{}\n", figure(so_far.min_ns, scale, analyse_digits),
                     figure(so_far.max_ns, scale, analyse_digits), figure(so_far.mean_ns, scale, analyse_digits),
                     bisection ? bisection_text(*bisection) : "");
}

std::string timing_line(const StepCount& steps) {
  const double elapsed_ns = 1e9 * steps.elapsed_s;
  const double step_ns = elapsed_ns / static_cast<double>(std::max<std::int64_t>(steps.done, 1));
  const std::int64_t remaining = steps.all - steps.done;
  return fmt::format(
      "Timing Summary: {} step(s) required {} ({}/step). {} step(s) remain. Estimated time remaining: {}\n", steps.done,
      time_text(elapsed_ns, step_digits), time_text(step_ns, step_digits), remaining,
      time_text(step_ns * static_cast<double>(remaining), step_digits));
}

std::string timing_results(int iteration, const Times& times, const std::optional<BisectionSoFar>& bisection,
                           const Scale& scale) {
  std::string text = fmt::format("Linktest Timing Results - Iteration {}:\n", iteration);
  text += fmt::format("RESULT: Min Time: {}\n", figure(times.min_ns, scale, result_digits));
  text += fmt::format("RESULT: Max Time: {}\n", figure(times.max_ns, scale, result_digits));
  text += fmt::format("RESULT: Avg Time: {}\n", figure(times.mean_ns, scale, result_digits));
  if (!bisection) return text;
  text += fmt::format("RESULT: Min Bisection Bandwidth: {}\n", bandwidth_text(bisection->min, step_digits));
  text += fmt::format("RESULT: Max Bisection Bandwidth: {}\n", bandwidth_text(bisection->max, step_digits));
  text += fmt::format("RESULT: Avg Bisection Bandwidth: {}\n", bandwidth_text(bisection->mean, step_digits));
  return text;
}

std::string slow_pair_line(std::size_t index, const SlowPair& pair, const Scale& scale) {
  const bool is_retested = pair.retest_time_ns > 0;
  return fmt::format("{}: PINGPONG {} <-> {}: 1st: {} 2nd: {}\n", index, pair.from, pair.to,
                     figure(pair.time_ns, scale, step_digits),
                     is_retested ? figure(pair.retest_time_ns, scale, step_digits) : "not measured");
}

std::string slow_pair_results(int iteration, const Times& retests, const Scale& scale) {
  std::string text = fmt::format("Linktest Slow-Pairs Results - Iteration {}:\n", iteration);
  text += fmt::format("RESULT: Min Time: {}\n", figure(retests.min_ns, scale, result_digits));
  text += fmt::format("RESULT: Max Time: {}\n", figure(retests.max_ns, scale, result_digits));
  text += fmt::format("RESULT: Avg Time: {}\n", figure(retests.mean_ns, scale, result_digits));
  return text;
}

std::string all_to_all_results(int iteration, const bench::link::AllToAllSummary& summary) {
  if (summary.before.num == 0 && summary.after.num == 0) return {};
  std::string text = fmt::format("Linktest All-to-All Results - Iteration {}:\n", iteration);
  const auto line = [](const char* when, const Spread& times) {
    return fmt::format("All-to-All {} the test: avg: {} min: {} max: {}\n", when, time_text(times.mean, step_digits),
                       time_text(times.min, step_digits), time_text(times.max, step_digits));
  };
  if (summary.before.num > 0) text += line("before", summary.before);
  if (summary.after.num > 0) text += line("after", summary.after);
  return text;
}

std::string task_line(int rank, const std::string& host, int core, std::uint64_t resident_bytes) {
  return fmt::format("task[{:06}] on {} ({:>3}) mem= {:.4f} kiB\n", rank, host, core,
                     static_cast<double>(resident_bytes) / 1024);
}

std::string phase_line(bench::link::Phase phase, double seconds) {
  return fmt::format("timings[000] [{}] t= {}\n", name_of_phase(phase), time_text(1e9 * seconds, step_digits));
}

std::string written_line(std::uint64_t record_bytes) { return fmt::format("[sionwrite] {} B\n", record_bytes); }

std::unique_ptr<bench::link::Progress> make_progress(const bench::link::LinkResult& so_far, Outlet outlet) {
  return std::make_unique<LinktestProgress>(so_far.request, std::move(outlet));
}

}  // namespace leadline::compat::linktest
