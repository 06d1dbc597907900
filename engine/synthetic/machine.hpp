// SPDX-License-Identifier: Apache-2.0
// A simulated machine: its rank layout, the speed of its parts, the scatter of its times, and its faults. Plain data;
// docs/formats/simulated-faults.md defines each number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/diagnosis.hpp"
#include "model/samples.hpp"
#include "network/network.hpp"

namespace leadline::synthetic {

/// A message of n bytes takes latency + n / bandwidth.
struct Speed {
  double latency_ns = 0, bandwidth_bytes_per_s = 1;
};

/// How times scatter, as shares of the time. The first three belong to the machine and never change, the others are
/// random in each measurement.
struct Noise {
  double host = 0.005;  ///< log-normal, by host: both ends count
  double rank = 0.005;  ///< the same by rank
  double pair = 0.01;   ///< log-normal, by ordered pair
  double batch = 0.03;  ///< log-normal, by batch

  double spike_probability = 0.02;  ///< a batch takes 1 + S instead, S from Pareto's distribution
  double spike_scale = 0.2;         ///< least S
  double spike_exponent = 1.75;     ///< P(S > s) = (s / scale)^-exponent
  double spike_most = 50;           ///< where S is cut off; of disturbances, too

  double disturbed_probability = 2e-5;  ///< all batches of an ordered pair take 1 + S; not when it is measured again
  double disturbed_scale = 0.5;         ///< least S there
};

/// No scatter at all.
Noise no_noise();

/// The time of a retransmission where a fault does not give it. A guess: adapters wait from some microseconds to 67 ms,
/// TCP from 200 ms.
inline constexpr double usual_retry_ns = 4e6;

/// A planted fault. Several faults act on a message in the order of the list: t -> factor t + add.
struct PlantedFault {
  Component component;
  FaultDirection direction = FaultDirection::both;
  double factor = 1, add_ns = 0;
  double loss = 0;                              ///< probability that a message is sent again ...
  double retry_ns = usual_retry_ns;             ///< ... so much later
  Persistence lasts = Persistence::persistent;  ///< or only_under_load, or transient
  bool operator==(const PlantedFault&) const = default;
};

/// The symptom that a diagnosis should report.
inline Symptom symptom_of(const PlantedFault& fault) { return fault.loss > 0 ? Symptom::unsteady : Symptom::slow; }

/// Rank r stands on host r / ranks_per_host. Ranks of a host are split evenly among its sockets, the lowest on socket
/// 0, where the network adapter is.
struct Machine {
  network::Network network;  ///< at least as many hosts as the ranks need
  std::uint32_t num_ranks = 0, ranks_per_host = 1, sockets_per_host = 1;

  Speed same_socket{400, 12e9}, same_host{600, 10e9};
  std::vector<Speed> between;  ///< hosts, by their distance; farther ones as the last. Empty: usual_between()
  double far_socket_ns = 60;   ///< more for each end of a message between hosts that is not on socket 0

  /// What one time is: unidirectional, of a message from the first to the second rank. Semidirectional: the mean of
  /// there and back, so that a fault of one direction shows by half in both cells. Bidirectional: the longer of the
  /// two.
  Direction direction = Direction::unidirectional;
  std::uint64_t message_size_bytes = 1024;
  std::uint32_t num_batches = 20, messages_per_batch = 5;

  Noise noise;
  std::uint64_t seed = 1;
  std::vector<PlantedFault> faults;
};

/// 1300 ns, 250 ns more for each step of distance, 12.5 GB/s.
std::vector<Speed> usual_between(std::size_t num_distances);

std::uint32_t num_hosts(const Machine& machine);
std::uint32_t host_of(const Machine& machine, std::uint32_t rank);
std::uint32_t slot_of(const Machine& machine, std::uint32_t rank);
std::uint32_t socket_of(const Machine& machine, std::uint32_t rank);

/// The network's name of it; "host7" where it has none.
std::string host_name(const Machine& machine, std::uint32_t host);

/// Throws Error(bad_command_line) for what cannot be: more hosts than the network has, a component that does not exist,
/// a factor below 1, an invalid share.
void check(const Machine& machine);

/// The same for one fault; `name` precedes the reason.
void check(const Machine& machine, const PlantedFault& fault, const std::string& name);

/// "host node3", "the link node1 - node4, there only", "the uplink of leaf2".
std::string name_of_component(const Machine& machine, const PlantedFault& fault);

/// "host node3: takes 1.5 times as long", with what it loses and when it shows.
std::string words_of(const Machine& machine, const PlantedFault& fault);

}  // namespace leadline::synthetic
