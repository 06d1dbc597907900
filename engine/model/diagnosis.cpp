// SPDX-License-Identifier: Apache-2.0
// The words of diagnoses, in files and texts.
#include "model/diagnosis.hpp"

namespace leadline {

const char* name_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::network_switch:
      return "switch";
    case PlaceKind::uplink:
      return "uplink";
    case PlaceKind::cable:
      return "cable";
    case PlaceKind::rail:
      return "rail";
    case PlaceKind::host:
      return "host";
    case PlaceKind::port:
      return "port";
    case PlaceKind::inside:
      return "inside";
    case PlaceKind::socket:
      return "socket";
    case PlaceKind::rank:
      return "rank";
    case PlaceKind::link:
      return "link";
    case PlaceKind::pair:
      return "pair";
  }
  return "unknown";
}

const char* name_of(Symptom symptom) { return symptom == Symptom::slow ? "slow" : "unsteady"; }

const char* name_of(Way way) {
  switch (way) {
    case Way::both:
      return "both";
    case Way::out:
      return "out";
    case Way::in:
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

}  // namespace leadline
