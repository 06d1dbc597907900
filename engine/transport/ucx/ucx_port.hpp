// SPDX-License-Identifier: Apache-2.0
// Tagged messages of UCX's protocol layer (UCP): eager or rendezvous as the library chooses.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "model/provenance.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/library.hpp"
#include "transport/ucx/library_log.hpp"

namespace leadline::transport::ucx {

/// Remembers which memory the context reaches: it follows from the transports that were chosen for it, and whoever asks
/// afterwards has no context.
void ask_about_memory(ucp_context_h context);

/// The reason why messages cannot lie in GPU memory, or empty. UCX would take such an address for one of ordinary
/// memory and end the process.
std::string why_no_gpu_memory();

struct ContextCleanup {
  void operator()(ucp_context* context) const { functions->cleanup(context); }
};
using OwnedContext = std::unique_ptr<ucp_context, ContextCleanup>;

struct WorkerDestroy {
  void operator()(ucp_worker* worker) const { functions->worker_destroy(worker); }
};
using OwnedWorker = std::unique_ptr<ucp_worker, WorkerDestroy>;

/// What the user wants of UCX; empty = as the environment says.
struct UcxSettings {
  std::string tls;        ///< as UCX_TLS
  std::string interface;  ///< a network of this host: see cluster::matches()
  bool goes_on = false;   ///< endpoints tell of errors (UCP_ERR_HANDLING_MODE_PEER)
};

/// See transport/tagged/port.hpp. Thread-bound, as a UCP worker of UCS_THREAD_MODE_SINGLE is.
class UcxPort {
 public:
  static constexpr bool keeps_endpoints = false;
  static constexpr bool survives_lost_partners = true;
  static constexpr std::size_t descriptors_per_endpoint = 2;  ///< over TCP, where both may dial each other at once

  using Peer = ucp_ep_h;

  /// UCX detects the kind of memory itself, and registers it when needed.
  struct Memory {};

  /// Null where the message was done at once, or is done.
  struct Request {
    ucs_status_ptr_t pending = nullptr;
  };

  /// Throws Error(something_missing) in the library's words, Error(bad_command_line) where no resource uses that
  /// network.
  explicit UcxPort(const UcxSettings& chosen);

  Memory memory(const std::byte*, std::size_t) const { return {}; }

  [[gnu::always_inline]] void post_send(Peer peer, tagged::Tag tag, const Memory&, const std::byte* data,
                                        std::size_t size, Request& request) {
    request.pending = functions->tag_send_nbx(peer, data, size, tagged::bits(tag), &plain);
    if (UCS_PTR_IS_ERR(request.pending)) [[unlikely]]
      fail("sending", UCS_PTR_STATUS(request.pending));
  }

  [[gnu::always_inline]] void post_receive(Peer, tagged::Tag tag, const Memory&, std::byte* data, std::size_t size,
                                           Request& request) {
    request.pending = functions->tag_recv_nbx(worker_.get(), data, size, tagged::bits(tag), every_bit, &plain);
    if (UCS_PTR_IS_ERR(request.pending)) [[unlikely]]
      fail("receiving", UCS_PTR_STATUS(request.pending));
  }

  [[gnu::always_inline]] bool is_done(Request& request) {
    if (request.pending == nullptr) return true;
    const ucs_status_t status = functions->request_check_status(request.pending);
    if (status == UCS_INPROGRESS) return false;
    functions->request_free(request.pending);
    request.pending = nullptr;
    if (status != UCS_OK) [[unlikely]]
      fail("a message", status);
    return true;
  }

  [[gnu::always_inline]] bool progress() { return functions->worker_progress(worker_.get()) != 0; }

  bool flush(Deadline deadline);
  static std::uint64_t max_message_bytes() { return UINT64_MAX; }

  std::string address() const;
  /// Throws Error(something_missing) where the two have no transport in common.
  Peer open(std::string_view address);
  void close(Peer peer) noexcept;

  tagged::LossCheck loss_check;
  bool tolerate_losses() const { return goes_on_; }
  void abandon(Request& request) noexcept;
  void close_lost(Peer peer) noexcept;

  TransportInfo info() const;
  std::vector<Fact> facts() const;

 private:
  static constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};
  static constexpr ucp_request_param_t plain{};

  [[noreturn]] static void fail(const char* doing, ucs_status_t status);

  LibraryLog words_;  ///< to the last
  OwnedContext context_;
  OwnedWorker worker_;
  bool is_patient_ = true;  ///< until an endpoint cannot be closed
  bool goes_on_;
  std::vector<std::string> resources_;  ///< see resources_in()
};

}  // namespace leadline::transport::ucx
