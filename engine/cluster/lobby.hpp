// SPDX-License-Identifier: Apache-2.0
// Where the watch thread leaves connections that have been let in, and the measuring thread takes them.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "cluster/handshake.hpp"
#include "cluster/socket.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {

class Lobby {
 public:
  /// Local, does not block.
  void leave(Purpose purpose, int from, Socket socket);
  /// Local, blocks: the connections of one caller for one purpose, in order; empty when the deadline has passed.
  Socket take(Purpose purpose, int from, Deadline deadline);

  /// Local: a watch edge stands; it has no socket to be taken.
  void note_watch_edge(int from);
  /// Local, blocks: false when the deadline has passed.
  bool await_watch_edge(int from, Deadline deadline);
  /// Whether a tree edge of that kind from that child was ever let in.
  bool has_seen(Purpose purpose, int from) const;

 private:
  using Caller = std::pair<Purpose, int>;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Caller, std::deque<Socket>> waiting_;  ///< no entry is empty: memory is for those who wait
  std::set<Caller> seen_;                         ///< tree edges only, at most four
};

}  // namespace leadline::cluster
