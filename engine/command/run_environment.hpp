// SPDX-License-Identifier: Apache-2.0
// Where a rank finds itself before it measures, whatever it measures: cores, clock, transport, hosts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plan.hpp"
#include "bench/validity_warnings.hpp"
#include "cluster/cluster.hpp"
#include "cluster/core_binding.hpp"
#include "memory/buffer.hpp"
#include "model/provenance.hpp"
#include "model/request.hpp"
#include "model/result.hpp"
#include "transport/module.hpp"
#include "transport/transport.hpp"

namespace leadline::command {

class RunEnvironment {
 public:
  /// Collective: finds out where ranks run, decides how they wait, opens the transport and uses its hosts where it
  /// simulates some. Throws AgreedError. References outlive it.
  RunEnvironment(const RunRequest& request, cluster::Cluster& cluster, const transport::LoadedModule& module);

  /// The control plane calls the transport no more.
  ~RunEnvironment();
  RunEnvironment(const RunEnvironment&) = delete;
  RunEnvironment& operator=(const RunEnvironment&) = delete;

  transport::Transport& transport() const { return *transport_; }
  const RankPlacement& placement() const { return placement_; }  ///< this rank's own
  const bench::Conditions& conditions() const { return conditions_; }
  const LineRate& line_rate() const { return line_rate_; }  ///< the same on all ranks
  bench::RankLayout rank_layout() const;

  /// Local: where each rank of the run has a second core, for a thread beside the one that measures: which that is for
  /// this rank; empty = one of those that this thread may run on. Nothing: some rank has none.
  const std::optional<cluster::CpuList>& second_core() const { return second_core_; }

  /// For people: whether ranks are bound, why not, and where this one runs.
  std::string binding_text() const;

  /// For people: which adapter this rank uses where we chose one of several; else empty.
  std::string network_choice_text() const;

  /// Host index by rank: as the cluster sees them, or as a simulated fabric names them.
  std::span<const std::uint32_t> host_of() const { return host_of_; }

  /// All but the time of the end.
  Provenance provenance() const;

  /// Collective: what opening links has cost so far.
  Connections connections() const;

  /// Local: throws Error(something_missing) where messages cannot lie in the memory that was asked for.
  void check_memory_kind() const;

  /// Local: the names of the hosts.
  std::map<std::uint32_t, std::string> host_names() const;

  /// Those names with the ranks on each, in order of the hosts.
  std::vector<HostRanks> hosts_with_ranks(const std::map<std::uint32_t, std::string>& names) const;

 private:
  void look_around();
  cluster::CoreShare bind_ranks();
  void bind_to(Binding binding);
  std::string near_network();
  void open_transport();
  void use_simulated_hosts();
  void look_at_adapters();
  void look_at_memory();

  const RunRequest& request_;
  cluster::Cluster& cluster_;
  const transport::LoadedModule& module_;
  std::string start_utc_;
  std::optional<cluster::BoundThread> bound_thread_;
  std::optional<cluster::CpuList> second_core_;
  std::string binding_;        // of Provenance
  std::string why_not_bound_;  // where that is "none"
  std::string near_device_;    // that we chose of several on one network
  RankPlacement placement_;
  bench::Conditions conditions_;
  LineRate line_rate_;
  MemoryCopy memory_copy_;
  std::vector<std::uint32_t> simulated_host_of_;  // empty, unless the fabric names its own hosts
  std::span<const std::uint32_t> host_of_;
  std::unique_ptr<transport::Transport> transport_;
};

}  // namespace leadline::command
