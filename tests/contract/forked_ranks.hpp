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
  ProgressCounter& progress_counter;
  std::vector<std::uint32_t> host_of;

  /// Opens the transport "name" or "name:argument", watched (contract/watch.hpp). Must not outlive this.
  std::unique_ptr<transport::Transport> open(const std::string& transport, WaitMode wait) const;

  /// `body` on this rank's end of such a transport.
  void run(const std::string& transport, WaitMode wait, const Body& body);
};

/// What the calling process is to the ranks.
enum class Caller {
  is_rank_0,
  waits,  ///< for libraries that bear no fork once they are started
};

/// Runs `body` on `size` ranks of one host, which are children of the calling process, except perhaps rank 0, and end
/// with the body. A failure or an exception on any rank fails the test, and the others are ended; so are all that do
/// not come to their end in time, each with the call that it is in.
void run_forked(int size, const std::function<void(ForkedRank&)>& body, Caller caller = Caller::is_rank_0);

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
