// SPDX-License-Identifier: Apache-2.0
// Faults of a simulated machine: read from a file, or drawn at random with known truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// The kinds of random faults; each is as likely as the others.
enum class FaultKind : std::uint8_t {
  host,
  port,
  port_one_way,
  inside,
  rank,
  socket,
  link,
  link_one_way,
  network_switch,
  uplink,
  cable,
  rail,
  pair,
};

/// "host", "port_one_way" ...
const char* name_of(FaultKind kind);

/// All kinds that a machine can have and that can be distinguished: a rank is no host of one rank, a link no pair of
/// ranks, a socket no half of a machine with one; a switch has two hosts or more below it, and is not the only one.
std::vector<FaultKind> possible_kinds(const Machine& machine);

struct ScenarioSettings {
  std::vector<FaultKind> kinds;                ///< empty = all that are possible
  double factor_low = 1.2, factor_high = 1.2;  ///< of every fault, evenly distributed in the logarithm
  std::uint32_t num_faults = 1;
  double unsteady_share = 0;  ///< so many of them, by chance, lose messages instead ...
  double loss = 0.01;         ///< ... with this probability
};

/// Faults for that machine (its own stay out of it), a function of machine, seed and settings; `component`, `direction`
/// and symptom_of() are what a diagnosis should find. No two overlap, so that the truth is unique: no host has two
/// faults, by its own name or below a switch, and there is one rail at most (which crosses all hosts). Throws
/// Error(bad_command_line) for a kind that the machine cannot have, and where so many faults do not fit.
std::vector<PlantedFault> random_scenario(const Machine& machine, std::uint64_t seed, const ScenarioSettings& settings);

/// Adds speeds, noise and faults of the text to the machine, by whose hosts and switches (name or number), ranks and
/// sockets they are checked. Throws Error(bad_command_line) that names `file`, the key and the reason.
void parse_faults(const std::string& text, const std::string& file, Machine& machine);

/// The same from the file.
void load_faults(const std::string& file, Machine& machine);

}  // namespace leadline::synthetic
