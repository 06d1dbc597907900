// SPDX-License-Identifier: Apache-2.0
// What a diagnosis says: which components are at fault, by how much, how sure, and on what evidence; and what a
// comparison of two results says. Definitions: docs/metrics.md.
#include "model/diagnosis.hpp"

#include <algorithm>

namespace leadline {

const char* name_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::network_switch:
      return "switch";
    case ComponentKind::uplink:
      return "uplink";
    case ComponentKind::cable:
      return "cable";
    case ComponentKind::rail:
      return "rail";
    case ComponentKind::host:
      return "host";
    case ComponentKind::port:
      return "port";
    case ComponentKind::inside:
      return "inside";
    case ComponentKind::socket:
      return "socket";
    case ComponentKind::rank:
      return "rank";
    case ComponentKind::link:
      return "link";
    case ComponentKind::pair:
      return "pair";
  }
  return "unknown";
}

const char* name_of(Symptom symptom) { return symptom == Symptom::slow ? "slow" : "unsteady"; }

const char* name_of(FaultDirection direction) {
  switch (direction) {
    case FaultDirection::both:
      return "both";
    case FaultDirection::out:
      return "out";
    case FaultDirection::in:
      return "in";
  }
  return "unknown";
}

const char* name_of(Persistence persistence) {
  switch (persistence) {
    case Persistence::not_retested:
      return "not_retested";
    case Persistence::persistent:
      return "persistent";
    case Persistence::only_under_load:
      return "only_under_load";
    case Persistence::transient:
      return "transient";
  }
  return "unknown";
}

bool is_worse(const Comparison& comparison) {
  const auto is_slower = [](const ComparedClass& one) { return one.change == Change::slower; };
  return !comparison.slower.empty() || std::ranges::any_of(comparison.classes, is_slower);
}

const char* name_of(Change change) {
  switch (change) {
    case Change::none:
      return "none";
    case Change::slower:
      return "slower";
    case Change::faster:
      return "faster";
  }
  return "unknown";
}

}  // namespace leadline
