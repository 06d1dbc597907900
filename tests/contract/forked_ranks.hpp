// SPDX-License-Identifier: Apache-2.0
// Ranks as processes forked from the test, which meet over loopback without a cluster.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/rendezvous.hpp"
#include "contract/transport_contract.hpp"

namespace leadline::contract {

/// One of the ranks; valid while the body runs.
struct ForkedRank {
  int rank = 0;
  int size = 0;
  cluster::Rendezvous& rendezvous;
  Pulse& pulse;
  std::vector<std::uint32_t> host_of;

  /// Opens the transport "name" or "name:argument". Must not outlive this.
  std::unique_ptr<transport::Transport> open(const std::string& transport, WaitMode wait) const;
};

/// Runs `body` on `size` ranks of one host: rank 0 is the calling process, the others are its children, which end
/// with the body. A failure or an exception on any rank fails the test; a rank that does not come to its end in time
/// is killed.
void run_forked(int size, const std::function<void(ForkedRank&)>& body);

/// Ranks forked for one test.
class ForkedRanks : public Ranks {
 public:
  void run(int size, const std::string& transport, WaitMode wait, const Body& body) override;
  bool may_lose_a_rank() const override { return true; }
};

/// The same for libraries that do not notice when a rank vanishes, as over shared memory: the watch (cluster/) ends
/// such a run.
class LastingRanks final : public ForkedRanks {
 public:
  bool may_lose_a_rank() const override { return false; }
};

}  // namespace leadline::contract
