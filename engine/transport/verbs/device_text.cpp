// SPDX-License-Identifier: Apache-2.0
// RDMA adapters as text: names, states, rates, addresses, and what `leadline transports --verbose` prints of them.
#include "transport/verbs/device_text.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::verbs {
namespace {

namespace fs = std::filesystem;

std::string port_text(ibv_context* context, std::uint8_t number) {
  ibv_port_attr port{};
  if (query_port(context, number, port) != 0) return fmt::format("port {}: no answer", number);
  std::string text = fmt::format("port {} {}, {}, {}, MTU {}", number, state_text(port.state),
                                 link_layer_text(port.link_layer), rate_text(port), 128u << port.active_mtu);
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET) text += fmt::format(", LID {}", port.lid);
  for (const ibv_gid_entry& gid : gids_of(context, number)) {
    text += fmt::format(", gid {} {}", gid.gid_index, gid_text(gid));
  }
  return text;
}

void add_facts_of(ibv_device* device, std::vector<Fact>& facts) {
  const std::string name = functions->get_device_name(device);
  const Owned<ibv_context> context(functions->open_device(device));
  ibv_device_attr limits{};
  if (!context || functions->query_device(context.get(), &limits) != 0) {
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

void throw_cannot(const std::string& what, int error_number) {
  const std::string hint =
      error_number == ENOMEM
          ? fmt::format("Raise the limit of locked memory (ulimit -l), now {}", locked_memory_limit())
          : "\"leadline transports --verbose\" lists the devices and their limits";
  throw Error(ExitStatus::something_missing, fmt::format("libibverbs cannot {}", what), system_error_text(error_number),
              hint);
}

void throw_no_list(int error_number) {
  throw Error(ExitStatus::something_missing, "libibverbs cannot list its devices", system_error_text(error_number),
              "Is there an adapter, and has the kernel loaded its driver and ib_uverbs?");
}

std::string library_name() {
  Dl_info found{};
  std::error_code no_such_file;
  if (dladdr(reinterpret_cast<void*>(functions->get_device_list), &found) == 0) return "libibverbs";
  const std::string file = fs::canonical(found.dli_fname, no_such_file).filename().string();
  const auto version = file.find(".so.");
  return version == std::string::npos ? "libibverbs" : "libibverbs " + file.substr(version + 4);
}

std::string driver_of(const std::string& device) {
  const fs::path folder = fs::path("/sys/class/infiniband") / device;
  std::error_code none;
  const fs::path driver = fs::read_symlink(folder / "device" / "driver", none);
  if (!none) return driver.filename().string();
  std::ifstream file(folder / "parent");  // the network device below an RDMA device in software
  std::string parent;
  return std::getline(file, parent) && !parent.empty() ? "software over " + parent : "";
}

std::string state_text(ibv_port_state state) {
  const std::string text = functions->port_state_str(state);
  return text.starts_with("PORT_") ? text.substr(5) : text;
}

std::string link_layer_text(std::uint8_t link_layer) {
  return link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

std::string rate_text(const ibv_port_attr& attributes) {
  // Bits of the architecture's PortInfo: lanes, and Gbit/s of each.
  constexpr std::array<std::pair<unsigned, double>, 5> lanes{{{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};
  constexpr std::array<std::pair<unsigned, double>, 8> speeds{
      {{1, 2.5}, {2, 5}, {4, 10}, {8, 10}, {16, 14}, {32, 25}, {64, 50}, {128, 100}}};
  const auto value_of = [](const auto& table, unsigned bits) {
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.first == bits; });
    return found == table.end() ? 0.0 : found->second;
  };
  const double rate = value_of(lanes, attributes.active_width) * value_of(speeds, attributes.active_speed);
  return rate > 0 ? fmt::format("{:g} Gbit/s", rate) : "rate unknown";
}

bool is_ipv4_mapped(const ibv_gid& gid) {
  in6_addr address{};
  std::memcpy(&address, gid.raw, sizeof address);
  return IN6_IS_ADDR_V4MAPPED(&address);
}

std::string gid_text(const ibv_gid_entry& entry) {
  std::array<char, INET6_ADDRSTRLEN> address{};
  if (is_ipv4_mapped(entry.gid)) {
    ::inet_ntop(AF_INET, &entry.gid.raw[12], address.data(), address.size());
  } else {
    ::inet_ntop(AF_INET6, entry.gid.raw, address.data(), address.size());
  }
  constexpr std::array<const char*, 3> types{"InfiniBand", "RoCE v1", "RoCE v2"};
  return fmt::format("{} {}", types[std::min<std::uint32_t>(entry.gid_type, 2)], address.data());
}

std::vector<ibv_gid_entry> gids_of(ibv_context* context, std::uint8_t port) {
  ibv_device_attr limits{};
  functions->query_device(context, &limits);
  std::size_t num_all = 0;
  for (std::uint8_t one = 1; one <= limits.phys_port_cnt; ++one) {
    ibv_port_attr attributes{};
    if (query_port(context, one, attributes) == 0) num_all += static_cast<std::size_t>(attributes.gid_tbl_len);
  }
  std::vector<ibv_gid_entry> entries(num_all);
  const ssize_t num =
      num_all == 0 ? 0 : functions->query_gid_table(context, entries.data(), entries.size(), 0, sizeof entries[0]);
  entries.resize(num < 0 ? 0 : static_cast<std::size_t>(num));
  std::erase_if(entries, [&](const ibv_gid_entry& entry) { return entry.port_num != port; });
  return entries;
}

std::vector<Fact> device_facts() {
  int num_devices = 0;
  const Owned<ibv_device*> list(functions->get_device_list(&num_devices));
  if (!list) throw_no_list(errno);
  std::vector<Fact> facts{{"library", library_name()}};
  for (int i = 0; i < num_devices; ++i) add_facts_of(list.get()[i], facts);
  if (num_devices == 0) facts.push_back({"device", "none"});
  facts.push_back(locked_memory());
  return facts;
}

}  // namespace leadline::transport::verbs
