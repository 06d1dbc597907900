// SPDX-License-Identifier: Apache-2.0
// The endpoint of a process, its matched queue, and connections to others.
#include "transport/psm2/psm2_port.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::psm2 {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Both partners come here together, so this is for one that has died meanwhile.
constexpr std::int64_t connecting_patience_ns = nanoseconds(seconds(30)).count();
constexpr std::int64_t closing_patience_ns = nanoseconds(seconds(1)).count();

/// Endpoints talk to those that were opened with the same one; which of them do is our own business.
constexpr std::array<std::uint8_t, 16> job{'l', 'e', 'a', 'd', 'l', 'i', 'n', 'e'};

void require(const char* what, psm2_error_t code) {
  if (code == PSM2_OK) return;
  throw Error(ExitStatus::something_missing, fmt::format("PSM2 cannot {}", what), functions->error_get_string(code),
              "It needs an Omni-Path adapter (/dev/hfi1_0), also for messages within a host");
}

struct Version {
  int major = PSM2_VERNO_MAJOR, minor = PSM2_VERNO_MINOR;
};

/// Once a process: PSM2 cannot be started again after its end, which is therefore that of the process.
Version started() {
  static const Version version = [] {
    require("leave errors to us", functions->error_register_handler(nullptr, PSM2_ERRHANDLER_NO_HANDLER));
    Version started_as;
    require("start", functions->init(&started_as.major, &started_as.minor));
    return started_as;
  }();
  return version;
}

std::string library_text() {
  const Version version = started();
  return fmt::format("PSM2 {}.{}", version.major, version.minor);
}

std::string variable_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

}  // namespace

Psm2Port::Psm2Port() {
  started();
  psm2_ep_open_opts options{};
  functions->ep_open_opts_get_defaults(&options);
  psm2_uuid_t uuid;
  std::memcpy(uuid, job.data(), sizeof uuid);
  require("open an endpoint", functions->ep_open(uuid, &options, &endpoint_, &id_));
  require("make a matched queue", functions->mq_init(endpoint_, PSM2_MQ_ORDERMASK_ALL, nullptr, 0, &queue_));
}

Psm2Port::~Psm2Port() {
  functions->mq_finalize(queue_);
  functions->ep_close(endpoint_, PSM2_EP_CLOSE_GRACEFUL, closing_patience_ns);
}

std::string Psm2Port::address() const { return {reinterpret_cast<const char*>(&id_), sizeof id_}; }

Psm2Port::Peer Psm2Port::open(std::string_view address) {
  psm2_epid_t id = 0;
  std::memcpy(&id, address.data(), std::min(address.size(), sizeof id));
  Peer peer = nullptr;
  psm2_error_t error = PSM2_OK;
  check("connecting", functions->ep_connect(endpoint_, 1, &id, nullptr, &error, &peer, connecting_patience_ns));
  check("connecting", error);
  return peer;
}

TransportInfo Psm2Port::info() const {
  TransportInfo info;
  info.name = "psm2";
  info.library = library_text();
  info.device = variable_or("PSM2_DEVICES", "self,shm,hfi");
  return info;
}

std::vector<Fact> Psm2Port::facts() const {
  std::uint32_t num_units = 0;
  require("count its adapters", functions->ep_num_devunits(&num_units));
  return {{"library", library_text()},
          {"device", fmt::format("{} Omni-Path adapter(s) at {}", num_units,
                                 variable_or("HFI_SYSFS_PATH", "/sys/class/infiniband/hfi1_*"))},
          {"device", fmt::format("ways that may be used: {} (PSM2_DEVICES)", info().device)},
          {"limit", fmt::format("messages up to {} B", max_message_bytes())},
          locked_memory()};
}

void Psm2Port::fail(const char* doing, psm2_error_t code) {
  throw Error(ExitStatus::run_failed, fmt::format("PSM2 failed ({})", doing), functions->error_get_string(code));
}

}  // namespace leadline::transport::psm2
