// SPDX-License-Identifier: Apache-2.0
// Reasons for an early end: as text for people, as bytes for the other ranks.
#include "cluster/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cluster/bytes.hpp"

namespace leadline::cluster {
namespace {

// A frame of the watch holds 64 KiB; longer reasons are cut.
constexpr std::size_t words_size_max = 4096;
// Longer than any run; a number beyond it does not come from a rank of this program.
constexpr std::uint64_t stall_ms_max = 1'000'000'000'000;

std::string in(const std::string& current_step) { return current_step.empty() ? "" : " in " + current_step; }

Failure failure(FailureKind kind, std::string problem, std::string why, std::string hint) {
  return {kind, Error(ExitStatus::run_failed, std::move(problem), std::move(why), std::move(hint)), {}};
}

/// "; 3 other ranks are in such calls, too".
std::string others_in_calls(std::size_t num_others) {
  if (num_others == 0) return {};
  const bool is_one = num_others == 1;
  return fmt::format("; {} other rank{} in such {}, too", num_others, is_one ? " is" : "s are",
                     is_one ? "a call" : "calls");
}

constexpr const char* kept = "what was measured so far is kept";

}  // namespace

void append(std::string& to, const ProcessIdentity& process) {
  append(to, process.scope);
  append(to, process.pid);
  append(to, process.start_time);
}

ProcessIdentity take_process(Reader& reader) {
  ProcessIdentity process;
  process.scope = reader.number<std::uint64_t>();
  process.pid = reader.number<std::uint32_t>();
  process.start_time = reader.number<std::uint64_t>();
  return process;
}

std::string packed(const Stall& stall) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(stall.rank));
  append(bytes, static_cast<std::uint32_t>(stall.partner));
  append(bytes, static_cast<std::uint8_t>(stall.is_cut_off));
  append(bytes, static_cast<std::uint64_t>(1e3 * stall.lasts_s));
  append_text(bytes, stall.why.substr(0, words_size_max));
  append_text(bytes, stall.step.substr(0, words_size_max));
  append(bytes, static_cast<std::uint8_t>(stall.is_in_file_call));
  append(bytes, static_cast<std::uint8_t>(stall.awaits_others));
  return bytes;
}

std::optional<Stall> unpacked_stall(std::string_view bytes) {
  Reader reader(bytes);
  Stall stall;
  stall.rank = static_cast<int>(reader.number<std::uint32_t>());
  stall.partner = static_cast<int>(reader.number<std::uint32_t>());
  stall.is_cut_off = reader.number<std::uint8_t>() != 0;
  const auto lasts_ms = reader.number<std::uint64_t>();
  stall.lasts_s = 1e-3 * static_cast<double>(lasts_ms);
  stall.why = reader.text();
  stall.step = reader.text();
  stall.is_in_file_call = reader.number<std::uint8_t>() != 0;
  stall.awaits_others = reader.number<std::uint8_t>() != 0;
  if (reader.is_short() || stall.rank < 0 || stall.partner < -1 || lasts_ms > stall_ms_max) return std::nullopt;
  return stall;
}

std::optional<Stall> first_cause(const std::vector<Stall>& stalls) {
  const auto waits_for = [&](int rank, int partner) {
    return std::any_of(stalls.begin(), stalls.end(),
                       [&](const Stall& stall) { return stall.rank == rank && stall.partner == partner; });
  };
  const auto rank_of = [&](const Stall& stall) {
    if (stall.is_in_file_call) return stall.awaits_others ? 2 : 5;
    if (stall.partner < 0) return 0;
    if (stall.is_cut_off) return 4;
    return waits_for(stall.partner, stall.rank) ? 3 : 1;
  };
  const auto began = [](const Stall& stall) {
    return stall.taken_at - std::chrono::duration<double>(stall.lasts_s);  // some tell again how long it lasts
  };
  const Stall* best = nullptr;
  for (const Stall& stall : stalls) {
    if (rank_of(stall) == 0) continue;
    const bool is_better = best == nullptr || rank_of(stall) > rank_of(*best) ||
                           (rank_of(stall) == rank_of(*best) && began(stall) < began(*best));
    if (is_better) best = &stall;
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

std::string packed(const Failure& failure) {
  std::string bytes;
  append(bytes, static_cast<std::uint8_t>(failure.kind));
  append(bytes, static_cast<std::uint32_t>(failure.error.status()));
  append_text(bytes, failure.error.problem().substr(0, words_size_max));
  append_text(bytes, failure.error.why().substr(0, words_size_max));
  append_text(bytes, failure.error.hint().substr(0, words_size_max));
  append(bytes, failure.silent_process);
  append(bytes, static_cast<std::uint32_t>(failure.silent_rank));
  append(bytes, static_cast<std::uint32_t>(failure.heard_by));
  return bytes;
}

std::optional<Failure> unpacked(std::string_view bytes) {
  Reader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  const auto status = reader.number<std::uint32_t>();
  std::string problem = reader.text(), why = reader.text(), hint = reader.text();
  const ProcessIdentity silent_process = take_process(reader);
  const auto silent_rank = static_cast<int>(reader.number<std::uint32_t>());
  const auto heard_by = static_cast<int>(reader.number<std::uint32_t>());
  if (reader.is_short() || status > 4 || kind < 1 || kind > static_cast<std::uint8_t>(FailureKind::died)) {
    return std::nullopt;
  }
  return Failure{static_cast<FailureKind>(kind),
                 Error(static_cast<ExitStatus>(status), std::move(problem), std::move(why), std::move(hint)),
                 silent_process, silent_rank, heard_by};
}

Failure rank_died(const std::string& who, const std::string& current_step, double said_before_s) {
  constexpr double shortest_told_s = 0.05;
  const std::string said =
      said_before_s < shortest_told_s ? "" : fmt::format("; it was there {:.1f} s before", said_before_s);
  return failure(FailureKind::died, who + " died" + in(current_step), "its connection closed" + said,
                 fmt::format("Look at that host and its system log; {}", kept));
}

Failure rank_silent(const std::string& who, const std::string& current_step, double silent_s,
                    const ProcessIdentity& process) {
  Failure silent = failure(
      FailureKind::silent, fmt::format("{} has been silent for {:.3g} s{}", who, silent_s, in(current_step)),
      "it is stopped, or its network is down", fmt::format("Look at that host; --timeout sets the patience; {}", kept));
  silent.silent_process = process;
  return silent;
}

Failure ranks_cut_off(const std::string& one, const std::string& other, const std::string& current_step,
                      const std::string& why) {
  return failure(FailureKind::cut_off, fmt::format("{} and {} do not reach each other{}", one, other, in(current_step)),
                 why, fmt::format("Look at the network between these two hosts; {}", kept));
}

Failure own_network_down(const std::string& who, const std::string& current_step, double silent_s) {
  return failure(
      FailureKind::silent,
      fmt::format("{} has heard nothing from any other host for {:.3g} s{}", who, silent_s, in(current_step)),
      "its own network is down", fmt::format("Look at that host and its cable; {}", kept));
}

Failure own_network_loses(const std::string& who, const std::string& current_step) {
  return failure(FailureKind::silent,
                 fmt::format("{} loses packets to or from all other hosts that it needs{}", who, in(current_step)),
                 "its own network is faulty", fmt::format("Look at that host and its cable; {}", kept));
}

Failure root_unheard(const std::string& who, const std::string& root, const std::string& current_step, double silent_s,
                     const ProcessIdentity& process) {
  Failure silent =
      failure(FailureKind::silent,
              fmt::format("{} has heard nothing from {} for {:.3g} s{}", who, root, silent_s, in(current_step)),
              "that rank is stopped, or the network of one of the two hosts is down",
              fmt::format("Look at both hosts, and at what {} says; {}", root, kept));
  silent.silent_process = process;
  return silent;
}

Failure link_lost(const std::string& who, const std::string& partner, const std::string& current_step,
                  const Error& error) {
  const std::string why = error.problem() + (error.why().empty() ? "" : ": " + error.why());
  const std::string hint = error.hint().empty() ? "Look at the network between these two hosts" : error.hint();
  return failure(FailureKind::lost_connection, fmt::format("{} has no link to {}{}", who, partner, in(current_step)),
                 why, fmt::format("{}; {}", hint, kept));
}

Failure rank_unreached(const std::string& who, const std::string& parent, const std::string& current_step) {
  return failure(FailureKind::silent, fmt::format("{} has been silent{}", who, in(current_step)),
                 fmt::format("it was heard through {}, which is lost, and did not connect by itself", parent),
                 fmt::format("Look at that host; {}", kept));
}

Failure rank_absent(int rank, const std::string& where, double waited_s) {
  return failure(FailureKind::silent, fmt::format("rank {} did not join within {:.3g} s", rank, waited_s),
                 fmt::format("it should listen at {}", where),
                 "Check that it was started, with the same secret, and can be reached there");
}

Failure host_absent(int rank, const AbsentHost& host) {
  return failure(FailureKind::silent, fmt::format("rank {} on {} was not started", rank, host.name), host.why,
                 "Look at that host, and at what was said of it");
}

Failure nobody_to_join(const std::string& who, int parent, double waited_s) {
  return failure(FailureKind::own_error, fmt::format("{} reaches neither rank {} nor rank 0", who, parent),
                 fmt::format("they do not run, or cannot be reached, or have begun without it: ranks are waited for "
                             "for {:.3g} s",
                             waited_s),
                 "Check that they were started, with the same secret, and start all within --start-timeout");
}

Failure connection_lost(const std::string& who, const std::string& other, const std::string& current_step,
                        int error_number) {
  return failure(FailureKind::lost_connection,
                 fmt::format("{} has lost its connection to {}{}", who, other, in(current_step)),
                 system_error_text(error_number), fmt::format("Look at the networks of both hosts; {}", kept));
}

Failure rank_left(const std::string& who, const std::string& current_step) {
  return failure(FailureKind::lost_connection, who + " left before the end" + in(current_step),
                 "it ended without telling the others why", fmt::format("Look at its own messages; {}", kept));
}

Failure rank_stuck(const std::string& who, const std::string& partner, const std::string& current_step,
                   double stuck_s) {
  const std::string with = partner.empty() ? "" : " with " + partner;
  return failure(FailureKind::stuck,
                 fmt::format("{} has made no progress{} for {:.3g} s{}", who, with, stuck_s, in(current_step)),
                 "all ranks are alive, but nothing moves on that link",
                 fmt::format("Look at that link; --timeout sets the patience with what is timed in one go; {}", kept));
}

Failure file_call_stuck(const std::string& who, const std::string& current_step, double stuck_s,
                        std::size_t num_others) {
  return failure(
      FailureKind::stuck, fmt::format("{} has waited for a file system for {:.3g} s{}", who, stuck_s, in(current_step)),
      "it does not answer" + others_in_calls(num_others),
      fmt::format("Look at that file system and its servers; --timeout sets the patience with one call; {}", kept));
}

std::string stall_line(const std::string& who, const std::string& partner, const Stall& stall, double timeout_s,
                       std::size_t num_others) {
  const std::string awaited = stall.is_in_file_call ? "a file system" : partner;
  const std::string with = awaited.empty() ? "" : " for " + awaited;
  if (stall.lasts_s == 0) return fmt::format("{} goes on", who);
  return fmt::format("{} has waited{} for {:.0f} s{}{}; the run ends after {:.3g} s without progress", who, with,
                     stall.lasts_s, in(stall.step), others_in_calls(num_others), timeout_s);
}

Failure abort_in(const std::string& who, const std::string& current_step) {
  return failure(FailureKind::aborted, fmt::format("{} gave up{}", who, in(current_step)),
                 "a library that it uses called abort()",
                 fmt::format("Look at the messages of that library; {}", kept));
}

Failure signal_to(const std::string& who, const std::string& current_step, int signal_number) {
  const char* name = ::sigabbrev_np(signal_number);
  return failure(FailureKind::signalled, fmt::format("the run was told to stop{}", in(current_step)),
                 fmt::format("{} received SIG{}", who, name != nullptr ? name : "?"),
                 "What was measured so far is kept");
}

}  // namespace leadline::cluster
