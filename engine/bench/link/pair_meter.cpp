// SPDX-License-Identifier: Apache-2.0
// One rank's part in measuring a pair. Nothing here is inside a timed region: that is kernel/'s alone.
#include "bench/link/pair_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "bench/links.hpp"
#include "bench/message_memory.hpp"
#include "core/error.hpp"
#include "kernel/barrier.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::link {
namespace {

using kernel::Role;

}  // namespace

PairMeter::PairMeter(const LinkRequest& request, const Plan& plan, cluster::Cluster& cluster,
                     transport::Transport& transport)
    : request_(request),
      cluster_(cluster),
      transport_(transport),
      lost_pairs_(request, cluster, transport),
      buffers_(request, cluster.rank()),
      samples_(plan.num_batches),
      shift_samples_(request.shift ? plan.num_batches : 0),
      times_ns_(plan.num_batches) {}

void PairMeter::connect(std::int32_t partner) {
  open_links(cluster_, transport_, std::span(&partner, 1), request_.timeout_s);
}

bool PairMeter::is_both_at_once(int partner) const {
  return request_.direction == Direction::bidirectional || partner == cluster_.rank();
}

kernel::Exchange PairMeter::exchange(Role role, std::uint64_t message_size_bytes) const {
  kernel::Exchange exchange;
  exchange.direction = request_.direction;
  exchange.role = role;
  exchange.message_size_bytes = message_size_bytes;
  const MessageCounts counts = message_counts(request_, message_size_bytes);
  exchange.num_messages = counts.num_messages;
  exchange.num_warmup = counts.num_warmup;
  exchange.window = request_.window;
  return exchange;
}

void PairMeter::run(int partner, Role role, std::uint64_t message_size_bytes) {
  const InTransport in_transport(cluster_.progress_counter(), partner);
  counts_ = message_counts(request_, message_size_bytes);
  transport_.run(exchange(role, message_size_bytes), partner, buffers_.all(), samples());
}

PairRecord PairMeter::record_of(int partner) {
  const Path path = partner == cluster_.rank() ? Path::to_self : Path::to_partner;
  Sample total;
  const std::span<const Sample> batches = samples();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    times_ns_[i] = message_time_ns(batches[i], request_.direction, path);
    total.elapsed_ns += batches[i].elapsed_ns;
    total.num_messages += batches[i].num_messages;
  }
  PairRecord record = pair_record(stats::summarize(std::span(times_ns_).first(batches.size())));
  // Over messages, not over batches, whose lengths may differ by one message.
  record.time_ns_mean = message_time_ns(total, request_.direction, path);
  return record;
}

PairRecord PairMeter::measure_one_way(int partner, Role role, std::uint64_t message_size_bytes) {
  run(partner, role, message_size_bytes);
  return role == Role::lead ? record_of(partner) : PairRecord{};
}

PairOutcome PairMeter::measure(const schedule::Pairing& pairing, std::uint64_t message_size_bytes) {
  const int partner = pairing.partner;
  PairOutcome outcome;
  if (request_.verify) {
    verify(pairing, message_size_bytes, outcome);
    if (request_.check_buffers) buffers_.fill_sent();  // the pass has overwritten them
  }
  if (is_both_at_once(partner)) {
    run_checked(partner, Role::lead, message_size_bytes, outcome);
  } else if (pairing.leads_first) {
    run_checked(partner, Role::lead, message_size_bytes, outcome);
    run_checked(partner, Role::follow, message_size_bytes, outcome);
  } else {
    run_checked(partner, Role::follow, message_size_bytes, outcome);
    run_checked(partner, Role::lead, message_size_bytes, outcome);
  }
  outcome.loops_ns = own_loops_ns();
  outcome.led_first_half = pairing.leads_first || is_both_at_once(partner);
  outcome.record = record_of(partner);
  return outcome;
}

ShiftOutcome PairMeter::measure_shift(std::optional<int> to, std::optional<int> from,
                                      std::uint64_t message_size_bytes) {
  counts_ = message_counts(request_, message_size_bytes);
  const kernel::Buffers buffers = buffers_.all();
  const std::span<kernel::DirectionSample> windows = std::span(shift_samples_).first(counts_.num_batches);
  lost_pairs_.until_nothing_is_lost([&] {
    std::vector<std::int32_t> partners = kernel::barrier_partners(cluster_.rank(), cluster_.size());
    std::vector<kernel::NeighbourChannel> channels;
    const auto add = [&](std::optional<int> partner, kernel::Part part) {
      if (!partner || lost_pairs_.is_lost(*partner)) return;
      partners.push_back(*partner);
      for (std::uint32_t i = 0; i < request_.window; ++i) channels.push_back({*partner, part, i % buffers.num});
    };
    add(from, kernel::Part::receives);
    add(to, kernel::Part::sends);
    std::erase_if(partners, [&](std::int32_t partner) { return lost_pairs_.is_lost(partner); });
    lost_pairs_.open(in_hashed_order(partners, cluster_.rank()));
    std::ranges::fill(windows, kernel::DirectionSample{});
    const std::array step_ends{static_cast<std::uint32_t>(channels.size())};
    const std::uint64_t num_warmup = (counts_.num_warmup + request_.window - 1) / request_.window;
    lost_pairs_.exchange({channels, step_ends, message_size_bytes, num_warmup},
                         {buffers.send, buffers.receive, buffers.num > 1 ? buffers.stride_bytes : 0},
                         kernel::TimedDirections{windows});
  });
  ShiftOutcome outcome;
  outcome.sent = record_of(windows, &kernel::DirectionSample::sent_ns);
  outcome.received = record_of(windows, &kernel::DirectionSample::received_ns);
  for (const kernel::DirectionSample& window : windows) {
    outcome.loops_ns += static_cast<double>(std::max(window.sent_ns, window.received_ns));
  }
  return outcome;
}

/// Empty where a window has no such time.
PairRecord PairMeter::record_of(std::span<const kernel::DirectionSample> windows,
                                std::uint64_t kernel::DirectionSample::*elapsed_ns) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].*elapsed_ns == 0) return {};
    times_ns_[i] = static_cast<double>(windows[i].*elapsed_ns) / request_.window;
  }
  return pair_record(stats::summarize(std::span(times_ns_).first(windows.size())));
}

double PairMeter::own_loops_ns() const {
  std::uint64_t timed_ns = 0;
  for (const Sample& sample : samples()) timed_ns += sample.elapsed_ns;
  const double warmup = static_cast<double>(counts_.num_warmup) / static_cast<double>(counts_.num_messages);
  return static_cast<double>(timed_ns) * (1 + warmup);
}

void PairMeter::run_checked(int partner, Role role, std::uint64_t message_size_bytes, PairOutcome& outcome) {
  const bool receives =
      request_.direction != Direction::unidirectional || role == Role::follow || partner == cluster_.rank();
  const bool is_checked = request_.check_buffers && receives;
  if (is_checked) buffers_.wipe_received(message_size_bytes);
  run(partner, role, message_size_bytes);
  if (!is_checked) return;
  const std::uint64_t num_messages = counts_.num_warmup + counts_.num_messages;
  const auto wrong = buffers_.first_wrong_byte(partner, message_size_bytes, num_messages);
  outcome.verified_bytes += buffers_.num_reached(num_messages) * message_size_bytes;
  if (!wrong || outcome.wrong_byte) return;
  outcome.wrong_byte =
      Error(ExitStatus::run_failed,
            fmt::format("rank {} on {} found a wrong byte from rank {} after {} messages of {} bytes: byte {} of "
                        "receive buffer {}",
                        cluster_.rank(), cluster_.host(), partner, num_messages, message_size_bytes, wrong->byte.byte,
                        wrong->buffer),
            expected_and_found(wrong->byte.expected, wrong->byte.found), corruption_hint);
}

double PairMeter::measure_all_to_all(std::span<const std::int32_t> partners, std::uint64_t message_size_bytes,
                                     std::size_t num_exchanges) {
  const std::span<Sample> samples = std::span(samples_).first(num_exchanges);
  {
    const InTransport in_transport(cluster_.progress_counter(), {{partners.begin(), partners.end()}, {}});
    transport_.all_to_all({partners, message_size_bytes}, buffers_.all(), samples);
  }
  const std::span<double> times_ns = std::span(times_ns_).first(num_exchanges);
  std::transform(samples.begin(), samples.end(), times_ns.begin(),
                 [](const Sample& sample) { return static_cast<double>(sample.elapsed_ns); });
  return stats::summarize(times_ns).median;
}

void PairMeter::verify(const schedule::Pairing& pairing, std::uint64_t message_size_bytes, PairOutcome& outcome) {
  const Role first = pairing.leads_first ? Role::lead : Role::follow;
  verify_half(pairing.partner, first, message_size_bytes, outcome);
  if (pairing.partner == cluster_.rank()) return;
  verify_half(pairing.partner, first == Role::lead ? Role::follow : Role::lead, message_size_bytes, outcome);
}

void PairMeter::verify_half(int partner, Role role, std::uint64_t message_size_bytes, PairOutcome& outcome) {
  const InTransport in_transport(cluster_.progress_counter(), partner);
  const auto wrong = transport_.verify(exchange(role, message_size_bytes), partner, buffers_.all(), request_.fill);
  const bool receives = role == Role::follow || partner == cluster_.rank();
  if (receives) {
    outcome.verified_bytes += message_counts(request_, message_size_bytes).num_messages * message_size_bytes;
  }
  if (!wrong || outcome.wrong_byte) return;
  outcome.wrong_byte =
      Error(ExitStatus::run_failed,
            fmt::format("rank {} on {} received a wrong byte from rank {}: byte {} of message {} of {} bytes",
                        cluster_.rank(), cluster_.host(), partner, wrong->byte, wrong->message, message_size_bytes),
            expected_and_found(wrong->expected, wrong->found), corruption_hint);
}

}  // namespace leadline::bench::link
