// SPDX-License-Identifier: Apache-2.0
// Which messages a planted fault affects.
#pragma once

#include <cstdint>
#include <vector>

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// A fault's component as a part that each rank has in it, so that a query costs two look-ups. Its machine is checked.
class Reach {
 public:
  Reach(const Machine& machine, const PlantedFault& fault);

  /// Whether a message from one rank to another meets it. `is_inside`: both are on one host.
  bool meets(std::uint32_t from, std::uint32_t to, bool is_inside) const {
    return ((met_by(from) >> part_of_[to]) & 1U) != 0 && !(is_inside && only_between_hosts_);
  }

  /// Whether some message from, or to, that rank may meet it.
  bool may_meet_from(std::uint32_t from) const { return met_by(from) != 0; }
  bool may_meet_to(std::uint32_t to) const { return (met_ & (0x49U << part_of_[to])) != 0; }

 private:
  /// 0 = none, 1 = in the component, or at its first end; 2 = at its second end.
  static constexpr unsigned num_parts = 3;

  /// A bit for the part of the receiver.
  unsigned met_by(std::uint32_t from) const { return (met_ >> (num_parts * part_of_[from])) & 7U; }

  void fill_parts(const Machine& machine, const Component& component);

  std::vector<std::uint8_t> part_of_;  // by rank
  std::uint16_t met_ = 0;              // a bit for each part of the sender and part of the receiver
  bool only_between_hosts_;
};

}  // namespace leadline::synthetic
