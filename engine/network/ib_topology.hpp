// SPDX-License-Identifier: Apache-2.0
// InfiniBand fabrics from the output of ibnetdiscover: nodes and cables as it lists them, and the network that they
// form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace leadline::network {

enum class IbKind : std::uint8_t { fabric_switch, adapter, router };

struct IbNode {
  std::string_view id;           ///< "S-ec0d9a0300ec8240"
  std::string_view description;  ///< "node018 HCA-1"; may be empty
  IbKind kind = IbKind::router;
  std::size_t first_line = 0;  ///< that mentions it
  bool has_lines = false;      ///< of its own
};

/// One line of a port: most cables are listed at both ends.
struct IbCable {
  std::uint32_t node = 0, port = 0, other_node = 0, other_port = 0;
  std::size_t line = 0;
  double gigabits_s = 0;  ///< as at its end, "4xHDR"; 0 = not told
};

struct IbFabric {
  std::vector<IbNode> nodes;  ///< in the order in which they are mentioned; texts are those of the file
  std::vector<IbCable> cables;
};

/// Throws Error(bad_command_line) that names file and line. Lines with neither a node nor a port are ignored.
IbFabric read_ib_fabric(const std::string& file, std::string_view text);

/// A host, and the switch and port to which the first port of its first adapter is connected.
struct IbHost {
  std::string_view name;
  std::uint32_t at_switch = 0, switch_port = 0;  ///< a node, and the port there
};

/// In the order in which the fabric mentions them. Throws Error(bad_command_line) that names file and line.
std::vector<IbHost> hosts_of(const std::string& file, const IbFabric& fabric);

/// By node: descriptions, unique among switches; empty for all other nodes.
std::vector<std::string> switch_names(const IbFabric& fabric);

/// The host that an adapter with this description is in; empty where it names none.
std::string_view host_in_description(std::string_view description);

/// Whether a line begins the list of a node's ports, or stands in front of it ("switchguid=...").
bool is_ib_line(std::string_view line);

/// A host's name is the first word of its adapters' descriptions ("node018 HCA-1"), and is connected to the switch of
/// the first port of its first adapter. Adapters whose description names no host (those inside switches) are ignored.
/// Throws Error(bad_command_line) that names the file and, where there is one, the line.
Network parse_ib_topology(const std::string& file, std::string_view text);

}  // namespace leadline::network
