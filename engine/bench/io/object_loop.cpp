// SPDX-License-Identifier: Apache-2.0
// Moves objects until a time limit, and equally many on all ranks.
#include "bench/io/object_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/reductions.hpp"

namespace leadline::bench::io {
namespace {

// Of the time limit that a batch may take: how much longer than asked a phase may become.
constexpr double batch_share = 1.0 / 20;

constexpr double longest_due_ns = 1e18;  // 30 years, which an integer can hold

/// What all ranks know after they have stopped, or behind a batch.
struct LimitStatus {
  std::uint64_t num_done = 0;  ///< the greatest
  std::uint64_t num_least = 0;
  std::uint64_t next_end = 0;  ///< of the next batch; 0 = no more. Counts on the root
  std::uint32_t has_failed = 0, has_stopped = 0;
};

LimitStatus agree_on_limit(PhaseWork& work, LimitStatus own) {
  own.has_failed = work.failure.has_happened() ? 1 : 0;
  const Recorder::AgreementTimer timer(work.recorder);
  return merged_over_ranks(work.stage.cluster, own, [](const LimitStatus& a, const LimitStatus& b) {
    return LimitStatus{std::max(a.num_done, b.num_done), std::min(a.num_least, b.num_least),
                       std::max(a.next_end, b.next_end), a.has_failed | b.has_failed, a.has_stopped | b.has_stopped};
  });
}

Moved move_alone(PhaseWork& work, ObjectLoop& loop, std::uint64_t num_objects, std::uint64_t limit_ns) {
  const bool repeats = work.request().time_based;
  const std::uint64_t most = repeats ? Passes::endless : num_objects;
  LimitStatus own;
  own.num_done = own.num_least = loop.move({0, most}, limit_ns);
  own.has_stopped = own.num_done < most ? 1 : 0;
  // The call that was under way when the limit passed counts with its time.
  const std::uint64_t stop_ns = std::max(limit_ns, own.has_stopped != 0 ? work.recorder.elapsed_ns() : 0);
  work.recorder.stop_here();
  const LimitStatus all = agree_on_limit(work, own);
  if (all.has_stopped == 0) {
    work.recorder.row().bytes_at_stop = 0;
    return {num_objects, own.num_done, 0};
  }
  if (repeats) return {std::min(all.num_least, num_objects), own.num_done, static_cast<double>(stop_ns)};
  if (all.has_failed == 0) loop.move({own.num_done, all.num_done}, std::nullopt);
  return {all.num_done, all.num_done, static_cast<double>(stop_ns)};
}

Moved move_in_step(PhaseWork& work, ObjectLoop& loop, std::uint64_t num_objects, std::uint64_t limit_ns) {
  std::uint64_t size = 1;
  ObjectRange batch{0, std::min<std::uint64_t>(size, num_objects)};
  for (;;) {
    const std::uint64_t begin_ns = work.recorder.elapsed_ns();
    loop.move(batch, std::nullopt);
    if (batch.end == num_objects && !work.request().time_based) return {num_objects, num_objects, 0};
    const std::uint64_t end_ns = work.recorder.elapsed_ns();
    const bool is_short = static_cast<double>(end_ns - begin_ns) < batch_share * static_cast<double>(limit_ns);
    if (is_short && batch.end - batch.first == size) size *= 2;
    LimitStatus all;
    cluster::repeat_for_new_root(work.stage.cluster, [&](int root) {
      LimitStatus own;
      if (work.rank() == root && end_ns < limit_ns) {
        own.next_end = batch.end + std::min(size, num_objects - batch.end % num_objects);
      }
      all = agree_on_limit(work, own);
    });
    if (all.next_end == 0 || all.has_failed != 0) {
      work.recorder.stop_here();
      return {std::min(batch.end, num_objects), batch.end, static_cast<double>(end_ns)};
    }
    batch = {batch.end, all.next_end};
  }
}

}  // namespace

std::chrono::nanoseconds time_until_due(const PhaseWork& work, std::uint64_t number) {
  const IoRequest& request = work.request();
  if (request.rate_limit_bytes == 0) return std::chrono::nanoseconds::zero();
  const double due_ns = 1e9 * static_cast<double>(number) * static_cast<double>(request.object_size_bytes) /
                        static_cast<double>(request.rate_limit_bytes);
  const double left_ns = due_ns - static_cast<double>(work.recorder.elapsed_ns());
  return std::chrono::nanoseconds(std::llround(std::min(left_ns, longest_due_ns)));
}

void wait_for_rate(PhaseWork& work, std::uint64_t number) {
  if (work.request().rate_limit_bytes == 0) return;
  constexpr std::chrono::nanoseconds step = std::chrono::milliseconds(100);
  const Recorder::AgreementTimer timer(work.recorder);
  for (auto left = time_until_due(work, number); left.count() > 0; left = time_until_due(work, number)) {
    std::this_thread::sleep_for(std::min(left, step));
    work.stage.cluster.progress_counter().advance();
  }
}

Moved move_objects(PhaseWork& work, ObjectLoop& loop, std::uint64_t num_objects) {
  const IoRequest& request = work.request();
  // Of items that are not looked at or removed, later phases would have no use.
  const bool is_limited = !is_metadata(work.position.operation) || makes_something(work.position.operation);
  if (request.time_limit_s <= 0 || !is_limited) {
    loop.move({0, num_objects}, std::nullopt);
    return {num_objects, num_objects, 0};
  }
  const auto limit_ns = static_cast<std::uint64_t>((request.ramp_time_s + request.time_limit_s) * 1e9);
  const bool in_step = request.collective || request.barrier || schedule::is_funnel(request.movement);
  return in_step ? move_in_step(work, loop, num_objects, limit_ns) : move_alone(work, loop, num_objects, limit_ns);
}

}  // namespace leadline::bench::io
