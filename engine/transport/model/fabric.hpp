// SPDX-License-Identifier: Apache-2.0
// A simulated fabric: how long a message takes between two ranks, and what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace leadline::transport::model {

/// One class of links.
struct Speed {
  double latency_ns = 0;
  double bandwidth_bytes_per_s = 0;
};

// Faults. Everything slow takes `factor` times as long.
struct SlowHost {
  int host = 0;
  double factor = 1;
};
struct SlowRank {
  int rank = 0;
  double factor = 1;
};
struct SlowLink {
  int from_host = 0, to_host = 0;  ///< this direction only
  double factor = 1;
};
struct SlowUplink {
  int uplink_of_switch = 0;
  double factor = 1;
};
struct Corrupt {
  int from = 0, to = 0;
  std::uint64_t message = 0, byte = 0;
};
struct Silent {
  int rank = 0;
  std::uint64_t after_messages = 0;
};
using Fault = std::variant<SlowHost, SlowRank, SlowLink, SlowUplink, Corrupt, Silent>;

/// The plain data of a fabric file; docs/formats/model-fabric.md says what each means.
struct Fabric {
  std::string description;
  std::uint64_t seed = 1;
  double jitter = 0;  ///< a message takes up to this share longer
  int ranks_per_host = 1;
  int hosts_per_switch = 0;  ///< 0 = all hosts on one switch
  std::string host_name = "host";
  Speed same_host, between_hosts, between_switches;
  std::vector<Fault> faults;
};

/// A message on its way, in virtual time.
struct Travel {
  std::uint64_t sending_ns = 0;  ///< the link is busy that long
  std::uint64_t latency_ns = 0;  ///< and the last byte arrives so much later
};

int host_of(const Fabric& fabric, int rank);

/// The number-th message of rank `from`; the same arguments give the same times.
Travel travel(const Fabric& fabric, int from, int to, std::uint64_t size, std::uint64_t number);

/// The byte that arrives wrong in this message of a verification pass, if any.
std::optional<std::uint64_t> corrupted_byte(const Fabric& fabric, int from, int to, std::uint64_t message);

/// After how many messages of its own a rank says nothing more, if ever.
std::optional<std::uint64_t> silent_after(const Fabric& fabric, int rank);

/// Reads a fabric out of JSON text. Throws Error(bad_command_line) that names `file`, the key and the reason.
Fabric parse_fabric(const std::string& text, const std::string& file);

/// The same from the file. Throws Error(bad_command_line) where it cannot be read, and where a fault concerns a
/// rank, host or switch that `num_ranks` ranks do not have.
Fabric load_fabric(const std::string& file, int num_ranks);

}  // namespace leadline::transport::model
