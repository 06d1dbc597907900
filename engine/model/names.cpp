// SPDX-License-Identifier: Apache-2.0
// The words for the values of options.
#include "model/bisection_result.hpp"
#include "model/link_request.hpp"
#include "model/request.hpp"
#include "model/topology_request.hpp"

namespace leadline {

const char* name_of(Direction direction) {
  switch (direction) {
    case Direction::semidirectional:
      return "semidirectional";
    case Direction::unidirectional:
      return "unidirectional";
    case Direction::bidirectional:
      return "bidirectional";
  }
  return "unknown";
}

const char* name_of(Rate rate) {
  switch (rate) {
    case Rate::local:
      return "local";
    case Rate::total:
      return "total";
    case Rate::average:
      return "average";
  }
  return "unknown";
}

const char* name_of(PatternKind kind) {
  switch (kind) {
    case PatternKind::random:
      return "random";
    case PatternKind::named:
      return "named";
    case PatternKind::worst:
      return "worst";
  }
  return "unknown";
}

/// As options are named in documents.
const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::not_stopped:
      return "not_stopped";
    case StopReason::precision:
      return "precision";
    case StopReason::rounds:
      return "rounds";
    case StopReason::time_limit:
      return "time_limit";
  }
  return "unknown";
}

const char* name_of(WaitMode mode) {
  switch (mode) {
    case WaitMode::automatic:
      return "auto";
    case WaitMode::spin:
      return "spin";
    case WaitMode::yield:
      return "yield";
    case WaitMode::block:
      return "block";
  }
  return "unknown";
}

const char* name_of(AllToAll all_to_all) {
  switch (all_to_all) {
    case AllToAll::none:
      return "none";
    case AllToAll::around:
      return "around";
    case AllToAll::before_each_round:
      return "before-each-round";
  }
  return "unknown";
}

const char* name_of(RowPath row_path) {
  switch (row_path) {
    case RowPath::automatic:
      return "auto";
    case RowPath::funnel:
      return "funnel";
  }
  return "unknown";
}

const char* name_of(ResultFormat format) {
  switch (format) {
    case ResultFormat::hdf5:
      return "hdf5";
    case ResultFormat::json:
      return "json";
    case ResultFormat::sion:
      return "sion";
    case ResultFormat::none:
      return "none";
  }
  return "unknown";
}

}  // namespace leadline
