// SPDX-License-Identifier: Apache-2.0
// LinkTest's names for transports and allocators beside Leadline's.
#pragma once

#include <string>
#include <string_view>

namespace leadline::compat::linktest {

/// The transport that LinkTest calls so ("ucp" -> "ucx"), in upper or lower case; Leadline's own names are fine too,
/// and an argument stays ("model:FILE"). `origin` says where the name stood, for the error. Throws
/// Error(something_missing) for a layer of LinkTest that this build has no transport for, Error(bad_command_line) for
/// any other name.
std::string transport_of(const std::string& layer, const std::string& origin);

/// LinkTest's name for a transport of Leadline.
std::string layer_of(const std::string& transport);

/// "linktest.LAYER" -> "LAYER"; empty where the program has no such name. `path` is argv[0].
std::string layer_in_name(const std::string& path);

/// The layers that this build has, for the help: "mpi, tcp, model:FILE".
std::string layers_here();

/// The allocator that LinkTest calls so; Leadline's own names are fine too. DEFAULT follows the transport.
/// Throws Error(bad_command_line) that lists LinkTest's names.
std::string allocator_of(const std::string& name, const std::string& transport);

}  // namespace leadline::compat::linktest
