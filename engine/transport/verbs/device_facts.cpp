// SPDX-License-Identifier: Apache-2.0
// Lists devices, ports, GIDs and limits.
#include "transport/verbs/device_facts.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "core/error.hpp"
#include "transport/locked_memory.hpp"
#include "transport/verbs/device_text.hpp"

namespace leadline::transport::verbs {
namespace {

std::string port_text(ibv_context* context, std::uint8_t number) {
  ibv_port_attr port{};
  if (ibv_query_port(context, number, &port) != 0) return fmt::format("port {}: no answer", number);
  std::string text = fmt::format("port {} {}, {}, {}, MTU {}", number, state_text(port.state),
                                 link_layer_text(port.link_layer), rate_text(port), 128u << port.active_mtu);
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET) text += fmt::format(", LID {}", port.lid);
  for (const ibv_gid_entry& gid : gids_of(context, number)) {
    text += fmt::format(", gid {} {}", gid.gid_index, gid_text(gid));
  }
  return text;
}

void add_facts_of(ibv_device* device, std::vector<Fact>& facts) {
  const std::string name = ibv_get_device_name(device);
  const Owned<ibv_context> context(ibv_open_device(device));
  ibv_device_attr limits{};
  if (!context || ibv_query_device(context.get(), &limits) != 0) {
    facts.push_back({"device", fmt::format("{}: cannot be opened ({})", name, system_error_text(errno))});
    return;
  }
  const std::string driver = driver_of(name);
  std::string about = name;
  if (!driver.empty()) about += ", " + driver;
  if (limits.fw_ver[0] != '\0') about += fmt::format(", firmware {}", limits.fw_ver);
  if (device->transport_type != IBV_TRANSPORT_IB) about += ", not for this transport (iWARP or other)";
  facts.push_back({"device", about});
  for (std::uint8_t number = 1; number <= limits.phys_port_cnt; ++number) {
    facts.push_back({"device", fmt::format("{}, {}", name, port_text(context.get(), number))});
  }
  facts.push_back({"limit", fmt::format("{}: {} queue pairs, {} memory regions, {} entries in a completion queue", name,
                                        limits.max_qp, limits.max_mr, limits.max_cqe)});
}

}  // namespace

std::vector<Fact> device_facts() {
  int num_devices = 0;
  const Owned<ibv_device*> list(ibv_get_device_list(&num_devices));
  if (!list) throw_no_list(errno);
  std::vector<Fact> facts{{"library", library_name()}};
  for (int i = 0; i < num_devices; ++i) add_facts_of(list.get()[i], facts);
  if (num_devices == 0) facts.push_back({"device", "none"});
  facts.push_back(locked_memory());
  return facts;
}

}  // namespace leadline::transport::verbs
