// SPDX-License-Identifier: Apache-2.0
// Both ends of each loop post the same sequence of messages, and know alike when it ends.
#include "bench/congestion/traffic.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include "core/clock.hpp"
#include "kernel/barrier.hpp"

namespace leadline::bench::congestion {
namespace {

using transport::Messages;
using Ticket = Messages::Ticket;
using Small = SmallMessage;

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

constexpr Small goes_on{}, ends{std::byte{1}};

bool says_end(const Small& small) { return small.front() == ends.front(); }

// A message of a stream is a small one with what a large one, if any, has behind it. Each has a place in the window,
// and there a ticket of each kind.
enum class Kind : std::uint8_t { send_small, send_large, receive_small, receive_large };
constexpr std::uint32_t num_kinds = 4;

struct Part {
  std::size_t stream = 0;
  std::uint32_t place = 0;
  Kind kind = Kind::send_small;

  Ticket ticket() const {
    return (static_cast<Ticket>(stream) * stream_window + place) * num_kinds + static_cast<Ticket>(kind);
  }
  static Part of(Ticket ticket) {
    const Ticket place = ticket / num_kinds;
    return {place / stream_window, place % stream_window, static_cast<Kind>(ticket % num_kinds)};
  }
};

/// Message i of one end answers message i of the other: an end sends number i once it has received number
/// i - stream_window, so both send equally many. The first message behind the end of the time says so; it is number k,
/// and number k + stream_window would be the first that is not sent: by then the other end has heard of it.
struct StreamState {
  StreamEnd end;
  std::uint64_t num_sent = 0, num_received = 0, num_posted = 0;  ///< posted: receives
  std::uint64_t num = no_end;
  std::uint64_t next_ns = 0;
  std::array<std::uint8_t, stream_window> num_outgoing{};  ///< parts that are not handed out yet, by place
  std::array<std::uint8_t, stream_window> num_incoming{};

  bool is_done() const {
    return num_sent == num && num_received == num &&
           std::ranges::all_of(num_outgoing, [](std::uint8_t outgoing) { return outgoing == 0; });
  }
};

/// Small messages that are going out, each from a place of its own: it has the tickets 2 * place for them, and
/// 2 * place + 1 for what comes in.
class Outgoing {
 public:
  static Ticket place_of(std::uint64_t number) { return static_cast<Ticket>(number % most_unanswered); }

  bool is_any() const { return num_ > 0; }
  bool has(std::uint64_t number) const { return is_going_out_[place_of(number)]; }

  void send(Messages& messages, std::int32_t partner, const Small& small, std::uint64_t number) {
    messages.post_send(partner, small, 2 * place_of(number));
    is_going_out_[place_of(number)] = true;
    ++num_;
  }
  void receive(Messages& messages, std::int32_t partner, Small& into, std::uint64_t number) {
    messages.post_receive(partner, into, 2 * place_of(number) + 1);
  }

  /// Whether the ticket was that of one of them, which is out now.
  bool takes(Ticket ticket) {
    if (ticket % 2 != 0) return false;
    is_going_out_[ticket / 2] = false;
    --num_;
    return true;
  }

 private:
  std::array<bool, most_unanswered> is_going_out_{};
  std::uint64_t num_ = 0;
};

class Streams {
 public:
  /// `words`: memory for those of the other ends, stream_window for each stream.
  Streams(Messages& messages, std::span<const StreamEnd> streams, std::span<Small> words, const LargeMessages& large,
          std::uint64_t until_ns, StreamObserver& observer)
      : messages_(messages),
        words_(words),
        large_(large),
        until_ns_(until_ns),
        observer_(observer),
        num_open_(streams.size()),
        states_(streams.size()) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      states_[i].end = streams[i];
      if (streams[i].interval_ns > 0) has_pauses_ = true;
    }
  }

  bool is_done() const { return num_open_ == 0; }
  bool has_pauses() const { return has_pauses_; }

  void begin(std::uint64_t now_ns) {
    for (std::size_t stream = 0; stream < states_.size(); ++stream) {
      states_[stream].next_ns = now_ns;
      post(stream, now_ns);
    }
  }

  /// What is due by now.
  void post_due(std::uint64_t now_ns) {
    for (std::size_t stream = 0; stream < states_.size(); ++stream) post(stream, now_ns);
  }

  void handed_out(Ticket ticket, std::uint64_t now_ns) {
    const Part part = Part::of(ticket);
    StreamState& state = states_[part.stream];
    if (part.kind == Kind::send_small || part.kind == Kind::send_large) {
      if (part.kind == Kind::send_large) observer_.sent(part.stream, now_ns);
      --state.num_outgoing[part.place];
    } else {
      if (part.kind == Kind::receive_large) observer_.received(part.stream, now_ns);
      --state.num_incoming[part.place];
    }
    // Messages come in order, the two parts of one perhaps not.
    while (state.num_received < state.num_posted && state.num_incoming[place(state.num_received)] == 0) {
      if (says_end(word(part.stream, place(state.num_received)))) {
        state.num = std::min(state.num, state.num_received + stream_window);
      }
      ++state.num_received;
    }
    post(part.stream, now_ns);
    if (state.is_done()) --num_open_;
  }

 private:
  Small& word(std::size_t stream, std::uint32_t at) { return words_[stream * stream_window + at]; }

  static std::uint32_t place(std::uint64_t number) { return static_cast<std::uint32_t>(number % stream_window); }

  void post(std::size_t stream, std::uint64_t now_ns) {
    StreamState& state = states_[stream];
    post_receives(stream, state);
    while (state.num_sent < std::min(state.num, state.num_received + stream_window) &&
           state.num_outgoing[place(state.num_sent)] == 0) {
      const bool is_over = now_ns >= until_ns_;
      if (!is_over && state.end.sends && now_ns < state.next_ns) return;
      send(stream, state, is_over);
      post_receives(stream, state);
    }
  }

  void send(std::size_t stream, StreamState& state, bool is_over) {
    const std::uint32_t at = place(state.num_sent);
    if (is_over) state.num = std::min(state.num, state.num_sent + stream_window);
    messages_.post_send(state.end.partner, is_over ? ends : goes_on, Part{stream, at, Kind::send_small}.ticket());
    ++state.num_outgoing[at];
    if (state.end.sends) {
      messages_.post_send(state.end.partner, large_.send, Part{stream, at, Kind::send_large}.ticket());
      ++state.num_outgoing[at];
      state.next_ns += state.end.interval_ns;
    }
    ++state.num_sent;
  }

  /// No more than the other end may send.
  void post_receives(std::size_t stream, StreamState& state) {
    const std::uint64_t most =
        std::min({state.num, state.num_received + stream_window, state.num_sent + stream_window});
    for (; state.num_posted < most; ++state.num_posted) {
      const std::uint32_t at = place(state.num_posted);
      messages_.post_receive(state.end.partner, word(stream, at), Part{stream, at, Kind::receive_small}.ticket());
      ++state.num_incoming[at];
      if (!state.end.receives) continue;
      messages_.post_receive(state.end.partner, large_.receive, Part{stream, at, Kind::receive_large}.ticket());
      ++state.num_incoming[at];
    }
  }

  Messages& messages_;
  std::span<Small> words_;
  LargeMessages large_;
  std::uint64_t until_ns_;
  StreamObserver& observer_;
  bool has_pauses_ = false;
  std::size_t num_open_;
  std::vector<StreamState> states_;
};

}  // namespace

std::size_t Traffic::num_tickets(std::size_t num_partners) {
  return std::max<std::size_t>(num_partners * stream_window * num_kinds, 2 * std::size_t{most_unanswered});
}

void Traffic::pause() {
  constexpr std::chrono::microseconds sleep{20};
  if (wait_ == WaitMode::block) {
    std::this_thread::sleep_for(sleep);
  } else if (wait_ != WaitMode::spin) {
    idle_.pause();
  }
}

std::optional<Ticket> Traffic::poll(Messages& messages) {
  const auto ticket = messages.poll();
  if (ticket) {
    idle_.restart();
    progress_counter_.advance();
  } else {
    pause();
  }
  return ticket;
}

bool Traffic::is_given_up(const Messages& messages) const {
  return give_up_ns_ && (!messages.lost_links().empty() || now_ns() > *give_up_ns_);
}

void Traffic::wait_until(std::uint64_t moment_ns) {
  constexpr std::uint64_t awake_ns = 200'000;        // a sleep may last so much longer
  constexpr std::uint64_t longest_ns = 100'000'000;  // the watch wants to see that it goes on
  for (std::uint64_t now = now_ns(); wait_ != WaitMode::spin && moment_ns > now + awake_ns; now = now_ns()) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(moment_ns - now - awake_ns, longest_ns)));
    progress_counter_.advance();
  }
  while (now_ns() < moment_ns) {
    pause();
    progress_counter_.advance();
  }
  idle_.restart();
}

bool Traffic::stream(Messages& messages, std::span<const StreamEnd> streams, const LargeMessages& large,
                     std::uint64_t until_ns, StreamObserver& observer) {
  words_.assign(streams.size() * stream_window, {});
  Streams all(messages, streams, words_, large, until_ns, observer);
  all.begin(now_ns());
  while (!all.is_done()) {
    // Where nothing is held back all that is due is posted when something is handed out.
    if (all.has_pauses()) all.post_due(now_ns());
    if (const auto ticket = poll(messages)) {
      all.handed_out(*ticket, now_ns());
    } else if (is_given_up(messages)) {
      return false;
    }
  }
  return true;
}

bool Traffic::send_on_schedule(Messages& messages, std::int32_t partner, const SendSchedule& schedule,
                               const Done& done) {
  const auto& [num, begin_ns, interval_ns] = schedule;
  Outgoing outgoing;
  std::uint64_t num_sent = 0, num_answered = 0;
  while (num_answered < num || outgoing.is_any()) {
    while (num_sent < num && num_sent < num_answered + most_unanswered && !outgoing.has(num_sent) &&
           now_ns() >= begin_ns + num_sent * interval_ns) {
      outgoing.receive(messages, partner, answers_[Outgoing::place_of(num_sent)], num_sent);
      outgoing.send(messages, partner, outgoing_, num_sent);
      ++num_sent;
    }
    const auto ticket = poll(messages);
    if (!ticket) {
      if (is_given_up(messages)) return false;
    } else if (!outgoing.takes(*ticket)) {
      const std::uint64_t due_ns = begin_ns + num_answered++ * interval_ns;  // answers come in order
      done(due_ns, now_ns() - due_ns);
    }
  }
  return true;
}

bool Traffic::answer(Messages& messages, std::int32_t partner, std::uint64_t num) {
  Outgoing outgoing;
  std::uint64_t num_posted = 0, num_received = 0, num_answered = 0;
  while (num_answered < num || outgoing.is_any()) {
    for (; num_posted < std::min(num, num_answered + most_unanswered); ++num_posted) {
      outgoing.receive(messages, partner, answers_[Outgoing::place_of(num_posted)], num_posted);
    }
    for (; num_answered < num_received && !outgoing.has(num_answered); ++num_answered) {
      outgoing.send(messages, partner, outgoing_, num_answered);
    }
    const auto ticket = poll(messages);
    if (!ticket) {
      if (is_given_up(messages)) return false;
    } else if (!outgoing.takes(*ticket)) {
      ++num_received;
    }
  }
  return true;
}

bool Traffic::allreduce(Messages& messages, std::span<const std::int32_t> ranks, std::int32_t rank,
                        std::uint64_t until_ns, const Done& done) {
  const auto own = static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin());
  const auto rounds = kernel::barrier_rounds(own, static_cast<int>(ranks.size()));
  const auto rank_of = [&](std::int32_t place) { return ranks[static_cast<std::size_t>(place)]; };
  constexpr Ticket send = 0, receive = 1;
  for (bool is_over = false; !is_over;) {
    const std::uint64_t begin_ns = now_ns();
    // The greatest word of all: after round k it is that of the 2^(k+1) ranks up to this one.
    outgoing_ = begin_ns >= until_ns ? ends : goes_on;
    for (const kernel::BarrierRound& round : rounds) {
      messages.post_receive(rank_of(round.from), incoming_, receive);
      messages.post_send(rank_of(round.to), outgoing_, send);
      for (int num_left = 2; num_left > 0;) {
        if (poll(messages)) {
          --num_left;
        } else if (is_given_up(messages)) {
          return false;
        }
      }
      outgoing_.front() = std::max(outgoing_.front(), incoming_.front());
    }
    is_over = says_end(outgoing_);
    done(begin_ns, now_ns() - begin_ns);
  }
  return true;
}

}  // namespace leadline::bench::congestion
