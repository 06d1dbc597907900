// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM, SIGHUP and SIGABRT as something that a thread can poll for.
#pragma once

#include <signal.h>

#include <optional>

#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Those of the three that are not ignored (nohup ignores SIGHUP).
sigset_t ending_signals();

/// While it lives, the signals end up in a pipe, whichever thread the system gives them to: a launcher's library
/// (MPI) may have threads of its own, which block nothing, so that a signalfd would miss them. The calling thread
/// and the threads that it starts have them blocked, so that no measurement is interrupted by one.
///
/// SIGABRT too: a transport's library that gives up (UCX, when a partner is gone) calls abort(). The thread that does
/// so stays in the handler, and the thread that polls has the time to say why the run ends.
class SignalPipe {
 public:
  SignalPipe();
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int fd() const { return read_.fd(); }
  /// The next signal that came, without waiting.
  std::optional<int> next();
  /// For the thread that polls; an abort() of its own ends the process as ever.
  void unblock_here() const;

 private:
  Descriptor read_, write_;  // not sockets, but closed in the same way
  sigset_t signals_{}, mask_before_{};
  struct sigaction before_[3] = {}, before_abort_ = {};
};

}  // namespace leadline::cluster
