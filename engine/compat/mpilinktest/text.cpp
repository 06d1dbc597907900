// SPDX-License-Identifier: Apache-2.0
// LinkTest 1.2's grammar: labels, columns and digits.
#include "compat/mpilinktest/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/values.hpp"

namespace leadline::compat::mpilinktest {
namespace {

constexpr double mebi = 1024.0 * 1024.0;

double us(double time_ns) { return time_ns / 1000; }

std::string bandwidth_text(double time_ns, std::uint64_t message_size_bytes) {
  const double bytes_per_s = bandwidth_bytes_per_s(time_ns, message_size_bytes, Direction::semidirectional);
  return fmt::format("({:7.2f} MB/s)", bytes_per_s / mebi);
}

std::string step_figure(double time_ns, std::uint64_t message_size_bytes) {
  return fmt::format("{:>10.3f}us {}", us(time_ns), bandwidth_text(time_ns, message_size_bytes));
}

std::string step_figures(const Times& times, const std::optional<Spread>& all_to_all,
                         std::uint64_t message_size_bytes) {
  std::string text =
      fmt::format("avg={} min={} max={}", step_figure(times.mean_ns, message_size_bytes),
                  step_figure(times.min_ns, message_size_bytes), step_figure(times.max_ns, message_size_bytes));
  if (!all_to_all) return text;
  return text + fmt::format(" [ alltoall min={:>10.3f}us max={:>10.3f}us ]", us(all_to_all->min), us(all_to_all->max));
}

std::string argument_line(const char* label, const std::string& value) {
  return fmt::format("linktest: {:<27}{}\n", std::string(label) + ":", value);
}

/// -N and -T without a value of their own.
constexpr double no_limit = -1;
constexpr const char* line_across = "----------------------------------------------------------\n";

using bench::link::Phase;
using bench::link::RoundNumbers;

void widen(std::optional<Spread>& all, const std::optional<Spread>& one) {
  if (!one) return;
  if (!all) {
    all = one;
    return;
  }
  all->min = std::min(all->min, one->min);
  all->max = std::max(all->max, one->max);
}

const char* name_of_phase(Phase phase) {
  switch (phase) {
    case Phase::joining:
      return "[first sync]";
    case Phase::placing:
      return "[mapping]";
    case Phase::shuffling:
      return "[randvec]";
    case Phase::scheduling:
      return "[getpart]";
    case Phase::finding_slowest:
      return "[search_slow]";
    case Phase::retesting:
      return "[test_slow]";
    case Phase::opening_file:
      return "[sionopen]";
    case Phase::writing:
      return "[sionwrite]";
    case Phase::closing_file:
      return "[sionclose]";
    case Phase::diagnosing:  // LinkTest has none
    case Phase::everything:
      break;
  }
  return "[all]";
}

bool is_of_file(Phase phase) {
  return phase == Phase::opening_file || phase == Phase::writing || phase == Phase::closing_file;
}

/// Pairs that the tournament of so many ranks plays at once; a serial test has them one after the other.
int pairs_of_a_step(int num_ranks) { return std::max(num_ranks / 2, 1); }

class MpilinktestProgress final : public bench::link::Progress {
 public:
  MpilinktestProgress(const bench::link::LinkResult& so_far, std::uint64_t summary_interval, Outlet outlet)
      : arguments_(arguments_text(so_far.request, so_far.provenance.num_ranks, summary_interval)),
        has_file_(so_far.request.format != ResultFormat::none),
        is_serial_(so_far.request.serial),
        pairs_a_step_(so_far.request.serial ? pairs_of_a_step(so_far.provenance.num_ranks) : 1),
        summary_interval_(static_cast<std::int64_t>(summary_interval)),
        outlet_(std::move(outlet)) {}

  void phase_done(Phase phase, double seconds) override {
    if (phase == Phase::diagnosing || (is_of_file(phase) && !has_file_)) return;
    if (phase == Phase::finding_slowest) print_results();
    if (phase == Phase::retesting) print_retests();
    outlet_.out(phase_line(name_of_phase(phase), seconds));
    if (phase == Phase::joining) outlet_.out(arguments_);
  }

  void slices_begin(const std::vector<bench::link::Slice>& slices, int /*first_number*/, int /*num_slices*/) override {
    const bench::link::Slice& slice = slices.front();
    iteration_ = slice.repeat + 1;
    size_bytes_ = slice.message_size_bytes;
    so_far_ = {};
    step_ = {};
    step_all_to_all_.reset();
    work_s_ = 0;
    retests_ = {};
    num_retested_ = 0;
    results_are_out_ = false;
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    const std::int64_t step = (round.round - 1) / pairs_a_step_ + 1;
    const bool ends_step = round.round % pairs_a_step_ == 0;
    std::string text;
    if (is_serial_ && step_.num_pairs == 0) text += serial_step_title(step);
    if (round.only_pair) text += pair_lines(*round.only_pair);
    step_.add(times_of(round));
    widen(step_all_to_all_, round.all_to_all);
    work_s_ = elapsed_s;
    if (ends_step) text += end_of_step({step, num_rounds / pairs_a_step_, elapsed_s});
    outlet_.out(text);
  }

  void retest_done(const SlowPair& pair) override {
    print_results();
    outlet_.out(slow_pair_line(num_retested_++, pair, size_bytes_));
    if (pair.retest_time_ns > 0) retests_.add(times_of(pair.retest_time_ns));
  }

  void slice_ends(const bench::link::SliceSummary& /*summary*/) override {
    print_results();
    print_retests();
  }

 private:
  std::string pair_lines(const bench::link::SerialPair& pair) const {
    std::string text = serial_pair_line(pair.first, pair.second, pair.first_time_ns, size_bytes_);
    if (pair.first == pair.second) return text;
    return text + serial_pair_line(pair.second, pair.first, pair.second_time_ns, size_bytes_);
  }

  std::string end_of_step(const StepCount& steps) {
    std::string text = is_serial_ ? serial_step_end(step_, step_all_to_all_, size_bytes_)
                                  : parallel_step_line(steps.done, step_, step_all_to_all_, size_bytes_);
    so_far_.add(step_);
    step_ = {};
    step_all_to_all_.reset();
    if (steps.done % summary_interval_ == 0) text += running_summary(so_far_, steps, size_bytes_);
    return text;
  }

  /// Once an iteration, behind its last step.
  void print_results() {
    if (results_are_out_ || so_far_.num_pairs == 0) return;
    outlet_.out(phase_line("[work]", work_s_) + "\n\n" + results(Part::all_steps, so_far_, iteration_, size_bytes_));
    results_are_out_ = true;
  }

  void print_retests() {
    if (retests_.num_pairs > 0) outlet_.out(results(Part::retest, retests_, iteration_, size_bytes_));
    retests_ = {};
  }

  std::string arguments_;
  bool has_file_;
  bool is_serial_;
  std::int64_t pairs_a_step_;
  std::int64_t summary_interval_;
  Outlet outlet_;
  int iteration_ = 1;
  std::uint64_t size_bytes_ = 0;
  double work_s_ = 0;  ///< in the steps of this iteration
  Times step_, so_far_, retests_;
  std::optional<Spread> step_all_to_all_;
  std::size_t num_retested_ = 0;
  bool results_are_out_ = false;
};

}  // namespace

std::string arguments_text(const bench::link::LinkRequest& request, int num_ranks, std::uint64_t summary_interval) {
  const std::uint64_t size_bytes = request.message_sizes_bytes.front();
  const auto number = [](auto value) { return fmt::format("{:>10}", value); };
  std::string text = std::string("\n\n") + line_across;
  text += argument_line("Number of MPI-Task", number(num_ranks));
  text += argument_line("Current Rank MPI-Task", number(0));
  text += argument_line("Message length", number(size_bytes) + " Bytes");
  text += argument_line("Message length", fmt::format("{:>10.4f} KBytes", static_cast<double>(size_bytes) / 1024));
  text += argument_line("Number of Iteration", number(request.num_messages));
  text += argument_line("Number of Iter. (Warmup)", number(request.num_warmup));
  text += argument_line("alltoall", fmt::format("{:d}", request.all_to_all != bench::link::AllToAll::none));
  text += argument_line("sleeptime", "0 us");
  text += argument_line("collectpnum", std::to_string(summary_interval));
  text += argument_line("mixing pe order", fmt::format("{:d}", request.shuffle_ranks > 0));
  text += argument_line("serial test", fmt::format("{:d}", request.serial));
  text += argument_line("control wtime", fmt::format("{:.6f}", request.min_time_s > 0 ? request.min_time_s : no_limit));
  text += argument_line("write protocol (SION)", fmt::format("{:d}", request.format != ResultFormat::none));
  text += argument_line("      par I/O", fmt::format("{:d}", request.row_path != RowPath::funnel));
  text += argument_line("max stest", std::to_string(request.retest));
  return text + line_across + "\n\nStarting Test of all connections:\n--------------------------------\n";
}

std::string phase_line(const std::string& name, double seconds) {
  return fmt::format("timings[000] {:<30} t={:>10.6f}s\n", name, seconds);
}

std::string parallel_step_line(std::int64_t step, const Times& times, const std::optional<Spread>& all_to_all,
                               std::uint64_t message_size_bytes) {
  return fmt::format(" Parallel PingPong for step {:>5}:   {}\n", step,
                     step_figures(times, all_to_all, message_size_bytes));
}

std::string serial_step_title(std::int64_t step) { return fmt::format(" Serial   PingPong for step {:>5}: \n", step); }

std::string serial_pair_line(int from, int to, double time_ns, std::uint64_t message_size_bytes) {
  return fmt::format("{:>7}->{:>6}: {:>11.5f}us {} (l={})\n", from, to, us(time_ns),
                     bandwidth_text(time_ns, message_size_bytes), from);
}

std::string serial_step_end(const Times& times, const std::optional<Spread>& all_to_all,
                            std::uint64_t message_size_bytes) {
  return fmt::format("  {}\n", step_figures(times, all_to_all, message_size_bytes));
}

std::string running_summary(const Times& so_far, const StepCount& steps, std::uint64_t message_size_bytes) {
  const auto figure = [&](double time_ns) {
    return fmt::format("{:>12.6f}us {}", us(time_ns), bandwidth_text(time_ns, message_size_bytes));
  };
  const double step_s = steps.elapsed_s / static_cast<double>(std::max<std::int64_t>(steps.done, 1));
  const std::int64_t remaining = steps.all - steps.done;
  return fmt::format("analyse summary: min.{} max.{} avg.{}\n", figure(so_far.min_ns), figure(so_far.max_ns),
                     figure(so_far.mean_ns)) +
         fmt::format(
             "timing summary:  {} steps used {:>10.6f}s ({:>10.6f}s/step),        to do: {} steps,"
             "                   estimate time: {:>10.6f}s\n\n",
             steps.done, steps.elapsed_s, step_s, remaining, step_s * static_cast<double>(remaining));
}

std::string results(Part part, const Times& times, int iteration, std::uint64_t message_size_bytes) {
  const auto line = [&](const char* which, double time_ns) {
    const std::string label = fmt::format("RESULT: {} Time{}:", which, part == Part::retest ? " Stest" : "");
    return fmt::format("{:<29}{:>20.8f}us {} [iter {:>2} ]\n", label, us(time_ns),
                       bandwidth_text(time_ns, message_size_bytes), iteration);
  };
  return line("Min", times.min_ns) + line("Max", times.max_ns) + line("Avg", times.mean_ns);
}

std::string slow_pair_line(std::size_t index, const SlowPair& pair, std::uint64_t message_size_bytes) {
  const auto figure = [&](double time_ns) {
    return fmt::format("{:>10.4f}us {}", us(time_ns), bandwidth_text(time_ns, message_size_bytes));
  };
  return fmt::format("{:>7}: PINGPONG {:>6}  <-> {:>7}:  1st: {}    2nd: {}\n", index, pair.from, pair.to,
                     figure(pair.time_ns), pair.retest_time_ns > 0 ? figure(pair.retest_time_ns) : "not measured");
}

std::string written_line(const std::string& path, std::uint64_t record_bytes) {
  return fmt::format("OUTPUT: writing data to file {:<30} ({:>10.4f} MB)\n", path,
                     static_cast<double>(record_bytes) / mebi);
}

std::string task_line(int rank, const std::string& host, std::uint64_t resident_bytes) {
  return fmt::format("task[{:06}] on {} ({},0,0,0) mem={:>10.4f} MB\n", rank, host, rank,
                     static_cast<double>(resident_bytes) / mebi);
}

std::unique_ptr<bench::link::Progress> make_progress(const bench::link::LinkResult& so_far,
                                                     std::uint64_t summary_interval, Outlet outlet) {
  return std::make_unique<MpilinktestProgress>(so_far, summary_interval, std::move(outlet));
}

}  // namespace leadline::compat::mpilinktest
