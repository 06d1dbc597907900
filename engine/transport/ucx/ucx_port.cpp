// SPDX-License-Identifier: Apache-2.0
// Contexts, workers and endpoints of UCX.
#include "transport/ucx/ucx_port.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <chrono>

#include "core/error.hpp"

namespace leadline::transport::ucx {
namespace {

/// An endpoint whose partner has gone may never be flushed; the process ends anyway.
constexpr auto closing_patience = std::chrono::seconds(1);

[[noreturn]] void cannot_start(const char* what, ucs_status_t status) {
  throw Error(ExitStatus::something_missing, fmt::format("UCX cannot {}", what), ucs_status_string(status),
              "See what 'ucx_info -d' lists, and the variables UCX_TLS and UCX_NET_DEVICES");
}

class Config {
 public:
  explicit Config(const std::string& tls) {
    if (const auto status = ucp_config_read(nullptr, nullptr, &config_); status != UCS_OK) {
      cannot_start("read its configuration", status);
    }
    if (tls.empty()) return;
    if (const auto status = ucp_config_modify(config_, "TLS", tls.c_str()); status != UCS_OK) {
      cannot_start("be restricted to these transports", status);
    }
  }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  ~Config() { ucp_config_release(config_); }

  const ucp_config_t* get() const { return config_; }

 private:
  ucp_config_t* config_ = nullptr;
};

}  // namespace

UcxPort::UcxPort(const std::string& tls) {
  const Config config(tls);
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_TAG;
  if (const auto status = ucp_init(&parameters, config.get(), &context_); status != UCS_OK) {
    cannot_start(tls.empty() ? "start" : fmt::format("start with the transports {}", tls).c_str(), status);
  }
  ucp_worker_params_t of_worker{};
  of_worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  of_worker.thread_mode = UCS_THREAD_MODE_SINGLE;
  if (const auto status = ucp_worker_create(context_, &of_worker, &worker_); status != UCS_OK) {
    ucp_cleanup(context_);
    cannot_start("make a worker", status);
  }
}

UcxPort::~UcxPort() {
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

bool UcxPort::flush(Deadline deadline) {
  const ucp_request_param_t plain{};
  Request request{ucp_worker_flush_nbx(worker_, &plain)};
  if (UCS_PTR_IS_ERR(request.pending)) fail("flushing", UCS_PTR_STATUS(request.pending));
  while (!is_done(request)) {
    if (deadline.has_passed()) return false;
    if (!progress()) sched_yield();
  }
  return true;
}

std::string UcxPort::address() const {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  if (const auto status = ucp_worker_get_address(worker_, &address, &size); status != UCS_OK) {
    cannot_start("say its address", status);
  }
  std::string bytes(reinterpret_cast<const char*>(address), size);
  ucp_worker_release_address(worker_, address);
  return bytes;
}

UcxPort::Peer UcxPort::open(std::string_view address) {
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  Peer peer = nullptr;
  if (const auto status = ucp_ep_create(worker_, &parameters, &peer); status != UCS_OK) fail("opening a way", status);
  return peer;
}

void UcxPort::close(Peer peer) noexcept {
  const ucp_request_param_t plain{};
  const ucs_status_ptr_t closing = ucp_ep_close_nbx(peer, &plain);
  if (closing == nullptr || UCS_PTR_IS_ERR(closing)) return;
  const auto deadline = Deadline::after(closing_patience);
  while (ucp_request_check_status(closing) == UCS_INPROGRESS && !deadline.has_passed()) {
    if (!progress()) sched_yield();
  }
  ucp_request_free(closing);
}

TransportInfo UcxPort::info() const {
  TransportInfo info;
  info.name = "ucx";
  info.library = fmt::format("UCX {}", ucp_get_version_string());
  return info;
}

void UcxPort::fail(const char* doing, ucs_status_t status) {
  throw Error(ExitStatus::run_failed, fmt::format("UCX failed ({})", doing), ucs_status_string(status));
}

}  // namespace leadline::transport::ucx
