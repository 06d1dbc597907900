// SPDX-License-Identifier: Apache-2.0
// The names of the values of options.
#include "model/bisection_result.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"
#include "model/link_request.hpp"
#include "model/request.hpp"
#include "model/result.hpp"
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

const char* name_of(IoOperations operations) {
  switch (operations) {
    case IoOperations::both:
      return "both";
    case IoOperations::write:
      return "write";
    case IoOperations::read:
      return "read";
  }
  return "unknown";
}

const char* name_of(FileCalls calls) {
  switch (calls) {
    case FileCalls::blocking:
      return "blocking";
    case FileCalls::non_blocking:
      return "non-blocking";
  }
  return "unknown";
}

const char* name_of(CachePath path) {
  switch (path) {
    case CachePath::buffered:
      return "buffered";
    case CachePath::direct:
      return "direct";
    case CachePath::uncached:
      return "uncached";
  }
  return "unknown";
}

const char* name_of(BetweenPhases between) {
  switch (between) {
    case BetweenPhases::keep:
      return "keep";
    case BetweenPhases::drop:
      return "drop";
  }
  return "unknown";
}

const char* name_of(SyncTiming sync) {
  switch (sync) {
    case SyncTiming::inside:
      return "inside";
    case SyncTiming::outside:
      return "outside";
    case SyncTiming::none:
      return "none";
  }
  return "unknown";
}

const char* name_of(ReadShift shift) {
  switch (shift) {
    case ReadShift::none:
      return "none";
    case ReadShift::ranks:
      return "ranks";
    case ReadShift::hosts:
      return "hosts";
  }
  return "unknown";
}

const char* name_of(IoOperation operation) {
  switch (operation) {
    case IoOperation::write:
      return "write";
    case IoOperation::read:
      return "read";
  }
  return "unknown";
}

const char* name_of(IoTime time) {
  switch (time) {
    case IoTime::open:
      return "open";
    case IoTime::preallocate:
      return "preallocate";
    case IoTime::call:
      return "call";
    case IoTime::wait:
      return "wait";
    case IoTime::send:
      return "send";
    case IoTime::receive:
      return "receive";
    case IoTime::barrier:
      return "barrier";
    case IoTime::fill:
      return "fill";
    case IoTime::verify:
      return "verify";
    case IoTime::sync:
      return "sync";
    case IoTime::close:
      return "close";
  }
  return "unknown";
}

const char* name_of(ReadSource source) {
  switch (source) {
    case ReadSource::not_known:
      return "not_known";
    case ReadSource::cache:
      return "cache";
    case ReadSource::storage:
      return "storage";
    case ReadSource::mixed:
      return "mixed";
  }
  return "unknown";
}

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
  }
  return "unknown";
}

}  // namespace leadline
