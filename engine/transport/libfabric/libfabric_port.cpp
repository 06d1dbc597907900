// SPDX-License-Identifier: Apache-2.0
// Fabrics, domains, endpoints, queues and addresses of libfabric.
#include "transport/libfabric/libfabric_port.hpp"

#include <fmt/format.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstring>

#include "core/error.hpp"

namespace leadline::transport::libfabric {
namespace {

constexpr std::uint32_t version = FI_VERSION(1, 9);  // what all that is used here has been in since
constexpr std::size_t queue_entries = 4096;          // of completions; an exchange with more waits for room

std::string words_of(ssize_t code) { return fi_strerror(static_cast<int>(-code)); }

void require(const char* what, ssize_t code) {
  if (code >= 0) return;
  throw Error(ExitStatus::something_missing, fmt::format("libfabric cannot {}", what), words_of(code),
              "See what 'fi_info' lists, and the variables of its provider ('fi_info -g')");
}

Info hints_for(const std::string& provider) {
  Info hints(fi_allocinfo());
  if (!hints) throw std::bad_alloc();
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (!provider.empty()) hints->fabric_attr->prov_name = ::strdup(provider.c_str());
  return hints;
}

Info first_fitting(const std::string& provider) {
  const Info hints = hints_for(provider);
  fi_info* found = nullptr;
  const int code = fi_getinfo(version, nullptr, nullptr, 0, hints.get(), &found);
  const std::string what = provider.empty() ? "offer tagged messages here"
                                            : fmt::format("offer tagged messages with its provider {}", provider);
  require(what.c_str(), code);
  return Info(found);
}

}  // namespace

LibfabricPort::LibfabricPort(const std::string& provider) : info_(first_fitting(provider)) {
  fid_fabric* fabric = nullptr;
  require("open its fabric", fi_fabric(info_->fabric_attr, &fabric, nullptr));
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
  for (Owned<fid_cq>* queue : {&sends_, &receives_}) {
    fid_cq* made = nullptr;
    require("make a completion queue", fi_cq_open(domain, &of_queue, &made, nullptr));
    queue->reset(made);
  }
  require("bind its endpoint", fi_ep_bind(endpoint, &addresses->fid, 0));
  require("bind its endpoint", fi_ep_bind(endpoint, &sends_->fid, FI_TRANSMIT));
  require("bind its endpoint", fi_ep_bind(endpoint, &receives_->fid, FI_RECV));
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
  return bytes;
}

LibfabricPort::Peer LibfabricPort::open(std::string_view address) {
  Peer peer = FI_ADDR_UNSPEC;
  const int num = fi_av_insert(addresses_.get(), address.data(), 1, &peer, 0, nullptr);
  if (num != 1) fail("taking in an address", num < 0 ? num : -FI_EINVAL);
  return peer;
}

void LibfabricPort::close(Peer peer) noexcept { fi_av_remove(addresses_.get(), &peer, 1, 0); }

TransportInfo LibfabricPort::info() const {
  TransportInfo info;
  info.name = "libfabric";
  info.library = fmt::format("libfabric {}.{} ({})", FI_MAJOR(fi_version()), FI_MINOR(fi_version()),
                             info_->fabric_attr->prov_name);
  info.device = info_->domain_attr->name;
  return info;
}

void LibfabricPort::fail(const char* doing, ssize_t code) {
  throw Error(ExitStatus::run_failed, fmt::format("libfabric failed ({})", doing), words_of(code));
}

void LibfabricPort::fail_of(fid_cq& queue, ssize_t code) {
  if (code != -FI_EAVAIL) fail("reading completions", code);
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(&queue, &entry, 0) < 0) fail("reading an error", code);
  fail("a message", -entry.err);
}

}  // namespace leadline::transport::libfabric
