// SPDX-License-Identifier: Apache-2.0
// The loops of one rank in a phase, over single messages of any transport: streams in a window, messages on a schedule,
// an allreduce. All ends of a loop call it at about the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/congestion/result.hpp"
#include "core/progress_counter.hpp"
#include "core/yielding_wait.hpp"
#include "model/request.hpp"
#include "transport/messages.hpp"

namespace leadline::bench::congestion {

/// Messages that a stream has under way.
inline constexpr std::uint32_t stream_window = 4;
/// Latency messages that may be under way at once; those that are due then wait, and their time runs.
inline constexpr std::uint32_t most_unanswered = 64;
using SmallMessage = std::array<std::byte, small_message_bytes>;

/// One stream: messages one way, answered by small ones, or both ways at once.
struct StreamEnd {
  std::int32_t partner = -1;
  bool sends = false, receives = false;  ///< large messages; at least one of both
  std::uint64_t interval_ns = 0;         ///< from one message that it sends to the next, where it can; 0 = no pauses
};

/// Memory to send from and to receive into, the same for all streams: contents do not matter.
struct LargeMessages {
  std::span<std::byte> send, receive;
};

/// When messages are due.
struct SendSchedule {
  std::uint64_t num = 0, begin_ns = 0, interval_ns = 0;
};

/// Is told of the large messages of this rank's streams.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void sent(std::size_t /*stream*/, std::uint64_t /*now_ns*/) {}
  virtual void received(std::size_t /*stream*/, std::uint64_t /*now_ns*/) {}
};

/// Clock readings of leadline::now_ns(). Has the memory of small messages: it outlives the Messages that it was used
/// with.
class Traffic {
 public:
  /// A loop is given up where it loses a link, and at `give_up_ns`; std::nullopt = never. References outlive it.
  Traffic(WaitMode wait, std::optional<std::uint64_t> give_up_ns, ProgressCounter& progress_counter)
      : wait_(wait), give_up_ns_(give_up_ns), progress_counter_(progress_counter) {}

  /// Tickets that a loop over so many partners takes.
  static std::size_t num_tickets(std::size_t num_partners);

  // Partners, likewise in all that follow: false where the loop was given up; what is posted then is still under way.

  /// Until `until_ns`, by the clock of whichever end is there first; both ends have opposite parts.
  [[nodiscard]] bool stream(transport::Messages& messages, std::span<const StreamEnd> streams,
                            const LargeMessages& large, std::uint64_t until_ns, StreamObserver& observer);

  /// When something was due, or began, and how long after that it was done.
  using Done = std::function<void(std::uint64_t begin_ns, std::uint64_t time_ns)>;

  /// Small messages, each sent when it is due, whatever became of those before it; done when the answer is there.
  [[nodiscard]] bool send_on_schedule(transport::Messages& messages, std::int32_t partner, const SendSchedule& schedule,
                                      const Done& done);
  [[nodiscard]] bool answer(transport::Messages& messages, std::int32_t partner, std::uint64_t num);

  /// Allreduce after allreduce over `ranks` (ascending, this one among them), until one begins behind `until_ns` on any
  /// of them.
  [[nodiscard]] bool allreduce(transport::Messages& messages, std::span<const std::int32_t> ranks, std::int32_t rank,
                               std::uint64_t until_ns, const Done& done);

  /// Local: sleeps or tries until then.
  void wait_until(std::uint64_t moment_ns);

 private:
  std::optional<transport::Messages::Ticket> poll(transport::Messages& messages);
  bool is_given_up(const transport::Messages& messages) const;
  void pause();

  WaitMode wait_;
  std::optional<std::uint64_t> give_up_ns_;
  ProgressCounter& progress_counter_;
  YieldingWait idle_;
  SmallMessage outgoing_{}, incoming_{};
  std::array<SmallMessage, most_unanswered> answers_{};
  std::vector<SmallMessage> words_;  ///< of streams
};

}  // namespace leadline::bench::congestion
