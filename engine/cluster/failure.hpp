// SPDX-License-Identifier: Apache-2.0
// Why a run ends early: one failure, as it travels between the watches and as it is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/bytes.hpp"
#include "cluster/process_identity.hpp"
#include "core/error.hpp"

namespace leadline::cluster {

/// What happened, the weakest evidence first: a dead rank makes others lose connections and get stuck, never
/// the other way round. A launcher that sees a rank die signals all others, hence `signalled` below it.
enum class FailureKind : std::uint8_t {
  stuck = 1,        ///< no progress inside a transport
  lost_connection,  ///< a data connection, or a collective's, broke
  aborted,          ///< a library in this process called abort(), most likely since a partner is gone
  signalled,        ///< SIGINT, SIGTERM or SIGHUP arrived
  own_error,        ///< Cluster::abort: a wrong byte, a full disk
  silent,           ///< nothing heard from a rank for longer than the timeout
  died,             ///< its connection closed
};

struct Failure {
  FailureKind kind = FailureKind::stuck;
  Error error;
  ProcessIdentity silent_process{};  ///< pid 0: nobody is silent, or it is not known which process that is
};

void append(std::string& to, const ProcessIdentity& process);
ProcessIdentity take_process(Reader& reader);

std::string packed(const Failure& failure);
/// Nothing where the bytes are damaged.
std::optional<Failure> unpacked(std::string_view bytes);

// The reasons as text. `who` is "rank 3 on node1", `current_step` "round 3 of 7, with partner 5" or empty.
Failure rank_died(const std::string& who, const std::string& current_step);
Failure rank_silent(const std::string& who, const std::string& current_step, double silent_s,
                    const ProcessIdentity& process);
Failure connection_lost(const std::string& who, const std::string& current_step, int error_number);
Failure rank_left(const std::string& who, const std::string& current_step);
Failure rank_stuck(const std::string& who, const std::string& current_step, double stuck_s);
Failure abort_in(const std::string& who, const std::string& current_step);
Failure signal_to(const std::string& who, const std::string& current_step, int signal_number);

}  // namespace leadline::cluster
