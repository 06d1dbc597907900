// SPDX-License-Identifier: Apache-2.0
// Fabrics, domains, endpoints, queues and addresses of libfabric.
#include "transport/libfabric/libfabric_port.hpp"

#include <fmt/format.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "core/error.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::libfabric {
namespace {

constexpr std::size_t queue_entries = 8192;  // of completions; an exchange with more waits for room

}  // namespace

LibfabricPort::LibfabricPort(const ProviderChoice& choice)
    : info_(best_offer(choice)), max_injected_bytes_(info_->tx_attr->inject_size) {
  fid_fabric* fabric = nullptr;
  require("open its fabric", functions->fabric(info_->fabric_attr, &fabric, nullptr));
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  require("open its domain", fi_domain(fabric, info_.get(), &domain, nullptr));
  domain_.reset(domain);
  fid_ep* endpoint = nullptr;
  require("make an endpoint", fi_endpoint(domain, info_.get(), &endpoint, nullptr));
  endpoint_.reset(endpoint);
  fi_av_attr of_addresses{};
  of_addresses.type = info_->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_TABLE : info_->domain_attr->av_type;
  fid_av* addresses = nullptr;
  require("make a table of addresses", fi_av_open(domain, &of_addresses, &addresses, nullptr));
  addresses_.reset(addresses);
  fi_cq_attr of_queue{};
  of_queue.format = FI_CQ_FORMAT_TAGGED;
  of_queue.size = queue_entries;
  fid_cq* completions = nullptr;
  require("make a completion queue", fi_cq_open(domain, &of_queue, &completions, nullptr));
  completions_.reset(completions);
  require("bind its endpoint", fi_ep_bind(endpoint, &addresses->fid, 0));
  require("bind its endpoint", fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV));
  require("enable its endpoint", fi_enable(endpoint));
}

LibfabricPort::Memory LibfabricPort::memory(const std::byte* data, std::size_t size) {
  Memory memory;
  if (size == 0 || (info_->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return memory;
  fid_mr* region = nullptr;
  require("register memory",
          fi_mr_reg(domain_.get(), data, size, FI_SEND | FI_RECV, 0, next_key_++, 0, &region, nullptr));
  memory.region.reset(region);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    require("bind memory to its endpoint", fi_mr_bind(region, &endpoint_->fid, 0));
    require("enable memory", fi_mr_enable(region));
  }
  return memory;
}

std::string LibfabricPort::address() const {
  std::size_t size = 0;
  fi_getname(&endpoint_->fid, nullptr, &size);  // says how long
  std::string bytes(size, '\0');
  require("say its address", fi_getname(&endpoint_->fid, bytes.data(), &size));
  bytes.resize(size);
  return tagged::in_one({protocol_of(*info_), bytes});
}

LibfabricPort::Peer LibfabricPort::open(std::string_view address) {
  const tagged::Introduction partner = tagged::in_two(address);
  if (const std::string own = protocol_of(*info_); partner.protocol != own) {
    throw Error(ExitStatus::something_missing, "two ranks have ways of libfabric that do not meet",
                fmt::format("this one has {}, the other {}", own, partner.protocol),
                "Give all ranks the same --transport-option provider=NAME, and networks of one kind");
  }
  Peer peer = FI_ADDR_UNSPEC;
  const int num = fi_av_insert(addresses_.get(), partner.address.data(), 1, &peer, 0, nullptr);
  if (num != 1) fail("taking in an address", num < 0 ? num : -FI_EINVAL);
  return peer;
}

void LibfabricPort::close(Peer peer) noexcept { fi_av_remove(addresses_.get(), &peer, 1, 0); }

TransportInfo LibfabricPort::info() const {
  TransportInfo info;
  info.name = "libfabric";
  info.library = fmt::format("{} ({})", library_text(), info_->fabric_attr->prov_name);
  info.device = device_of(*info_);
  return info;
}

bool LibfabricPort::tolerate_losses() const {
  return std::string_view(info_->fabric_attr->prov_name).find("shm") == std::string_view::npos;
}

void LibfabricPort::abandon(Request& request) noexcept {
  if (request.is_under_way) fi_cancel(&endpoint_->fid, &request.context);
}

void LibfabricPort::fail(const char* doing, ssize_t code) {
  throw tagged::MessageFailed(ExitStatus::run_failed, fmt::format("libfabric failed ({})", doing), words_of(code));
}

bool LibfabricPort::take_error(ssize_t code) {
  if (code != -FI_EAVAIL) fail("reading completions", code);
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(completions_.get(), &entry, 0) < 0) fail("reading an error", code);
  auto* const request = static_cast<Request*>(entry.op_context);
  if (request == nullptr) return false;  // what the library had taken along: the answer to it will not come
  request->error_number = entry.err;
  request->is_under_way = false;
  return true;
}

}  // namespace leadline::transport::libfabric
