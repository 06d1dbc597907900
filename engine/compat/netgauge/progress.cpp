// SPDX-License-Identifier: Apache-2.0
// Hands each event to the lines that belong to it.
#include "compat/netgauge/progress.hpp"

#include <utility>

#include "compat/netgauge/text.hpp"

namespace leadline::compat::netgauge {
namespace {

class NetgaugeProgress final : public bench::bisection::Progress {
 public:
  NetgaugeProgress(const BisectionResult& so_far, Shown shown, Outlet outlet)
      : request_(so_far.request), shown_(std::move(shown)), outlet_(std::move(outlet)) {
    outlet_.out(opening(shown_, so_far));
  }

  void size_begins(int /*size_index*/, std::uint64_t /*message_size_bytes*/) override {}

  void pattern_begins(const PatternPosition& place, const schedule::Pattern& pattern) override {
    const std::string text = above_round(shown_, request_, place, pattern);
    if (!text.empty()) outlet_.out(text);
  }

  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double /*elapsed_s*/) override {
    outlet_.out(round_lines(shown_, request_, summary, so_far));
  }

  void retest_done(const SlowConnection& /*connection*/) override {}

  void size_ends(const BisectionSummary& summary) override { outlet_.out(ending(shown_, request_, summary)); }

 private:
  BisectionRequest request_;
  Shown shown_;
  Outlet outlet_;
};

}  // namespace

std::unique_ptr<bench::bisection::Progress> make_progress(const BisectionResult& so_far, Shown shown, Outlet outlet) {
  return std::make_unique<NetgaugeProgress>(so_far, std::move(shown), std::move(outlet));
}

}  // namespace leadline::compat::netgauge
