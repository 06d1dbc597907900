// SPDX-License-Identifier: Apache-2.0
// The two ways to show progress, and the choice between them.
#include "bench/io/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bench/io/text.hpp"
#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

using bench::io::PhaseProgress;
constexpr double phase_line_interval_s = 1;

double share_done(const PhaseProgress& progress) {
  if (progress.bytes_total == 0) return 1;
  return std::min(static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total), 1.0);
}

double rate_so_far(const PhaseProgress& progress) {
  return progress.elapsed_s > 0 ? static_cast<double>(progress.bytes_done) / progress.elapsed_s : 0;
}

/// By bytes, and never longer than the time limit leaves.
double left_s(const IoRequest& request, const PhaseProgress& progress) {
  if (progress.bytes_done == 0) return request.time_limit_s > 0 ? request.time_limit_s : not_measured;
  const double by_bytes = time_left_s(share_done(progress), 1, progress.elapsed_s);
  if (!(request.time_limit_s > 0)) return by_bytes;
  return std::min(by_bytes, std::max(request.time_limit_s - progress.elapsed_s, 0.0));
}

/// "write", "write 2 of 5".
std::string name_of_phase(const IoRequest& request, const PhasePosition& position) {
  const std::string name = name_of(position.operation);
  return request.repeat > 1 ? fmt::format("{} {} of {}", name, position.repeat + 1, request.repeat) : name;
}

/// "write 2 of 5: 512.0 MiB in 0.21 s, 2.345 GiB/s".
std::string end_line(const IoRequest& request, const PhaseSummary& summary) {
  const std::string name = name_of_phase(request, summary.position);
  if (!summary.is_complete) return fmt::format("{}: not complete\n", name);
  const std::uint64_t bytes = summary.bytes > 0 ? summary.bytes : summary.message_bytes;
  return fmt::format("{}: {} in {}, {}\n", name, about_bytes(bytes), format_duration(1e-9 * summary.wall_ns),
                     format_bandwidth(summary.bytes_per_s));
}

class IoLineProgress final : public bench::io::Progress {
 public:
  IoLineProgress(IoRequest request, ProgressOutlet outlet) : request_(std::move(request)), outlet_(std::move(outlet)) {}

  void phase_begins(const PhasePosition&, std::uint64_t) override {
    next_line_s_ = outlet_.now_s() + phase_line_interval_s;
  }

  void phase_goes_on(const PhaseProgress& progress) override {
    if (outlet_.now_s() < next_line_s_) return;
    outlet_.write(fmt::format("{}: {:>6} of {}, {}, {} left\n", name_of_phase(request_, progress.position),
                              percent_text(share_done(progress)), about_bytes(progress.bytes_total),
                              format_bandwidth(rate_so_far(progress)), format_duration(left_s(request_, progress))));
    next_line_s_ = outlet_.now_s() + phase_line_interval_s;
  }

  void phase_ends(const PhaseSummary& summary) override { outlet_.write(end_line(request_, summary)); }

  void waits(const std::string& for_what) override { outlet_.write(for_what + "\n"); }

 private:
  IoRequest request_;
  ProgressOutlet outlet_;
  double next_line_s_ = 0;
};

class IoBarProgress final : public bench::io::Progress {
 public:
  IoBarProgress(IoRequest request, ProgressOutlet outlet)
      : request_(std::move(request)), outlet_(outlet), bar_(std::move(outlet)) {}
  ~IoBarProgress() override { bar_.vanish(); }
  IoBarProgress(const IoBarProgress&) = delete;
  IoBarProgress& operator=(const IoBarProgress&) = delete;

  void phase_begins(const PhasePosition& position, std::uint64_t) override {
    bar_.draw(0, name_of_phase(request_, position), "begins");
  }

  void phase_goes_on(const PhaseProgress& progress) override {
    if (!bar_.is_due()) return;
    bar_.draw(share_done(progress), name_of_phase(request_, progress.position),
              fmt::format("{}, {} left, {}", about_bytes(progress.bytes_done),
                          format_duration(left_s(request_, progress)), format_bandwidth(rate_so_far(progress))));
  }

  void phase_ends(const PhaseSummary& summary) override {
    bar_.vanish();
    outlet_.write(end_line(request_, summary));
  }

  void waits(const std::string& for_what) override { bar_.draw(0, for_what, "..."); }

 private:
  IoRequest request_;
  ProgressOutlet outlet_;
  ProgressBar bar_;
};

}  // namespace

std::unique_ptr<bench::io::Progress> make_io_lines(const IoRequest& request, ProgressOutlet outlet) {
  return std::make_unique<IoLineProgress>(request, std::move(outlet));
}

std::unique_ptr<bench::io::Progress> make_io_bar(const IoRequest& request, ProgressOutlet outlet) {
  return std::make_unique<IoBarProgress>(request, std::move(outlet));
}

std::unique_ptr<bench::io::Progress> make_io_progress(const IoRequest& request) {
  if (request.quiet) return std::make_unique<bench::io::Progress>();
  if (is_redrawable_terminal()) return make_io_bar(request, standard_error_outlet());
  return make_io_lines(request, standard_error_outlet());
}

}  // namespace leadline::output
