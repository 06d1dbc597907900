// SPDX-License-Identifier: Apache-2.0
// Chooses a device, a port and a GID.
#include "transport/verbs/device.hpp"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cluster/address.hpp"
#include "core/error.hpp"
#include "transport/verbs/device_text.hpp"

namespace leadline::transport::verbs {
namespace {

/// The network that the user chose, if any.
struct Network {
  std::string device;  ///< of the network: "ib0", "eth0"
  std::optional<cluster::SocketAddress> address;
};

[[noreturn]] void throw_missing(const std::string& problem, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::something_missing, problem, why, hint);
}

/// Adapters whose queue pairs we can bring up ourselves; iWARP's need a connection manager.
struct Devices {
  Devices() {
    int num_all = 0;
    list.reset(functions->get_device_list(&num_all));
    if (!list) throw_no_list(errno);
    for (int i = 0; i < num_all; ++i) {
      if (list.get()[i]->transport_type == IBV_TRANSPORT_IB) usable.push_back(list.get()[i]);
    }
    if (!usable.empty()) return;
    throw_missing("there is no InfiniBand or RoCE device",
                  num_all == 0 ? "libibverbs finds none" : "libibverbs finds devices of other kinds only",
                  "\"rdma link\" and /sys/class/infiniband list what the kernel has");
  }

  std::string names() const {
    std::string text;
    for (ibv_device* const device : usable)
      text += (text.empty() ? "" : ", ") + std::string(functions->get_device_name(device));
    return text;
  }

  Owned<ibv_device*> list;
  std::vector<ibv_device*> usable;
};

int number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  int number = -1;
  file >> number;
  return number;
}

/// Whether a network device belongs to this port, by the kernel's tree of devices: IPoIB is in no GID table.
bool is_parent_of(const Port& port, const std::string& network_device) {
  const auto folder = std::filesystem::path("/sys/class/net") / network_device;
  std::error_code none;
  if (!std::filesystem::exists(folder / "device" / "infiniband" / port.device(), none)) return false;
  const int index = number_in(folder / "dev_port");
  return index < 0 || index + 1 == port.number;
}

bool carries(const Port& port, const Network& network) {
  const unsigned index = if_nametoindex(network.device.c_str());
  const auto gids = gids_of(port.context.get(), port.number);
  const bool is_in_table = std::any_of(
      gids.begin(), gids.end(), [&](const ibv_gid_entry& gid) { return index != 0 && gid.ndev_ifindex == index; });
  return is_in_table || is_parent_of(port, network.device);
}

bool is_address(const ibv_gid& gid, const cluster::SocketAddress& address) {
  const std::string_view bytes = address.address_bytes();
  const std::size_t offset = sizeof gid.raw - bytes.size();
  return (bytes.size() == sizeof gid.raw || is_ipv4_mapped(gid)) &&
         std::memcmp(gid.raw + offset, bytes.data(), bytes.size()) == 0;
}

/// The better, the higher: the chosen address, its network, RoCE v2, an IPv4 address (routed where link-local ones are
/// not).
int worth_of(const ibv_gid_entry& entry, const Network& network) {
  int worth = 0;
  if (network.address && is_address(entry.gid, *network.address)) worth += 8;
  if (!network.device.empty() && entry.ndev_ifindex == if_nametoindex(network.device.c_str())) worth += 4;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V2) worth += 2;
  return worth + (is_ipv4_mapped(entry.gid) ? 1 : 0);
}

void choose_gid(Port& port, const PortChoice& choice, const Network& network) {
  const auto gids = gids_of(port.context.get(), port.number);
  port.is_routed = port.is_ethernet() || choice.gid_index.has_value();
  const auto found =
      choice.gid_index ? std::find_if(gids.begin(), gids.end(),
                                      [&](const ibv_gid_entry& gid) { return gid.gid_index == *choice.gid_index; })
      : !port.is_ethernet()
          ? gids.begin()
          : std::max_element(gids.begin(), gids.end(), [&](const ibv_gid_entry& one, const ibv_gid_entry& other) {
              return worth_of(one, network) < worth_of(other, network);
            });
  if (found != gids.end()) {
    port.gid_index = found->gid_index;
    port.gid = found->gid;
    return;
  }
  if (!port.is_routed) return;
  std::string indexes;
  for (const ibv_gid_entry& gid : gids) indexes += fmt::format("{}{}", indexes.empty() ? "" : ", ", gid.gid_index);
  const std::string which = choice.gid_index ? fmt::format(" with index {}", *choice.gid_index) : "";
  throw_missing(fmt::format("device {} port {} has no GID{}", port.device(), port.number, which),
                gids.empty() ? "its table is empty" : fmt::format("those that are set have the indexes {}", indexes),
                "RoCE has one for each address of its network device");
}

ibv_mtu mtu_of(std::uint32_t bytes) {
  ibv_mtu mtu = IBV_MTU_256;
  while (128u << mtu < bytes) mtu = static_cast<ibv_mtu>(mtu + 1);
  return mtu;
}

void choose_mtu(Port& port, const PortChoice& choice) {
  port.mtu = port.attributes.active_mtu;
  if (!choice.mtu_bytes) return;
  if (mtu_of(*choice.mtu_bytes) > port.mtu) {
    throw_missing(
        fmt::format("device {} port {} has no MTU of {} bytes", port.device(), port.number, *choice.mtu_bytes),
        fmt::format("its MTU is {}", 128u << port.mtu), "On RoCE it follows from that of the network device");
  }
  port.mtu = mtu_of(*choice.mtu_bytes);
}

Owned<ibv_context> opened(ibv_device* device) {
  Owned<ibv_context> context(functions->open_device(device));
  if (!context) throw_cannot(fmt::format("open device {}", functions->get_device_name(device)), errno);
  return context;
}

std::uint8_t num_ports(ibv_context* context) {
  ibv_device_attr limits{};
  if (const int problem = functions->query_device(context, &limits); problem != 0) {
    throw_cannot(fmt::format("query device {}", functions->get_device_name(context->device)), problem);
  }
  return limits.phys_port_cnt;
}

ibv_device* device_named(const std::string& name, const Devices& devices) {
  const auto found = std::find_if(devices.usable.begin(), devices.usable.end(),
                                  [&](ibv_device* device) { return functions->get_device_name(device) == name; });
  if (found != devices.usable.end()) return *found;
  throw_missing(fmt::format("there is no InfiniBand or RoCE device \"{}\"", name),
                fmt::format("there are {}", devices.names()), "\"leadline transports --verbose\" says what they are");
}

/// Every port that is not ruled out, and why others are.
class Search {
 public:
  Search(const PortChoice& choice, const Network& network) : choice_(choice), network_(network) {}

  /// The first port of the device that fits.
  std::optional<Port> in(ibv_device* device) {
    const std::uint8_t num = num_ports(opened(device).get());
    if (choice_.port && *choice_.port > num && !choice_.device.empty()) {
      throw_missing(fmt::format("device {} has no port {}", choice_.device, *choice_.port),
                    fmt::format("it has {}", num), "Ports count from 1");
    }
    for (std::uint8_t number = 1; number <= num; ++number) {
      if (choice_.port && *choice_.port != number) continue;
      Port port;
      port.context = opened(device);
      port.number = number;
      if (fits(port)) return port;
    }
    return std::nullopt;
  }

  [[noreturn]] void throw_none() const {
    throw_missing(choice_.device.empty() ? "no port of an InfiniBand or RoCE device can be used here"
                                         : fmt::format("device {} cannot be used here", choice_.device),
                  why_not_, "\"ip link set DEVICE up\" brings a RoCE port up, a subnet manager an InfiniBand one");
  }

 private:
  bool fits(Port& port) {
    if (const int problem = query_port(port.context.get(), port.number, port.attributes); problem != 0) {
      throw_cannot(fmt::format("query {} port {}", port.device(), port.number), problem);
    }
    if (port.attributes.state != IBV_PORT_ACTIVE) {
      return rule_out(port, fmt::format("is {}", state_text(port.attributes.state)));
    }
    if (!network_.device.empty() && !carries(port, network_)) {
      return rule_out(port, fmt::format("does not carry {}", network_.device));
    }
    return true;
  }

  bool rule_out(const Port& port, const std::string& reason) {
    why_not_ += fmt::format("{}{} port {} {}", why_not_.empty() ? "" : ", ", port.device(), port.number, reason);
    return false;
  }

  const PortChoice& choice_;
  const Network& network_;
  std::string why_not_;
};

}  // namespace

std::string Port::text() const {
  const std::string place = fmt::format("{} port {}", device(), number);
  return is_routed ? fmt::format("{} gid {}", place, gid_index) : fmt::format("{} lid {}", place, attributes.lid);
}

Port open_port(const PortChoice& choice) {
  const Devices devices;
  Network network;
  if (choice.device.empty() && !choice.interface.empty()) {
    const cluster::LocalAddress local = cluster::local_address(choice.interface);
    network = {local.device, local.address};
  }
  Search search(choice, network);
  const auto candidates =
      choice.device.empty() ? devices.usable : std::vector<ibv_device*>{device_named(choice.device, devices)};
  for (ibv_device* const device : candidates) {
    std::optional<Port> port = search.in(device);
    if (!port) continue;
    choose_gid(*port, choice, network);
    choose_mtu(*port, choice);
    return std::move(*port);
  }
  search.throw_none();
}

}  // namespace leadline::transport::verbs
