// SPDX-License-Identifier: Apache-2.0
// Trying modules out, each in a process of its own: whether they load, and what they say about themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace leadline::transport {

/// What a module says of one setting.
struct KnownSetting {
  std::string name, value, meaning;  ///< as in Setting
};

/// Whether one module file can be loaded here, and what it says about itself.
struct Availability {
  const Entry* entry = nullptr;
  const ModuleFile* file = nullptr;
  std::string path;
  std::string why_absent;              ///< the loader's reason; empty = it can be loaded
  std::vector<KnownSetting> settings;  ///< where everything was asked for, like the rest
  std::vector<Fact> facts;
  std::string why_unusable;  ///< the library's reason why there are no facts; empty = there are
};

enum class Ask : std::uint8_t { whether_it_loads, everything };

/// Local: tries all modules, in the order of the table; each in a child process of its own, since the symbols of two
/// MPI libraries would clash in one, and a library may crash or hang. To be called by a process without threads.
std::vector<Availability> probe_all(Ask ask = Ask::whether_it_loads);

}  // namespace leadline::transport
