// SPDX-License-Identifier: Apache-2.0
// A transport in a file of its own, which is no part of the program: --transport ./name.so.
#pragma once

#include <string>

#include "transport/transport.hpp"

namespace leadline::transport {

/// Local: opens the file for ever. Nothing of it is called unless it was made with the same interface and compiler.
/// Throws Error(something_missing): it cannot be read, is cut off, for another machine, no transport, or does not fit.
const Module& open_transport_file(const std::string& path);

/// The same of this program, which names no transport; the configuration writes it.
TransportFile own_interface();

}  // namespace leadline::transport
