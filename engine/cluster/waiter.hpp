// SPDX-License-Identifier: Apache-2.0
// How the measuring thread waits for a socket: spinning, yielding or asleep, with the transport kept going.
#pragma once

#include <functional>

#include "model/request.hpp"

namespace leadline::cluster {

class Waiter {
 public:
  /// `progress` empty: a rank may sleep. automatic counts as yield.
  void set(WaitMode mode, std::function<void()> progress);

  /// One wait: call `pause` whenever the socket had nothing. A pause never lasts longer than a second, so that
  /// the caller can look at other things too.
  class Wait {
   public:
    explicit Wait(const Waiter& waiter) : waiter_(waiter) {}
    void pause(int fd, short events);

   private:
    const Waiter& waiter_;
    int num_pauses_ = 0;
  };

 private:
  WaitMode mode_ = WaitMode::yield;
  std::function<void()> progress_;
};

}  // namespace leadline::cluster
