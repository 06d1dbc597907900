// SPDX-License-Identifier: Apache-2.0
// What other benchmarks do by default, and how they print it. Where their versions differ it is OSU 7 and IMB 2021.
#include "bench/link/like.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/plan.hpp"
#include "bench/link/tally.hpp"
#include "options/values.hpp"

namespace leadline::bench::link {
namespace {

/// When the other program reads its clock.
enum class Clock : std::uint8_t {
  each_iteration,
  around_all,
};

struct IterationsFrom {
  std::uint64_t size_bytes = 0, num = 1, num_warmup = 0;
};

/// An iteration is a round trip, or a window of messages that the receiver acknowledges at its end.
struct Preset {
  const char* program;
  const char* title;
  Direction direction;
  std::uint32_t window;
  Clock clock;
  std::uint64_t least_size_bytes;
  std::vector<IterationsFrom> iterations;  ///< the first from size 0 on
  bool is_multi_pair = false;              ///< rank i and i + n/2, all at once
};

constexpr std::uint64_t most_size_bytes = 4 << 20;

Preset preset_of(Like like) {
  // Behind 8 KiB.
  constexpr std::uint64_t osu_large = 8193;
  switch (like) {
    case Like::none:
      break;
    case Like::osu_latency:
      return {"osu_latency",
              "OSU MPI Latency Test",
              Direction::semidirectional,
              1,
              Clock::each_iteration,
              1,
              {{0, 10'000, 100}, {osu_large, 1000, 10}}};
    case Like::osu_bw:
      return {"osu_bw", "OSU MPI Bandwidth Test",          Direction::unidirectional, 64, Clock::each_iteration,
              1,        {{0, 100, 10}, {osu_large, 20, 2}}};
    case Like::osu_bibw:
      return {"osu_bibw", "OSU MPI Bi-Directional Bandwidth Test", Direction::bidirectional, 64, Clock::each_iteration,
              1,          {{0, 100, 10}, {osu_large, 20, 2}}};
    case Like::osu_mbw_mr:
      return {"osu_mbw_mr",
              "OSU MPI Multiple Bandwidth / Message Rate Test",
              Direction::unidirectional,
              64,
              Clock::each_iteration,
              1,
              {{0, 100, 10}, {osu_large, 20, 2}},
              true};
    case Like::mpigraph:
      // As its README runs it.
      return {"mpiGraph", "mpiGraph", Direction::unidirectional, 10, Clock::each_iteration, 1 << 20, {{0, 10, 0}}};
    case Like::imb_pingpong: {
      // 1000, or as many as make 40 MiB; a tenth of them for warm-up, at least 10.
      std::vector<IterationsFrom> iterations{{0, 1000, 100}};
      for (std::uint64_t size = 64 << 10; size <= most_size_bytes; size *= 2) {
        const std::uint64_t num = (40 << 20) / size;
        iterations.push_back({size, num, std::max<std::uint64_t>(num / 10, 10)});
      }
      return {"IMB-MPI1 PingPong",  "Benchmarking PingPong", Direction::semidirectional, 1, Clock::around_all, 0,
              std::move(iterations)};
    }
  }
  return {"", "", Direction::semidirectional, 1, Clock::around_all, 0, {{0, 1, 0}}};
}

/// 0 or 1, then doubled up to 4 MiB; of mpiGraph one.
std::vector<std::uint64_t> doubled_sizes(const Preset& preset) {
  if (preset.least_size_bytes > 1) return {preset.least_size_bytes};
  std::vector<std::uint64_t> sizes;
  if (preset.least_size_bytes == 0) sizes.push_back(0);
  for (std::uint64_t size = 1; size <= most_size_bytes; size *= 2) sizes.push_back(size);
  return sizes;
}

const char* columns_of(Like like) {
  switch (like) {
    case Like::none:
      break;
    case Like::osu_latency:
      return "# Size         Avg Latency(us)";
    case Like::osu_bw:
    case Like::osu_bibw:
      return "# Size        Bandwidth (MB/s)";
    case Like::osu_mbw_mr:
      return "# Size                    MB/s          Messages/s";
    case Like::imb_pingpong:
      return "       #bytes #repetitions      t[usec]   Mbytes/sec";
    case Like::mpigraph:
      break;
  }
  return "";
}

const char* columns_of_extremes(Like like) {
  switch (like) {
    case Like::osu_latency:
      return "     Min Latency(us)     Max Latency(us)";
    case Like::osu_bw:
    case Like::osu_bibw:
      return "  Slowest pair (MB/s)  Fastest pair (MB/s)";
    case Like::imb_pingpong:
      return "  t_min[usec]  t_max[usec]";
    case Like::none:
    case Like::osu_mbw_mr:
    case Like::mpigraph:
      break;
  }
  return "";
}

/// All slices with one message size.
struct PeerRow {
  std::uint64_t message_size_bytes = 0;
  Spread time_ns, received_ns;
};

/// Its numbers are of a message, in MiB/s; "max" is of the fastest pair.
std::string mpigraph_text(const PeerRow& row, const LinkRequest& request) {
  const std::uint64_t size = row.message_size_bytes;
  const auto mebibytes = [&](double time_ns) { return static_cast<double>(size) * 1e9 / time_ns / (1 << 20); };
  std::string text = fmt::format("MsgSize\t{}\nTimes\t{}\nWindow\t{}\n", size,
                                 message_counts(request, size).num_batches, request.window);
  for (const auto& [name, time_ns] : {std::pair{"Send", row.time_ns}, std::pair{"Recv", row.received_ns}}) {
    text += fmt::format("{0} max\t{1:.6f}\n{0} avg\t{2:.6f}\n", name, mebibytes(time_ns.min), mebibytes(time_ns.mean));
  }
  return text;
}

std::string row_text(const PeerRow& row, const LinkRequest& request, std::uint64_t num_pairs, bool has_extremes) {
  const std::uint64_t size = row.message_size_bytes;
  const auto us = [](double time_ns) { return 1e-3 * time_ns; };
  const auto megabytes = [&](double time_ns) { return 1e-6 * bandwidth_bytes_per_s(time_ns, size, request.direction); };
  const Spread& time_ns = row.time_ns;
  switch (request.like) {
    case Like::none:
    case Like::mpigraph:
      break;
    case Like::osu_latency:
      return fmt::format("{:<10}{:>20.3f}", size, us(time_ns.mean)) +
             (has_extremes ? fmt::format("{:>20.3f}{:>20.3f}", us(time_ns.min), us(time_ns.max)) : "");
    case Like::osu_bw:
    case Like::osu_bibw:
      return fmt::format("{:<10}{:>20.2f}", size, megabytes(time_ns.mean)) +
             (has_extremes ? fmt::format("{:>21.2f}{:>21.2f}", megabytes(time_ns.max), megabytes(time_ns.min)) : "");
    case Like::osu_mbw_mr: {
      const auto num = static_cast<double>(num_pairs);
      return fmt::format("{:<10}{:>20.2f}{:>20.2f}", size, num * megabytes(time_ns.mean), num * 1e9 / time_ns.mean);
    }
    case Like::imb_pingpong:
      return fmt::format("{:>13}{:>13}{:>13.3f}{:>13.2f}", size, message_counts(request, size).num_messages,
                         us(time_ns.mean), megabytes(time_ns.mean)) +
             (has_extremes ? fmt::format("{:>13.3f}{:>13.3f}", us(time_ns.min), us(time_ns.max)) : "");
  }
  return "";
}

/// Sizes in their order.
std::vector<PeerRow> peer_rows(const LinkResult& result) {
  std::map<int, PeerRow> rows;
  for (const SliceSummary& summary : result.slices) {
    if (summary.mean_time_ns.num == 0) continue;
    PeerRow& row = rows[summary.slice.size_index];
    row.message_size_bytes = summary.slice.message_size_bytes;
    widen(row.time_ns, summary.mean_time_ns);
    widen(row.received_ns, summary.received_mean_time_ns);
  }
  std::vector<PeerRow> in_order;
  for (const auto& [index, row] : rows) in_order.push_back(row);
  return in_order;
}

}  // namespace

void settle_like(const command::IsGiven& is_given, LinkRequest& request) {
  if (request.like == Like::none) return;
  const Preset preset = preset_of(request.like);
  if (!is_given("--message-size")) request.message_sizes_bytes = doubled_sizes(preset);
  request.shift = request.shift || request.like == Like::mpigraph;
  if (!is_given("--direction")) request.direction = preset.direction;
  if (!is_given("--window")) request.window = preset.window;
  const std::uint64_t of_an_iteration = request.direction == Direction::semidirectional ? 1 : request.window;
  const bool has_own_counts = is_given("--messages") || is_given("--warmup") || is_given("--messages-by-size");
  if (!is_given("--messages")) request.num_messages = preset.iterations.front().num * of_an_iteration;
  if (!is_given("--warmup")) request.num_warmup = preset.iterations.front().num_warmup * of_an_iteration;
  if (!has_own_counts) {
    for (std::size_t i = 1; i < preset.iterations.size(); ++i) {
      const IterationsFrom& from = preset.iterations[i];
      request.messages_by_size.push_back(
          {from.size_bytes, from.num * of_an_iteration, from.num_warmup * of_an_iteration});
    }
  }
  if (!is_given("--batches")) {
    const std::uint64_t num = preset.clock == Clock::around_all ? 1 : request.num_messages / of_an_iteration;
    request.num_batches = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(num, 1, max_batches));
  }
  if (request.like == Like::mpigraph && !is_given("--buffers")) request.num_buffers = request.window;
  if (!preset.is_multi_pair) return;
  request.bisection = true;
  if (!is_given("--only-rounds")) request.only_rounds = {1};
}

void check_like(const command::IsGiven& is_given, const LinkRequest& request) {
  if (request.like == Like::none) return;
  const Preset preset = preset_of(request.like);
  const std::string like = std::string("--like ") + name_of(request.like);
  if (is_given("--shift") && request.like != Like::mpigraph) {
    throw_apart(like, "--shift", fmt::format("{} has pairs", preset.program));
  }
  if (request.direction != preset.direction) {
    throw_apart(like, "--direction", fmt::format("{} is {}", preset.program, name_of(preset.direction)));
  }
  if (preset.is_multi_pair && is_sample(request)) {
    throw_apart(like, is_given("--rounds") ? "--rounds" : "--budget", "it has one round, of two halves of the ranks");
  }
}

std::string differences_from_like(const LinkRequest& request) {
  LinkRequest plain;
  plain.like = request.like;
  settle_like([](const char*) { return false; }, plain);
  std::vector<std::string> different;
  const auto note = [&](const char* option, std::uint64_t own, std::uint64_t theirs) {
    if (own != theirs) different.push_back(fmt::format("{} {}", option, own));
  };
  note("--messages", request.num_messages, plain.num_messages);
  note("--warmup", request.num_warmup, plain.num_warmup);
  if (request.messages_by_size != plain.messages_by_size) different.emplace_back("numbers of larger messages");
  note("--batches", request.num_batches, plain.num_batches);
  if (request.direction != Direction::semidirectional) note("--window", request.window, plain.window);
  note("--buffers", request.num_buffers, plain.num_buffers);
  return fmt::format("{}", fmt::join(different, ", "));
}

std::string like_text(const LinkResult& result) {
  const LinkRequest& request = result.request;
  if (request.like == Like::none) return "";
  const std::vector<PeerRow> rows = peer_rows(result);
  if (rows.empty()) return "";
  const Preset preset = preset_of(request.like);
  const std::uint64_t num_ordered = result.slices.front().mean_time_ns.num;
  std::string text = fmt::format("# {}, as leadline link --like {} measures it: mean of {} ordered pairs\n",
                                 preset.title, name_of(request.like), num_ordered);
  if (const std::string own = differences_from_like(request); !own.empty()) {
    text += fmt::format("# not as {}: {}\n", preset.program, own);
  }
  if (preset.is_multi_pair) {
    text += fmt::format("# [ pairs: {} ] [ window size: {} ]\n", num_ordered / 2, request.window);
  }
  if (request.like == Like::mpigraph) {
    for (const PeerRow& row : rows) text += mpigraph_text(row, request);
    return text;
  }
  const bool has_extremes = num_ordered > 2;
  text += columns_of(request.like) + std::string(has_extremes ? columns_of_extremes(request.like) : "") + '\n';
  for (const PeerRow& row : rows) text += row_text(row, request, num_ordered / 2, has_extremes) + '\n';
  return text;
}

}  // namespace leadline::bench::link
