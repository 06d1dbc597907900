// SPDX-License-Identifier: Apache-2.0
// What libfabric has to offer here, and the one offer that a rank takes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/libfabric/library.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::libfabric {

struct InfoDeleter {
  void operator()(fi_info* info) const { functions->freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoDeleter>;

/// What the user wants of libfabric, empty = no matter; and how far it has to reach.
struct ProviderChoice {
  std::string provider;   ///< as FI_PROVIDER
  std::string domain;     ///< a device by the provider's name for it
  std::string interface;  ///< a network of this host: see cluster::matches()
  bool spans_hosts = false;
};

/// The first that fits. Throws Error(something_missing) in the library's words, Error(bad_command_line) where a
/// provider without network addresses is given a network.
Info best_offer(const ProviderChoice& choice);

/// "tcp;ofi_rxm, FI_SOCKADDR_IN": two ranks understand each other where this is the same.
std::string protocol_of(const fi_info& info);

/// "eth0"; "tcp;ofi_rxm eth0" with its provider.
std::string device_of(const fi_info& info);

/// "libfabric 1.17"
std::string library_text();

/// For people: see Module::facts().
std::vector<Fact> all_offers();

std::string words_of(ssize_t code);

/// Throws Error(something_missing) for a negative code.
void require(const char* what, ssize_t code);

}  // namespace leadline::transport::libfabric
