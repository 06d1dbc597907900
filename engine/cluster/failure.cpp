// SPDX-License-Identifier: Apache-2.0
// Reasons for an early end: as text for people, as bytes for the other ranks.
#include "cluster/failure.hpp"

#include <fmt/format.h>

#include <cstring>

#include "cluster/bytes.hpp"

namespace leadline::cluster {
namespace {

// A frame of the watch holds 64 KiB; longer reasons are cut.
constexpr std::size_t words_size_max = 4096;

std::string in(const std::string& current_step) { return current_step.empty() ? "" : " in " + current_step; }

Failure failure(FailureKind kind, std::string problem, std::string why, std::string hint) {
  return {kind, Error(ExitStatus::run_failed, std::move(problem), std::move(why), std::move(hint)), {}};
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

std::string packed(const Failure& failure) {
  std::string bytes;
  append(bytes, static_cast<std::uint8_t>(failure.kind));
  append(bytes, static_cast<std::uint32_t>(failure.error.status()));
  append_text(bytes, failure.error.problem().substr(0, words_size_max));
  append_text(bytes, failure.error.why().substr(0, words_size_max));
  append_text(bytes, failure.error.hint().substr(0, words_size_max));
  append(bytes, failure.silent_process);
  return bytes;
}

std::optional<Failure> unpacked(std::string_view bytes) {
  Reader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  const auto status = reader.number<std::uint32_t>();
  std::string problem = reader.text(), why = reader.text(), hint = reader.text();
  const ProcessIdentity silent_process = take_process(reader);
  if (reader.is_short() || status > 4 || kind < 1 || kind > static_cast<std::uint8_t>(FailureKind::died)) {
    return std::nullopt;
  }
  return Failure{static_cast<FailureKind>(kind),
                 Error(static_cast<ExitStatus>(status), std::move(problem), std::move(why), std::move(hint)),
                 silent_process};
}

Failure rank_died(const std::string& who, const std::string& current_step) {
  return failure(FailureKind::died, who + " died" + in(current_step), "its connection closed",
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

Failure connection_lost(const std::string& who, const std::string& current_step, int error_number) {
  return failure(FailureKind::lost_connection, fmt::format("the connection to {} broke{}", who, in(current_step)),
                 system_error_text(error_number), fmt::format("Look at the network of that host; {}", kept));
}

Failure rank_left(const std::string& who, const std::string& current_step) {
  return failure(FailureKind::lost_connection, who + " left before the end" + in(current_step),
                 "it ended without telling the others why", fmt::format("Look at its own messages; {}", kept));
}

Failure rank_stuck(const std::string& who, const std::string& current_step, double stuck_s) {
  return failure(FailureKind::stuck,
                 fmt::format("{} has made no progress for {:.3g} s{}", who, stuck_s, in(current_step)),
                 "all ranks are alive, but nothing moves on that link",
                 fmt::format("Look at that link; --timeout sets the patience with what is timed in one go; {}", kept));
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
