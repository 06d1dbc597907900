// SPDX-License-Identifier: Apache-2.0
// The wire of the fake Portals 4: datagrams between processes of one host, in order, none of them lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace leadline::fake_portals4 {

using Datagram = std::vector<std::byte>;

class Datagrams {
 public:
  explicit Datagrams(std::uint32_t own_pid);
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;
  ~Datagrams();

  bool is_open() const { return socket_ >= 0; }

  /// Kept here until there is room for it.
  void send(std::uint32_t pid, Datagram datagram) { leaving_[pid].push_back(std::move(datagram)); }

  /// Sends and receives what can be at once. `on_lost` gets what was for a process that is gone.
  void move(const std::function<void(std::span<const std::byte>)>& on_arrival,
            const std::function<void(std::span<const std::byte>)>& on_lost);

 private:
  enum class Sent { yes, no_room, nobody_there };
  Sent send_now(std::uint32_t pid, const Datagram& datagram) const;

  int socket_ = -1;
  std::map<std::uint32_t, std::deque<Datagram>> leaving_;
};

}  // namespace leadline::fake_portals4
