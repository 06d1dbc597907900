// SPDX-License-Identifier: Apache-2.0
// IOR's table (github.com/hpc/ior, src/ior.c and src/ior-output.c, versions 3.3 to 4.0): its bandwidth is the bytes of
// all ranks over the time from the first open to the last close.
#include "bench/io/like.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "options/values.hpp"

namespace leadline::bench::io {
namespace {

constexpr double mebibyte = 1 << 20, megabyte = 1e6, kibibyte = 1024;

constexpr const char* ior_columns =
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   "
    "iter\n"
    "------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   "
    "----\n";

constexpr const char* ior_summary_columns =
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s)\n";

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Greatest, least, mean and standard deviation, the last over all repetitions rather than one fewer. `unit`: what one
/// is in bytes a second.
std::string over_repetitions(const std::vector<double>& rates, double unit) {
  const double mean = mean_of(rates);
  std::vector<double> squares;
  for (const double rate : rates) squares.push_back((rate - mean) * (rate - mean));
  const auto [least, most] = std::ranges::minmax(rates);
  std::string text;
  for (const double number : {most, least, mean, std::sqrt(mean_of(squares))}) {
    text += fmt::format("{:>10.2f} ", number / unit);
  }
  return text;
}

/// With as many digits as IOR has.
std::string ior_number(double number) {
  constexpr double large = 3600;
  return fmt::format("{:.{}f}", number, number < 1 ? 6 : number < large ? 2 : 0);
}

bool is_told(const PhaseSummary& phase) {
  const IoOperation operation = phase.position.operation;
  const bool is_whole = phase.is_complete && std::isfinite(phase.bytes_per_s);
  return is_whole && (operation == IoOperation::write || operation == IoOperation::read);
}

/// What a rank has without a gap.
std::uint64_t block_bytes(const IoResult& result) {
  const IoRequest& request = result.request;
  if (request.order == schedule::Order::segmented) return result.num_objects * request.object_size_bytes;
  return std::max(request.block_size_bytes, request.object_size_bytes);
}

/// What the time of this run has in it and that of IOR has not, or the other way round.
std::string differences_from_ior(const IoResult& result) {
  std::string text;
  if (result.request.sync == SyncTiming::outside) text += "# not as IOR: fsync is not in the time\n";
  if (result.contents_by == ContentsBy::rank) {
    text += "# not as IOR: contents are made and checked in the time; give every rank a second core\n";
  }
  return text;
}

}  // namespace

void check_like(const command::IsGiven& is_given, const IoRequest& request) {
  if (request.like == Like::none) return;
  for (const char* const option : {"--metadata", "--no-file", "--mix"}) {
    if (is_given(option)) throw_apart("--like ior", option, "IOR writes and reads files");
  }
  if (request.metadata) throw_apart("--like ior", "--preset", "IOR writes and reads files");
  if (request.ramp_time_s > 0) throw_apart("--like ior", "--ramp-time", "IOR counts the whole time");
}

std::string like_text(const IoResult& result) {
  if (result.request.like == Like::none || std::ranges::none_of(result.phases, is_told)) return "";
  std::string text = "# IOR, as leadline io --like ior measures it: from the first open to the last close\n";
  text += differences_from_ior(result) + ior_columns;
  for (const PhaseSummary& phase : result.phases) {
    if (!is_told(phase)) continue;
    text += fmt::format("{:<10}{:<11}{:<11}{:<12}{:<11}{:<11}{:<11}{:<11}{:<11}{:<11}{}\n",
                        name_of(phase.position.operation), ior_number(phase.bytes_per_s / mebibyte), "-", "-",
                        ior_number(static_cast<double>(block_bytes(result)) / kibibyte),
                        ior_number(static_cast<double>(result.request.object_size_bytes) / kibibyte), "-", "-", "-",
                        ior_number(1e-9 * phase.wall_ns), phase.position.repeat);
  }
  std::string greatest, summary;
  for (const auto& [operation, title] : {std::pair(IoOperation::write, "Write:"), {IoOperation::read, "Read: "}}) {
    std::vector<double> rates, times_s;
    for (const PhaseSummary& phase : result.phases) {
      if (!is_told(phase) || phase.position.operation != operation) continue;
      rates.push_back(phase.bytes_per_s);
      times_s.push_back(1e-9 * phase.wall_ns);
    }
    if (rates.empty()) continue;
    const double most = *std::ranges::max_element(rates);
    greatest += fmt::format("Max {} {:.2f} MiB/sec ({:.2f} MB/sec)\n", title, most / mebibyte, most / megabyte);
    summary +=
        fmt::format("{:<9} {}{}{:>10.5f}\n", name_of(operation), over_repetitions(rates, mebibyte),
                    over_repetitions(rates, static_cast<double>(result.request.object_size_bytes)), mean_of(times_s));
  }
  return text + greatest + "\nSummary of all tests:\n" + ior_summary_columns + summary;
}

}  // namespace leadline::bench::io
