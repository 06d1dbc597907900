// SPDX-License-Identifier: Apache-2.0
// What UCX calls its resources (transport and device) and the devices that they use.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace leadline::transport::ucx {

/// {"tcp/eth0", "posix/memory"}: the resources in what ucp_context_print_info() writes, without that of a process to
/// itself. Empty where this UCX writes it in another form.
std::vector<std::string> resources_in(const std::string& text);

/// Local: what may stand in UCX_NET_DEVICES for a network: the device itself, and where an adapter for RDMA stands
/// behind it, that one with its port: {"ib0", "mlx5_0:1"}. `devices` is where the kernel lists networks.
std::vector<std::string> net_devices(const std::string& device,
                                     const std::filesystem::path& devices = "/sys/class/net");

/// Whether one of these resources uses one of these devices.
bool is_any_over(std::span<const std::string> resources, std::span<const std::string> devices);

}  // namespace leadline::transport::ucx
