// SPDX-License-Identifier: Apache-2.0
// What the launcher of --hosts and the program that it starts on each host say to each other, through the standard
// input and output of the command that starts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {

/// The line with which the program on a host begins, behind whatever a login shell has printed; then the version.
inline constexpr std::string_view hosts_marker = "leadline-hosts-1 ";

enum class HostFrameKind : std::uint8_t {
  start = 1,  ///< to a host, once: HostStart
  gathered,   ///< to a host: the texts of all ranks, one behind the other
  signal,     ///< to a host: its number, for all ranks
  gather,     ///< of a rank: its text
  leads,      ///< of a rank: the run goes on without lost ranks, and its status is that of this one
  out,        ///< of a rank: what it wrote to standard output
  err,        ///< of a rank: the same of standard error
  ended,      ///< of a rank: its status, as waitpid gives it
  refused,    ///< of a host: why it can start no rank
  reported,   ///< of a rank: it has said why the run failed, and one that is inside a file call may not be able to end
};

struct HostFrame {
  HostFrameKind kind{};
  std::uint32_t rank = 0;
  std::string text;
};

std::string packed(const HostFrame& frame);

/// The first frame, taken from the front; nothing where it is not whole yet. Throws Error(run_failed) where these are
/// no frames.
std::optional<HostFrame> take_frame(std::string& unread);

/// What a host needs to start its ranks.
struct HostStart {
  std::uint32_t size = 0;            ///< ranks of the run
  std::uint32_t first_rank = 0;      ///< on this host
  std::uint32_t ranks_per_host = 0;  ///< on each
  std::string folder;
  std::vector<std::string> arguments;    ///< argv of each rank
  std::vector<std::string> environment;  ///< NAME=VALUE
  std::vector<AbsentHost> absent;        ///< their ranks are the last ones, in this order
};

std::string packed(const HostStart& start);
/// Nothing where the bytes are damaged.
std::optional<HostStart> unpacked_host_start(std::string_view bytes);

/// Blocks. False where nobody reads.
bool write_whole(int fd, std::string_view bytes);

/// Appends what there is. False at the end of the stream.
bool read_more(int fd, std::string& unread);

/// Blocks until there is a frame; nothing at the end of the stream, and when the time is over.
std::optional<HostFrame> await_frame(int fd, std::string& unread, const Deadline* deadline);

}  // namespace leadline::cluster
