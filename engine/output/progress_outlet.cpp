// SPDX-License-Identifier: Apache-2.0
// Standard error as an outlet, lines of a log, and the bar.
#include "output/progress_outlet.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "core/terminal.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t least_bar = 10, greatest_bar = 40;

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_to_standard_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressOutlet standard_error_outlet() {
  return {write_to_standard_error, [] { return terminal_width(STDERR_FILENO); }, steady_now_s};
}

bool is_redrawable_terminal() { return is_redrawable(STDERR_FILENO); }

double time_left_s(double done, double total, double elapsed_s) {
  return done > 0 ? elapsed_s * (total - done) / done : elapsed_s * total;
}

bool ProgressMarks::passes(double share) {
  // A sum of shares may lie a little below the whole.
  const int percent = static_cast<int>(100 * share + 1e-6);
  const std::size_t num_before = num_passed_;
  while (num_passed_ < std::size(marks) && marks[num_passed_] <= percent) ++num_passed_;
  return num_passed_ > num_before;
}

void RoundLines::round_ends(std::uint32_t round, double elapsed_s) {
  const std::uint32_t done = round + 1;
  if (!marks_.passes(static_cast<double>(done) / num_rounds_)) return;
  outlet_.write(fmt::format("round {}/{}: {} elapsed, {} left\n", done, num_rounds_, format_duration(elapsed_s),
                            format_duration(time_left_s(done, num_rounds_, elapsed_s))));
}

void ProgressBar::draw(double share, const std::string& before, const std::string& after) {
  const auto width = static_cast<std::size_t>(std::max(outlet_.width() - 1, 1));
  std::string line = before;
  const std::size_t words = before.size() + after.size() + 4;
  if (width >= words + least_bar) {
    const std::size_t bar = std::min(greatest_bar, width - words);
    const auto done = static_cast<std::size_t>(share * static_cast<double>(bar));
    line += fmt::format(" [{}{}] {}", std::string(done, '#'), std::string(bar - done, '.'), after);
  } else if (width >= before.size() + after.size() + 2) {
    line += ", " + after;
  }
  if (line.size() > width) line.resize(width);
  outlet_.write(erase_line + line);
  is_drawn_ = true;
  drawn_at_s_ = outlet_.now_s();
}

void ProgressBar::vanish() {
  if (is_drawn_) outlet_.write(erase_line);
  is_drawn_ = false;
}

void ProgressBar::interrupt(const std::string& line) {
  vanish();
  outlet_.write(line);
}

std::string line_of_lost_pair(int low, int high, const std::string& why) {
  return fmt::format("left out: rank {} and rank {} do not reach each other ({})\n", low, high, why);
}

}  // namespace leadline::output
