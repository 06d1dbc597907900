// SPDX-License-Identifier: Apache-2.0
// Netgauge's words and its six decimals.
#include "compat/netgauge/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "compat/values.hpp"

namespace leadline::compat::netgauge {
namespace {

constexpr const char* netgauge_version = "2.4.6";
constexpr const char* info = "# Info:   (0): ";
constexpr double ns_a_us = 1e3, ns_a_s = 1e9;
constexpr double mega = 1e6;

// What each level of -v adds.
constexpr int level_of_info = 1, level_of_rounds = 2, level_of_interval = 3;

/// Of all exchanges of a round.
double time_us(const bench::bisection::BisectionRequest& request, double time_ns) {
  return time_ns * static_cast<double>(request.num_exchanges) / ns_a_us;
}

/// "65525.545105 us (320.051057 MB/s)" with `unit` behind the time.
std::string time_and_bandwidth(const bench::bisection::BisectionRequest& request, std::uint64_t message_size_bytes,
                               double time_ns, const char* unit) {
  const double bytes = static_cast<double>(message_size_bytes) * static_cast<double>(request.num_exchanges);
  const double us = time_us(request, time_ns);
  return fmt::format("{:.6f}{} ({:.6f} MB/s)", us, unit, bytes / us);
}

std::string banner(const bench::bisection::BisectionResult& so_far) {
  std::string words;
  for (const std::string& word : so_far.request.command_line) words += word + " ";
  // The engine calls MPI_Init, and that is level 0, MPI_THREAD_SINGLE.
  return fmt::format("{}Netgauge v{} MPI enabled (P={}, threadlevel=0) ({})\n", info, netgauge_version,
                     so_far.provenance.num_ranks, words);
}

std::string where_it_runs(const Provenance& provenance) {
  return fmt::format("{}{}, started by {}, {} ranks on {} host{}\n", info, provenance.transport.library,
                     provenance.launcher, provenance.num_ranks, provenance.num_hosts,
                     provenance.num_hosts == 1 ? "" : "s");
}

/// Netgauge slept for seconds to learn what a tick of its counter is.
std::string timer_lines(const ClockInfo& clock, Flag check) {
  std::string text = fmt::format("# timer: {}, which needs no calibration\n", clock.source);
  if (check == Flag::off) return text;
  return text + fmt::format(
                    "# Sanity check of the timer: a tick is 1 ns, the smallest step seen {:.0f} ns, a reading "
                    "takes {:.0f} ns\n",
                    clock.resolution_ns, clock.cost_ns);
}

std::string differences(const bench::bisection::BisectionResult& so_far) {
  const bench::bisection::BisectionRequest& request = so_far.request;
  std::string text = fmt::format(
      "# measured by Leadline {}; pairs from seed {}; {} exchanges of new partners before each round are "
      "not timed (Netgauge had none)\n",
      so_far.provenance.version, request.seed, request.num_warmup);
  if (so_far.provenance.num_ranks % 2 != 0) {
    text += fmt::format("# {} ranks are odd: one of them rests in each round (Netgauge refused them)\n",
                        so_far.provenance.num_ranks);
  }
  return text;
}

std::string host_lines(const std::vector<HostRanks>& hosts) {
  std::string text;
  int rank = 0;
  for (const std::string& host : host_of_each_rank(hosts)) text += fmt::format("# rank {} -> {}\n", rank++, host);
  return text;
}

std::string pair_lines(const schedule::Pattern& pattern) {
  std::string text, rests;
  for (std::size_t rank = 0; rank < pattern.send_to.size(); ++rank) {
    const std::int32_t partner = pattern.send_to[rank];
    if (partner == schedule::no_rank) {
      rests += fmt::format("# {} rests\n", rank);
    } else if (static_cast<std::size_t>(partner) > rank) {
      fmt::format_to(std::back_inserter(text), "{} <-> {}\n", rank, partner);
    }
  }
  return text + rests;
}

std::string interval_text(const bench::bisection::Interval& ebb) {
  const char* plural = ebb.num == 1 ? "" : "s";
  if (std::isnan(ebb.half_width)) return fmt::format("{:.6f} MB/s ({} pattern{})", ebb.mean / mega, ebb.num, plural);
  return fmt::format("{:.6f} MB/s +- {:.6f} (95 %, {} pattern{})", ebb.mean / mega, ebb.half_width / mega, ebb.num,
                     plural);
}

std::string bucket_lines(const bench::bisection::BisectionRequest& request,
                         const bench::bisection::BisectionSummary& size) {
  std::string text;
  for (const bench::bisection::TimeBucket& bucket : size.buckets) {
    if (bucket.num == 0) continue;
    text += fmt::format("size: {} {}: {}\n", size.message_size_bytes,
                        time_and_bandwidth(request, size.message_size_bytes, bucket.low_ns, ""), bucket.num);
  }
  return text;
}

class NetgaugeProgress final : public bench::bisection::Progress {
 public:
  NetgaugeProgress(const bench::bisection::BisectionResult& so_far, Shown shown, Outlet outlet)
      : request_(so_far.request), shown_(std::move(shown)), outlet_(std::move(outlet)) {
    outlet_.out(opening(shown_, so_far));
  }

  void pattern_begins(const bench::bisection::PatternPosition& position, const schedule::Pattern& pattern) override {
    const std::string text = above_round(shown_, request_, position, pattern);
    if (!text.empty()) outlet_.out(text);
  }

  void pattern_ends(const bench::bisection::PatternSummary& summary, const bench::bisection::Interval& so_far,
                    double /*elapsed_s*/) override {
    outlet_.out(round_lines(shown_, request_, summary, so_far));
  }

  void size_ends(const bench::bisection::BisectionSummary& summary) override {
    outlet_.out(ending(shown_, request_, summary));
  }

 private:
  bench::bisection::BisectionRequest request_;
  Shown shown_;
  Outlet outlet_;
};

}  // namespace

std::string opening(const Shown& shown, const bench::bisection::BisectionResult& so_far) {
  std::string text;
  if (shown.verbosity >= level_of_info) text += banner(so_far);
  text += "# bandwidths are in MB/s (10^6 bytes/s); Netgauge printed the same numbers as MiB/s\n";
  text += differences(so_far);
  for (const std::string& remark : shown.remarks) text += fmt::format("# {}\n", remark);
  if (shown.verbosity >= level_of_rounds) text += where_it_runs(so_far.provenance);
  text += timer_lines(so_far.provenance.clock, shown.timer_check);
  return shown.host_names == Flag::on ? text + host_lines(so_far.hosts) : text;
}

std::string above_round(const Shown& shown, const bench::bisection::BisectionRequest& request,
                        const bench::bisection::PatternPosition& position, const schedule::Pattern& pattern) {
  std::string text;
  if (shown.verbosity >= level_of_rounds) {
    text = fmt::format("# size: {} round {}/{}\n", position.message_size_bytes, position.number + 1, request.rounds);
  }
  return shown.pairs == Flag::on ? text + pair_lines(pattern) : text;
}

std::string round_lines(const Shown& shown, const bench::bisection::BisectionRequest& request,
                        const bench::bisection::PatternSummary& round, const bench::bisection::Interval& so_far) {
  const std::uint64_t bytes = round.position.message_size_bytes;
  std::string text = fmt::format("size: {}, round {}: num: {} average: {}\n", bytes, round.position.number,
                                 round.num_connections, time_and_bandwidth(request, bytes, round.time_ns_mean, " us"));
  if (shown.verbosity < level_of_interval) return text;
  return text + fmt::format("{}so far {}\n", info, interval_text(so_far));
}

std::string ending(const Shown& shown, const bench::bisection::BisectionRequest& request,
                   const bench::bisection::BisectionSummary& size) {
  std::string text;
  if (request.num_buckets > 0) {
    if (shown.verbosity >= level_of_info) text += fmt::format("{}---- bucket data ----\n", info);
    const double mean_time_ns = static_cast<double>(size.message_size_bytes) / size.bytes_per_s_harmonic * ns_a_s;
    text += bucket_lines(request, size);
    text += fmt::format("size: {} num: {} average: {}\n", size.message_size_bytes, size.num_connections,
                        time_and_bandwidth(request, size.message_size_bytes, mean_time_ns, ""));
  }
  return text + fmt::format("# effective bisection bandwidth (mean over connections and patterns): {}\n",
                            interval_text(size.ebb));
}

std::string version_line(const std::string& leadline_version) {
  return fmt::format("Netgauge v{} (Leadline {})\n", netgauge_version, leadline_version);
}

std::unique_ptr<bench::bisection::Progress> make_progress(const bench::bisection::BisectionResult& so_far, Shown shown,
                                                          Outlet outlet) {
  return std::make_unique<NetgaugeProgress>(so_far, std::move(shown), std::move(outlet));
}

}  // namespace leadline::compat::netgauge
