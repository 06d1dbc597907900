// SPDX-License-Identifier: Apache-2.0
// Contexts, workers and endpoints of UCX.
#include "transport/ucx/ucx_port.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "cluster/address.hpp"
#include "core/error.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/names.hpp"

namespace leadline::transport::ucx {
namespace {

std::uint64_t memory_types = 0;  // bits by ucs_memory_type_t

/// An endpoint whose partner has gone may never be flushed; the process ends anyway.
constexpr auto closing_patience = std::chrono::seconds(1);

std::string because(ucs_status_t status) {
  const std::string words = LibraryLog::take();
  return words.empty() ? functions->status_string(status)
                       : fmt::format("{}: {}", functions->status_string(status), words);
}

[[noreturn]] void cannot(const std::string& what, const std::string& why) {
  throw Error(ExitStatus::something_missing, fmt::format("UCX cannot {}", what), why,
              "See what 'ucx_info -d' lists, and the variables UCX_TLS and UCX_NET_DEVICES");
}

void require(const std::string& what, ucs_status_t status) {
  if (status != UCS_OK) cannot(what, because(status));
}

/// "start with the transports tcp,self over the network eth0"
std::string start_with(const UcxSettings& chosen) {
  std::string text = "start";
  if (!chosen.tls.empty()) text += fmt::format(" with the transports {}", chosen.tls);
  if (!chosen.interface.empty()) text += fmt::format(" over the network {}", chosen.interface);
  return text;
}

struct ConfigRelease {
  void operator()(ucp_config_t* config) const { functions->config_release(config); }
};
using Config = std::unique_ptr<ucp_config_t, ConfigRelease>;

Config config_for(const UcxSettings& chosen, std::span<const std::string> devices) {
  ucp_config_t* read = nullptr;
  require("read its configuration", functions->config_read(nullptr, nullptr, &read));
  Config config(read);
  const auto set = [&](const char* name, const std::string& value) {
    require(fmt::format("take {} as its {}", value, name), functions->config_modify(read, name, value.c_str()));
  };
  if (!chosen.tls.empty()) set("TLS", chosen.tls);
  if (!devices.empty()) set("NET_DEVICES", fmt::format("{}", fmt::join(devices, ",")));
  return config;
}

OwnedContext context_for(const UcxSettings& chosen, std::span<const std::string> devices) {
  const Config config = config_for(chosen, devices);
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
  parameters.features = UCP_FEATURE_TAG;
  ucp_context_h made = nullptr;
  require(start_with(chosen), functions->init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config.get(), &made));
  OwnedContext context(made);
  // Of names that it does not know it warns, and takes what is left.
  const std::string words = LibraryLog::take();
  if (words.find("not available") != std::string::npos) cannot(start_with(chosen), words);
  return context;
}

/// UCX says what it has found in no other way than in print.
std::vector<std::string> resources_of(ucp_context_h context) {
  char* start = nullptr;
  std::size_t size = 0;
  std::FILE* const text = open_memstream(&start, &size);
  if (text == nullptr) return {};
  functions->context_print_info(context, text);
  std::fclose(text);
  const std::unique_ptr<char, decltype(&std::free)> owner(start, &std::free);
  return resources_in({start, size});
}

/// "posix/memory, tcp/eth0"
std::string listed(const std::vector<std::string>& resources) {
  return resources.empty() ? "nothing but the way to itself" : fmt::format("{}", fmt::join(resources, ", "));
}

}  // namespace

void ask_about_memory(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  const bool has_answer = functions->context_query(context, &attributes) == UCS_OK;
  memory_types = has_answer ? attributes.memory_types : 0;
}

std::string why_no_gpu_memory() {
  constexpr std::uint64_t cuda = std::uint64_t{1} << UCS_MEMORY_TYPE_CUDA;
  if ((memory_types & cuda) != 0) return {};
  return fmt::format("UCX {} knows no CUDA memory with the transports chosen here; 'ucx_info -d' lists all it has",
                     functions->get_version_string());
}

UcxPort::UcxPort(const UcxSettings& chosen) : goes_on_(chosen.goes_on) {
  std::vector<std::string> devices;
  if (!chosen.interface.empty()) devices = net_devices(cluster::local_address(chosen.interface).device);
  context_ = context_for(chosen, devices);
  resources_ = resources_of(context_.get());
  ask_about_memory(context_.get());
  if (!devices.empty() && !is_any_over(resources_, devices)) {
    throw Error(ExitStatus::bad_command_line, "--interface has no effect here",
                fmt::format("UCX has {}", listed(resources_)), "Leave it out, or allow UCX a transport over networks");
  }
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SINGLE;
  ucp_worker_h made = nullptr;
  require("make a worker", functions->worker_create(context_.get(), &parameters, &made));
  worker_.reset(made);
}

bool UcxPort::flush(Deadline deadline) {
  Request request{functions->worker_flush_nbx(worker_.get(), &plain)};
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
  require("say its address", functions->worker_get_address(worker_.get(), &address, &size));
  std::string text = tagged::in_one({listed(resources_), {reinterpret_cast<const char*>(address), size}});
  functions->worker_release_address(worker_.get(), address);
  return text;
}

UcxPort::Peer UcxPort::open(std::string_view address) {
  const tagged::Introduction partner = tagged::in_two(address);
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  parameters.address = reinterpret_cast<const ucp_address_t*>(partner.address.data());
  if (goes_on_) {  // else UCX ends the process
    parameters.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    parameters.err_handler.cb = [](void*, ucp_ep_h, ucs_status_t) {};  // its messages say so
  }
  Peer peer = nullptr;
  if (const auto status = functions->ep_create(worker_.get(), &parameters, &peer); status != UCS_OK) {
    throw Error(ExitStatus::something_missing, "UCX finds no way from one rank to another",
                fmt::format("this one has {}, the other {}; {}", listed(resources_), partner.protocol, because(status)),
                "Give all ranks the same UCX_TLS and UCX_NET_DEVICES, with transports that reach all hosts");
  }
  return peer;
}

void UcxPort::close(Peer peer) noexcept {
  const ucs_status_ptr_t closing = functions->ep_close_nbx(peer, &plain);
  if (closing == nullptr || UCS_PTR_IS_ERR(closing)) return;
  const auto deadline = Deadline::after(closing_patience);
  while (is_patient_ && functions->request_check_status(closing) == UCS_INPROGRESS) {
    if (!progress()) sched_yield();
    is_patient_ = !deadline.has_passed();
  }
  functions->request_free(closing);
}

void UcxPort::close_lost(Peer peer) noexcept {
  ucp_request_param_t at_once{};
  at_once.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  at_once.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t closing = functions->ep_close_nbx(peer, &at_once);
  if (closing != nullptr && !UCS_PTR_IS_ERR(closing)) functions->request_free(closing);
}

void UcxPort::abandon(Request& request) noexcept {
  if (request.pending == nullptr || UCS_PTR_IS_ERR(request.pending)) return;
  functions->request_cancel(worker_.get(), request.pending);
  functions->request_free(request.pending);  // UCX keeps it until it is done
  request.pending = nullptr;
}

TransportInfo UcxPort::info() const {
  TransportInfo info;
  info.name = "ucx";
  info.library = fmt::format("UCX {}", functions->get_version_string());
  info.device = listed(resources_);
  return info;
}

std::vector<Fact> UcxPort::facts() const {
  std::vector<Fact> facts = {{"library", info().library}};
  for (const std::string& resource : resources_) facts.push_back({"device", resource});
  facts.push_back({"limit", "messages " + tagged::format_bound(max_message_bytes())});
  facts.push_back(locked_memory());
  return facts;
}

void UcxPort::fail(const char* doing, ucs_status_t status) {
  throw tagged::MessageFailed(ExitStatus::run_failed, fmt::format("UCX failed ({})", doing), because(status));
}

}  // namespace leadline::transport::ucx
