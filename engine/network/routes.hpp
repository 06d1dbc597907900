// SPDX-License-Identifier: Apache-2.0
// The way of each pair of hosts through an InfiniBand fabric, from the forwarding tables of its switches
// (docs/formats/topology.md, "Forwarding tables").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::network {

/// A cable between two switches, or a switch without hosts: then there is no other one.
struct RoutePart {
  std::string switch_name, other_switch_name;
  std::uint32_t port = 0, other_port = 0;
  bool operator==(const RoutePart&) const = default;

  bool is_switch() const { return other_switch_name.empty(); }
};

/// "cable leaf1 (port 17) - spine2 (port 3)", "switch spine2".
std::string name_of(const RoutePart& part);

struct Routes {
  std::vector<RoutePart> parts;        ///< that some way passes
  std::vector<std::uint32_t> leaf_of;  ///< by host: its switch, from 0
  std::vector<std::size_t> begin;      ///< by leaf and host, one more at the end: where in `passed` the way begins
  std::vector<std::uint32_t> passed;   ///< numbers of parts

  /// The parts that messages from one host to another pass; empty below one switch, or where the way is not known.
  std::span<const std::uint32_t> way(std::uint32_t from, std::uint32_t to) const {
    const std::size_t at = std::size_t{leaf_of[from]} * leaf_of.size() + to;
    return std::span(passed).subspan(begin[at], begin[at + 1] - begin[at]);
  }
};

/// Of exactly `hosts` in their order. `tables_path`: what ibroute, dump_lfts.sh or OpenSM print; `topology_path`: the
/// output of ibnetdiscover. Throws Error(bad_command_line) that names the file and, where there is one, the line.
Routes read_routes(const std::string& tables_path, const std::string& topology_path,
                   const std::vector<std::string>& hosts);

/// The same of texts that are there already.
Routes parse_routes(const std::string& tables_file, std::string_view tables, const std::string& topology_file,
                    std::string_view topology, const std::vector<std::string>& hosts);

/// For the other ranks of a run: which parts are switches, without names and ports.
std::string packed(const Routes& routes);

/// What packed() made.
Routes unpacked_routes(std::string_view text);

}  // namespace leadline::network
