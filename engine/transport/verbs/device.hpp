// SPDX-License-Identifier: Apache-2.0
// The port of an adapter that messages go through: the one that is asked for, or the first that is active.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/verbs/library.hpp"

namespace leadline::transport::verbs {

/// What the user asked for; empty where that is left to us.
struct PortChoice {
  std::string device = {};
  std::optional<std::uint8_t> port = {};
  std::optional<std::uint32_t> gid_index = {};
  std::optional<std::uint32_t> mtu_bytes = {};
  std::string interface = {};  ///< as Context::interface; a device that is named goes before it
};

/// An open port that is active.
struct Port {
  Owned<ibv_context> context;
  std::uint8_t number = 1;
  ibv_port_attr attributes{};
  ibv_mtu mtu = IBV_MTU_1024;
  bool is_routed = false;  ///< reached by its GID; otherwise by its LID
  std::uint32_t gid_index = 0;
  ibv_gid gid{};

  bool is_ethernet() const { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
  std::string device() const { return functions->get_device_name(context->device); }
  std::string text() const;  ///< "mlx5_0 port 1 lid 12", "rxe0 port 1 gid 1"
};

/// Local. Throws Error(something_missing) where there is no such device, port or GID, or it is not active.
Port open_port(const PortChoice& choice);

}  // namespace leadline::transport::verbs
