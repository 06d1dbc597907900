// SPDX-License-Identifier: Apache-2.0
// How a rank moves the objects of a phase, whichever way they go.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/io/contents.hpp"
#include "bench/io/failure.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/pace.hpp"
#include "bench/io/recorder.hpp"
#include "bench/io/transfers.hpp"

namespace leadline::bench::io {

/// What all parts of a phase work with, on one rank. References outlive the phase.
struct PhaseWork {
  const Stage& stage;
  PhasePosition place;
  Recorder& recorder;
  Contents& contents;
  Failure& failure;
  Pace& pace;
  Transfers* transfers = nullptr;  ///< of the file that this rank opened; null where it opened none

  bool writes() const { return place.operation == IoOperation::write; }
  const IoRequest& request() const { return stage.request; }
  int rank() const { return stage.cluster.rank(); }
};

/// Objects [first, end) of every rank.
struct ObjectRange {
  std::uint64_t first = 0, end = 0;
};

class ObjectLoop {
 public:
  ObjectLoop() = default;
  ObjectLoop(const ObjectLoop&) = delete;
  ObjectLoop& operator=(const ObjectLoop&) = delete;
  virtual ~ObjectLoop() = default;

  /// Moves these objects of this rank, or through it, and waits for them. Where ranks move in step, all of them bring
  /// the same range and no stop; otherwise nothing new is begun once `stop_ns` (since the phase began) is over. Returns
  /// the first object that was not moved. Errors of the storage go to PhaseWork::failure: whatever other ranks count on
  /// is done all the same. Throws only where no partner can be reached.
  virtual std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) = 0;
};

}  // namespace leadline::bench::io
