// SPDX-License-Identifier: Apache-2.0
// Both ends of a message cut it into the same pieces.
#include "bench/collective/ring.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "core/clock.hpp"
#include "core/yielding_wait.hpp"

namespace leadline::bench::collective {
namespace {

using transport::Messages;
using Ticket = Messages::Ticket;

constexpr std::size_t least_piece_elements = 32 << 10;  // 128 KiB, guessed: far above what a message costs
constexpr std::chrono::microseconds sleep_of_block{20};

/// Part `index` of `num` of these numbers, as even as can be.
template <typename Number>
std::span<Number> part_of(std::span<Number> numbers, std::size_t index, std::size_t num) {
  const std::size_t begin = numbers.size() * index / num, end = numbers.size() * (index + 1) / num;
  return numbers.subspan(begin, end - begin);
}

std::size_t num_pieces(std::size_t num_elements, std::size_t most) {
  return num_elements == 0 ? 0 : std::clamp<std::size_t>(num_elements / least_piece_elements, 1, most);
}

void add_to(std::span<float> to, const float* addend) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += addend[i];
}

std::size_t place_in(const Group& group, std::int32_t rank) {
  return static_cast<std::size_t>(std::ranges::find(group, rank) - group.begin());
}

}  // namespace

std::vector<std::int32_t> ring_partners(std::span<const Operation> operations, const Group& group, std::int32_t rank) {
  std::vector<std::int32_t> partners;
  if (std::ranges::count(operations, Operation::alltoall) > 0) {
    std::ranges::copy_if(group, std::back_inserter(partners), [&](std::int32_t other) { return other != rank; });
    return partners;
  }
  const std::size_t place = place_in(group, rank), num = group.size();
  partners = {group[(place + 1) % num], group[(place + num - 1) % num]};
  if (partners.front() == partners.back()) partners.pop_back();
  return partners;
}

Ring::Ring(transport::Transport& transport, std::span<const std::int32_t> partners, Group group, std::int32_t rank,
           const RingWait& wait, ProgressCounter& progress_counter)
    : group_(std::move(group)),
      place_(place_in(group_, rank)),
      wait_(wait),
      progress_counter_(progress_counter),
      messages_(transport.messages(partners, 2 * most_pieces)) {}

void Ring::run(const transport::CollectiveCall& call, std::uint64_t num) {
  const auto* const send = reinterpret_cast<const float*>(call.send);
  auto* const receive = reinterpret_cast<float*>(call.receive);
  for (std::uint64_t i = 0; i < num; ++i) run_once(call.operation, call.num_elements, send, receive);
}

void Ring::run_once(Operation operation, std::size_t num, const float* send, float* receive) {
  switch (operation) {
    case Operation::allreduce:
      return allreduce(num, send, receive);
    case Operation::reduce_scatter:
      return reduce_scatter(num, send, receive);
    case Operation::allgather:
      std::copy_n(send, num, receive + place_ * num);
      return allgather(num, receive);
    case Operation::alltoall:
      return alltoall(num, send, receive);
  }
}

/// Parts may differ by a number, and be empty.
void Ring::allreduce(std::size_t num, const float* send, float* receive) {
  const std::size_t num_ranks = group_.size();
  const std::span<const float> own(send, num);
  const std::span<float> sums(receive, num);
  for (std::size_t step = 0; step + 1 < num_ranks; ++step) {
    const std::size_t out = behind(step + 1), in = behind(step + 2);
    const std::span<const float> from = step == 0 ? own : std::span<const float>(sums);
    pass({next(), part_of(from, out, num_ranks)},
         {previous(), part_of(sums, in, num_ranks), part_of(own, in, num_ranks).data()});
  }
  for (std::size_t step = 0; step + 1 < num_ranks; ++step) {
    pass({next(), part_of(std::span<const float>(sums), behind(step), num_ranks)},
         {previous(), part_of(sums, behind(step + 1), num_ranks)});
  }
}

void Ring::reduce_scatter(std::size_t num, const float* send, float* receive) {
  const std::size_t num_steps = group_.size() - 1;
  for (auto& sums : partial_sums_) sums.resize(num_steps > 1 ? std::max(sums.size(), num) : 0);
  std::span<const float> outgoing(send + behind(1) * num, num);
  for (std::size_t step = 0; step < num_steps; ++step) {
    const bool is_last = step + 1 == num_steps;
    const std::span<float> sums(is_last ? receive : partial_sums_[step % 2].data(), num);
    pass({next(), outgoing}, {previous(), sums, send + behind(step + 2) * num});
    outgoing = sums;
  }
}

void Ring::allgather(std::size_t num, float* receive) {
  for (std::size_t step = 0; step + 1 < group_.size(); ++step) {
    pass({next(), {receive + behind(step) * num, num}}, {previous(), {receive + behind(step + 1) * num, num}});
  }
}

void Ring::alltoall(std::size_t num, const float* send, float* receive) {
  std::copy_n(send + place_ * num, num, receive + place_ * num);
  for (std::size_t step = 1; step < group_.size(); ++step) {
    const std::size_t to = (place_ + step) % group_.size(), from = behind(step);
    pass({group_[to], {send + to * num, num}}, {group_[from], {receive + from * num, num}});
  }
}

/// A message each way; what came in is added up by then.
void Ring::pass(const Outgoing& outgoing, const Incoming& incoming) {
  const std::size_t num_out = num_pieces(outgoing.numbers.size(), most_pieces);
  const std::size_t num_in = num_pieces(incoming.numbers.size(), most_pieces);
  for (std::size_t piece = 0; piece < num_in; ++piece) {
    messages_->post_receive(incoming.from, std::as_writable_bytes(part_of(incoming.numbers, piece, num_in)),
                            static_cast<Ticket>(2 * piece + 1));
  }
  for (std::size_t piece = 0; piece < num_out; ++piece) {
    messages_->post_send(outgoing.to, std::as_bytes(part_of(outgoing.numbers, piece, num_out)),
                         static_cast<Ticket>(2 * piece));
  }
  for (std::size_t num_left = num_in + num_out; num_left > 0; --num_left) {
    const Ticket ticket = next_ticket();
    if (ticket % 2 == 0 || incoming.addend == nullptr) continue;
    const std::span<float> numbers = part_of(incoming.numbers, ticket / 2, num_in);
    add_to(numbers, incoming.addend + (numbers.data() - incoming.numbers.data()));
  }
  progress_counter_.advance();
}

Ticket Ring::next_ticket() {
  YieldingWait idle;
  for (std::uint64_t waits_since_ns = 0;;) {
    if (const auto ticket = messages_->poll()) return *ticket;
    if (wait_.patience_s) {
      const std::uint64_t now = now_ns();
      if (waits_since_ns == 0) waits_since_ns = now;
      const bool is_late = 1e-9 * static_cast<double>(now - waits_since_ns) > *wait_.patience_s;
      if (is_late || !messages_->lost_links().empty()) {
        throw GivenUp(ExitStatus::run_failed, "messages of a collective operation did not arrive");
      }
    }
    if (wait_.mode == WaitMode::block) {
      std::this_thread::sleep_for(sleep_of_block);
    } else if (wait_.mode != WaitMode::spin) {
      idle.pause();
    }
  }
}

}  // namespace leadline::bench::collective
