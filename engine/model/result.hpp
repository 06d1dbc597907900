// SPDX-License-Identifier: Apache-2.0
// What every run leaves behind, whatever it measured; everything a person or a file sees is a function of it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "model/diagnosis.hpp"
#include "model/provenance.hpp"

namespace leadline {

enum class Severity : std::uint8_t { note, warning };

/// Adapters that a finding is about: hosts of which the kernel tells the same.
struct FoundAdapter {
  std::string name;                       ///< "eth0", "mlx5_0", on the first of them
  std::string link, slot, possible_slot;  ///< "200 Gb/s (4X HDR)", "PCIe 16.0 GT/s x16"; empty = not known
  double bytes_per_s = 0;                 ///< one way, by its link or its slot, whichever is less
  std::vector<std::string> host_names;
};

/// A measured number behind a finding.
struct FoundNumber {
  std::string name;                  ///< "length of stall"
  std::string host_name = {}, unit;  ///< unit "1": a number of something, or a share
  double value = 0;
  std::vector<std::int32_t> ranks = {};  ///< concerned; of a message the sender first
};

struct Finding {
  std::string id;  ///< stable, snake_case: "oversubscribed", "not_bound", "clock_too_coarse", "loop_to_itself"
  Severity severity = Severity::note;
  std::string message;                       ///< one sentence
  std::string evidence;                      ///< the numbers behind it
  std::string advice;                        ///< what to do
  std::vector<std::string> host_names = {};  ///< concerned, where it is about some of them
  std::vector<std::int32_t> ranks = {};      ///< likewise
  std::vector<FoundAdapter> adapters = {};
  std::vector<FoundNumber> numbers = {};
  double time_share = 0;                 ///< of the time of the run that it costs; 0 = unknown
  std::optional<FindingList> list = {};  ///< nothing where it is about the measurement, or how numbers are to be read
};

const char* name_of(Severity severity);
std::span<const Named<Severity>> names_of(Severity any);

/// Least, mean and greatest of a number over ranks or rounds. Not measured: `num` is 0, the rest NaN.
struct Spread {
  std::uint64_t num = 0;
  double min = std::numeric_limits<double>::quiet_NaN(), mean = std::numeric_limits<double>::quiet_NaN(),
         max = std::numeric_limits<double>::quiet_NaN();
};

/// Names of the hosts that take part and of the ranks on each ("0-3,8").
struct HostRanks {
  std::string host;
  std::string ranks;
};

/// What opening links has cost, outside of all measured times. Each end of a link counts its own.
struct Connections {
  std::uint64_t num_opened = 0;                          ///< over all ranks
  double total_s_max = 0;                                ///< of the rank that spent most
  double longest_s = 0;                                  ///< the longest single one
  std::int32_t longest_rank = -1, longest_partner = -1;  ///< where it was; -1 = there was none
};

/// The part of a result that all benchmarks share.
struct RunResult {
  Provenance provenance;
  std::vector<HostRanks> hosts;
  std::vector<Finding> findings;
  std::uint64_t verified_bytes = 0;        ///< over all ranks; 0 = nothing was verified
  std::optional<Connections> connections;  ///< nothing where the run did not come that far
  bool complete = false;
  std::string incomplete_reason;  ///< why not complete
};

}  // namespace leadline
