// SPDX-License-Identifier: Apache-2.0
// Why a run ends early: one failure, as it travels between the watches and as it is printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/bytes.hpp"
#include "cluster/process_identity.hpp"
#include "core/error.hpp"

namespace leadline::cluster {

/// What happened, the weakest evidence first: a dead rank makes others lose connections and get stuck, never
/// the other way round. A launcher that sees a rank die signals all others, hence `signalled` below it.
enum class FailureKind : std::uint8_t {
  stuck = 1,        ///< no progress inside a transport, or inside one call into a file system
  lost_connection,  ///< a data connection, or a collective's, broke
  aborted,          ///< a library in this process called abort(), most likely since a partner is gone
  signalled,        ///< SIGINT, SIGTERM or SIGHUP arrived
  own_error,        ///< Cluster::abort: a wrong byte, a full disk
  cut_off,          ///< a rank that another needs answers everybody but that one
  silent,           ///< nothing heard from a rank for longer than the timeout
  died,             ///< its connection closed
};

struct Failure {
  FailureKind kind = FailureKind::stuck;
  Error error;
  ProcessIdentity silent_process{};     ///< pid 0: nobody is silent, or it is not known which process that is
  int silent_rank = -1, heard_by = -1;  ///< who is silent, and for whom; -1: nobody
};

/// A rank that gets no further.
struct Stall {
  int rank = 0;
  int partner = -1;         ///< the one it waits for; -1: one of several, or not known
  bool is_cut_off = false;  ///< that one does not answer a new connection either
  double lasts_s = 0;       ///< 0: it is over
  std::string why;          ///< it is cut off
  std::string step;         ///< "round 3 of 7"
  bool is_in_file_call = false;
  bool awaits_others = false;  ///< in a file call that others make with it, and not inside the kernel
  std::chrono::steady_clock::time_point taken_at{};  ///< when this rank learned of it; does not travel
};

std::string packed(const Stall& stall);
/// Nothing where the bytes are damaged.
std::optional<Stall> unpacked_stall(std::string_view bytes);

/// What explains the others: a rank inside a call into a file system, else two that do not reach each other, else two
/// that wait for each other, else a rank inside a file call in which it may wait for others, else the first. Nothing
/// where `stalls` is empty, or none of them says what is waited for.
std::optional<Stall> first_cause(const std::vector<Stall>& stalls);

void append(std::string& to, const ProcessIdentity& process);
ProcessIdentity take_process(Reader& reader);

std::string packed(const Failure& failure);
/// Nothing where the bytes are damaged.
std::optional<Failure> unpacked(std::string_view bytes);

// The reasons as text. `who` is "rank 3 on node1", `current_step` "round 3 of 7, with partner 5" or empty.
/// `said_before_s`: so long before it has said where it was.
Failure rank_died(const std::string& who, const std::string& current_step, double said_before_s = 0);
Failure rank_silent(const std::string& who, const std::string& current_step, double silent_s,
                    const ProcessIdentity& process);
Failure ranks_cut_off(const std::string& one, const std::string& other, const std::string& current_step,
                      const std::string& why);
/// For a rank whose neighbours on other hosts are all silent.
Failure own_network_down(const std::string& who, const std::string& current_step, double silent_s);
/// For a rank whose packets to all neighbours on other hosts, or theirs to it, get lost.
Failure own_network_loses(const std::string& who, const std::string& current_step);
/// For a rank that cannot ask others: rank 0 may be well, and see the same from its side.
Failure root_unheard(const std::string& who, const std::string& root, const std::string& current_step, double silent_s,
                     const ProcessIdentity& process);
/// `error`: what a transport said of its link.
Failure link_lost(const std::string& who, const std::string& partner, const std::string& current_step,
                  const Error& error);
/// For a rank that has not been heard of since the one through which it was.
Failure rank_unreached(const std::string& who, const std::string& parent, const std::string& current_step);
/// For a rank that has not come. `where` it would listen: "10.0.0.3:5000".
Failure rank_absent(int rank, const std::string& where, double waited_s);
/// For a rank of a host that is known not to come.
Failure host_absent(int rank, const AbsentHost& host);
/// For a rank that finds nobody to join.
Failure nobody_to_join(const std::string& who, int parent, double waited_s);
/// Which of the two networks is at fault is not known.
Failure connection_lost(const std::string& who, const std::string& other, const std::string& current_step,
                        int error_number);
Failure rank_left(const std::string& who, const std::string& current_step);
/// `partner`: whom it waits for; empty: one of several.
Failure rank_stuck(const std::string& who, const std::string& partner, const std::string& current_step, double stuck_s);
/// `current_step` says in which call; so many other ranks are in such calls for longer than they should.
Failure file_call_stuck(const std::string& who, const std::string& current_step, double stuck_s,
                        std::size_t num_others = 0);
/// A line while it lasts, and one when it is over.
std::string stall_line(const std::string& who, const std::string& partner, const Stall& stall, double timeout_s,
                       std::size_t num_others = 0);
Failure abort_in(const std::string& who, const std::string& current_step);
Failure signal_to(const std::string& who, const std::string& current_step, int signal_number);

}  // namespace leadline::cluster
