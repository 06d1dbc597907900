// SPDX-License-Identifier: Apache-2.0
// Asks fi_getinfo, and chooses among its answers.
#include "transport/libfabric/offers.hpp"

#include <fmt/format.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "cluster/address.hpp"
#include "core/error.hpp"
#include "transport/tagged/port.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::libfabric {
namespace {

constexpr std::uint32_t version = FI_VERSION(1, 9);  // what all that is used here has been in since

/// Speeds are in bit/s.
constexpr double giga = 1e9;

Info hints_for(const ProviderChoice& choice) {
  Info hints(functions->dupinfo(nullptr));
  if (!hints) throw std::bad_alloc();
  hints->caps = FI_TAGGED;
  if (choice.spans_hosts) hints->caps |= FI_LOCAL_COMM | FI_REMOTE_COMM;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (!choice.provider.empty()) hints->fabric_attr->prov_name = ::strdup(choice.provider.c_str());
  if (!choice.domain.empty()) hints->domain_attr->name = ::strdup(choice.domain.c_str());
  return hints;
}

/// "offer tagged messages to other hosts by its provider shm"
std::string wanted(const ProviderChoice& choice) {
  std::string text = "offer tagged messages ";
  text += choice.spans_hosts ? "to other hosts" : "here";
  if (!choice.provider.empty()) text += fmt::format(" by its provider {}", choice.provider);
  if (!choice.domain.empty()) text += fmt::format(" over the domain {}", choice.domain);
  if (!choice.interface.empty()) text += fmt::format(" over the network {}", choice.interface);
  return text;
}

/// The address that an offer would listen on, where it is one of the kernel's networks.
std::optional<cluster::SocketAddress> source_of(const fi_info& info) {
  if (info.src_addr == nullptr) return std::nullopt;
  const auto& address = *static_cast<const sockaddr*>(info.src_addr);
  const bool is_one =
      info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6;
  if (!is_one || (address.sa_family != AF_INET && address.sa_family != AF_INET6)) return std::nullopt;
  return cluster::SocketAddress(&address);
}

/// Some providers do not heed the domain that they are asked for.
bool is_in_domain(const fi_info& info, const ProviderChoice& choice) {
  return choice.domain.empty() || choice.domain == info.domain_attr->name;
}

const fi_info* find_offer(const fi_info* first, const auto& fits) {
  while (first != nullptr && !fits(*first)) first = first->next;
  return first;
}

Info copy_of(const fi_info& info) {
  Info copy(functions->dupinfo(&info));
  if (!copy) throw std::bad_alloc();
  return copy;
}

Info offers(const ProviderChoice& choice, const char* source) {
  const Info hints = hints_for(choice);
  fi_info* found = nullptr;
  const int code = functions->getinfo(version, source, nullptr, source == nullptr ? 0 : FI_SOURCE, hints.get(), &found);
  require(wanted(choice).c_str(), code);
  return Info(found);
}

Info offer_over_network(const ProviderChoice& choice) {
  const std::string own = cluster::local_address(choice.interface).address.host_text();
  const Info all = offers(choice, own.c_str());
  const fi_info* const fitting = find_offer(all.get(), [&](const fi_info& one) {
    const auto source = source_of(one);
    return source && source->host_text() == own && is_in_domain(one, choice);
  });
  if (fitting != nullptr) return copy_of(*fitting);
  if (source_of(*all)) require(wanted(choice).c_str(), -FI_ENODATA);
  throw Error(ExitStatus::bad_command_line,
              fmt::format("--interface cannot be had with the libfabric provider {}", all->fabric_attr->prov_name),
              "it has no addresses of the kernel's networks",
              "Leave it out, or name the device by --transport-option domain=NAME as 'fi_info' lists it");
}

std::string speed_of(const fi_info& info) {
  const bool is_known = info.nic != nullptr && info.nic->link_attr != nullptr && info.nic->link_attr->speed > 0;
  return is_known ? fmt::format(", {:g} Gbit/s", static_cast<double>(info.nic->link_attr->speed) / giga) : "";
}

std::string name_of_format(const fi_info& info) { return functions->tostr(&info.addr_format, FI_TYPE_ADDR_FORMAT); }

}  // namespace

Info best_offer(const ProviderChoice& choice) {
  if (!choice.interface.empty()) return offer_over_network(choice);
  const Info all = offers(choice, nullptr);
  // A loopback address means another machine to another host.
  const fi_info* const fitting = find_offer(all.get(), [&](const fi_info& one) {
    const auto source = source_of(one);
    return is_in_domain(one, choice) && (!choice.spans_hosts || !source || !source->is_loopback());
  });
  if (fitting == nullptr) require(wanted(choice).c_str(), -FI_ENODATA);
  return copy_of(*fitting);
}

std::string protocol_of(const fi_info& info) {
  return fmt::format("{}, {}", info.fabric_attr->prov_name, name_of_format(info));
}

std::string device_of(const fi_info& info) {
  const std::string provider = info.fabric_attr->prov_name, domain = info.domain_attr->name;
  return provider == domain ? provider : fmt::format("{} {}", provider, domain);
}

std::string library_text() {
  return fmt::format("libfabric {}.{}", FI_MAJOR(functions->version()), FI_MINOR(functions->version()));
}

std::vector<Fact> all_offers() {
  const Info all = offers({}, nullptr);
  std::vector<Fact> facts = {{"library", library_text()}};
  std::vector<std::string> limits;
  for (const fi_info* one = all.get(); one != nullptr; one = one->next) {
    const auto source = source_of(*one);
    std::string device = fmt::format("{} ({}{}{}){}", device_of(*one), name_of_format(*one), source ? " " : "",
                                     source ? source->host_text() : "", speed_of(*one));
    if (std::none_of(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.value == device; })) {
      facts.push_back({"device", std::move(device)});
    }
    std::string limit =
        fmt::format("{}: messages {}, copied at once up to {}", one->fabric_attr->prov_name,
                    tagged::format_bound(one->ep_attr->max_msg_size), tagged::format_bound(one->tx_attr->inject_size));
    if (std::find(limits.begin(), limits.end(), limit) == limits.end()) limits.push_back(std::move(limit));
  }
  for (std::string& limit : limits) facts.push_back({"limit", std::move(limit)});
  facts.push_back(locked_memory());
  return facts;
}

std::string words_of(ssize_t code) { return functions->strerror(static_cast<int>(-code)); }

void require(const char* what, ssize_t code) {
  if (code >= 0) return;
  throw Error(ExitStatus::something_missing, fmt::format("libfabric cannot {}", what), words_of(code),
              "See what 'fi_info' lists, and the variables of its provider ('fi_info -g')");
}

}  // namespace leadline::transport::libfabric
