// SPDX-License-Identifier: Apache-2.0
// Exchanges as steps of one kernel exchange, or messages of a stream, so that no barrier comes between them.
#include "bench/bisection/exchange_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "bench/links.hpp"
#include "bench/message_memory.hpp"

namespace leadline::bench::bisection {

using kernel::Part;
using schedule::Route;

double Loop::time_ns() const {
  if (step_ends_ns.empty()) return 0;
  return static_cast<double>(own_ns) / static_cast<double>(step_ends_ns.size());
}

double exchanges_done(std::span<const std::uint64_t> step_ends_ns, double at_ns) {
  const auto next = std::find_if(step_ends_ns.begin(), step_ends_ns.end(),
                                 [at_ns](std::uint64_t end_ns) { return static_cast<double>(end_ns) > at_ns; });
  const auto num_done = static_cast<double>(next - step_ends_ns.begin());
  if (next == step_ends_ns.end()) return num_done;
  const double begin_ns = next == step_ends_ns.begin() ? 0 : static_cast<double>(*(next - 1));
  return num_done + (at_ns - begin_ns) / (static_cast<double>(*next) - begin_ns);
}

ExchangeLoop::ExchangeLoop(const Stage& stage, LostPairs& lost_pairs) : stage_(stage), lost_pairs_(lost_pairs) {}

void ExchangeLoop::post(const Route& route, std::uint64_t num_steps) {
  channels_.clear();
  step_ends_.clear();
  if (rests(route)) return;
  for (std::uint64_t step = 0; step < num_steps; ++step) {
    if (route.to == route.from) {
      channels_.push_back({route.to, Part::both});
    } else {
      if (route.to != schedule::no_rank) channels_.push_back({route.to, Part::sends});
      if (route.from != schedule::no_rank) channels_.push_back({route.from, Part::receives});
    }
    step_ends_.push_back(static_cast<std::uint32_t>(channels_.size()));
  }
}

kernel::NeighbourExchange ExchangeLoop::exchange(std::uint64_t message_size_bytes) const {
  return {channels_, step_ends_, message_size_bytes};
}

std::uint64_t ExchangeLoop::time_exchanges(const Route& route, std::uint64_t num, std::uint64_t message_size_bytes) {
  post(route, num);
  step_ends_ns_.assign(step_ends_.size(), 0);
  kernel::ExchangeSample sample;
  lost_pairs_.exchange(exchange(message_size_bytes), stage_.buffers.all(),
                       kernel::TimedExchanges{{&sample, 1}, step_ends_ns_});
  return rests(route) ? 0 : sample.own_ns;
}

std::uint64_t ExchangeLoop::time_streams(const Route& route, std::uint64_t num, std::uint64_t message_size_bytes) {
  channels_.clear();
  if (route.from != schedule::no_rank) channels_.push_back({route.from, Part::receives});
  if (route.to != schedule::no_rank) channels_.push_back({route.to, Part::sends});
  step_ends_.assign(1, static_cast<std::uint32_t>(channels_.size()));
  step_ends_ns_.assign(receives(route) ? num : 0, 0);
  lost_pairs_.exchange(exchange(message_size_bytes), stage_.buffers.all(), kernel::TimedStreams{num, step_ends_ns_});
  return receives(route) ? step_ends_ns_.back() : 0;
}

Loop ExchangeLoop::run(const Route& route, Traffic traffic, std::uint64_t message_size_bytes) {
  const auto time = traffic == Traffic::exchanges ? &ExchangeLoop::time_exchanges : &ExchangeLoop::time_streams;
  const BisectionRequest& request = stage_.request;
  if (request.num_warmup > 0) (this->*time)(route, request.num_warmup, message_size_bytes);
  const std::uint64_t own_ns = (this->*time)(route, request.num_exchanges, message_size_bytes);
  return {route, own_ns, step_ends_ns_};
}

std::optional<WrongByte> ExchangeLoop::verify(const Route& route, const PatternPosition& position,
                                              std::uint64_t first_exchange) {
  const BisectionRequest& request = stage_.request;
  post(route, 1);
  verified_.resize(request.num_exchanges);
  const auto mismatch =
      lost_pairs_.exchange(exchange(position.message_size_bytes), stage_.buffers.all(),
                           kernel::VerifiedExchanges{{request.fill, request.fill_seed, first_exchange}, verified_});
  if (!mismatch) return std::nullopt;
  return WrongByte{
      mismatch->exchange,
      Error(ExitStatus::run_failed,
            fmt::format("rank {} on {} received a wrong byte from rank {} in pattern {} ({}), exchange {}: "
                        "byte {} of a message of {} bytes",
                        stage_.cluster.rank(), stage_.cluster.host(), mismatch->from, position.number, position.name,
                        mismatch->exchange, mismatch->byte, position.message_size_bytes),
            expected_and_found(mismatch->expected, mismatch->found), corruption_hint)};
}

double ExchangeLoop::share_of_pair(std::int32_t one, std::int32_t other, std::uint64_t message_size_bytes) {
  Route route;
  if (stage_.cluster.rank() == one) route = {other, other};
  if (stage_.cluster.rank() == other) route = {one, one};
  return run(route, Traffic::exchanges, message_size_bytes).time_ns() / 2;
}

}  // namespace leadline::bench::bisection
