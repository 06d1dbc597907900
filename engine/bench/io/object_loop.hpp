// SPDX-License-Identifier: Apache-2.0
// How a rank moves the objects of a phase in either direction: until a time limit, and past its first error.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/io/contents.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/pace.hpp"
#include "bench/io/passes.hpp"
#include "bench/io/recorder.hpp"
#include "bench/io/transfers.hpp"
#include "cluster/cluster.hpp"
#include "cluster/rendezvous.hpp"
#include "core/error.hpp"

namespace leadline::bench::io {

class Failure {
 public:
  Failure(const cluster::Cluster& cluster, std::string host) : cluster_(cluster), host_(std::move(host)) {}

  bool has_happened() const { return error_.has_value(); }
  /// "rank 3 on node1: ..."; null where all is well.
  const Error* error() const { return error_ ? &*error_ : nullptr; }

  void note(const Error& error) {
    if (error_) return;
    error_.emplace(error.status(), fmt::format("rank {} on {}: {}", cluster_.rank(), host_, error.problem()),
                   error.why(), error.hint());
  }

  /// Of a link that must not break.
  void note(const cluster::ConnectionLost& link) {
    const std::string partner = fmt::format("rank {} on {}", link.partner(), cluster_.host_name(link.partner()));
    const std::string why = link.problem() + (link.why().empty() ? "" : ": " + link.why());
    note(Error(link.status(), "no link to " + partner, why, link.hint()));
  }

  /// Does `work`, which belongs to this rank alone or is done by all partners alike; whether it went well.
  template <class Work>
  bool guard(Work&& work) {
    try {
      work();
      return true;
    } catch (const AgreedError&) {
      throw;
    } catch (const cluster::ConnectionLost& link) {
      note(link);
      return false;
    } catch (const Error& error) {
      note(error);
      return false;
    }
  }

 private:
  const cluster::Cluster& cluster_;
  std::string host_;
  std::optional<Error> error_;
};

/// What all parts of a phase work with, on one rank. References outlive the phase.
struct PhaseWork {
  const Stage& stage;
  PhasePosition position;
  std::span<const std::int32_t> left_out;  ///< ranks whose objects nobody moves, ascending
  Recorder& recorder;
  Contents& contents;
  Failure& failure;
  Pace& pace;
  const Passes& passes;            ///< of this rank's objects; of a funnel those of all ranks
  Transfers* transfers = nullptr;  ///< of the file that this rank opened; null where it opened none

  bool writes() const { return position.operation == IoOperation::write; }
  const IoRequest& request() const { return stage.request; }
  int rank() const { return stage.cluster.rank(); }
};

/// Objects [first, end) of every rank, numbered over all passes.
struct ObjectRange {
  std::uint64_t first = 0, end = 0;
};

/// The same range, numbered from the beginning of its pass, in which all of it lies.
inline ObjectRange within_pass(const PhaseWork& work, const ObjectRange& range) {
  const std::uint64_t before = work.passes.first_of_pass(range.first);
  return {range.first - before, range.end - before};
}

class ObjectLoop {
 public:
  ObjectLoop() = default;
  ObjectLoop(const ObjectLoop&) = delete;
  ObjectLoop& operator=(const ObjectLoop&) = delete;
  virtual ~ObjectLoop() = default;

  /// Moves these objects of this rank, or through it, and waits for them. Where ranks move in step, all of them bring
  /// the same range and no stop; otherwise nothing new is begun once `stop_ns` (since the phase began) is over. Returns
  /// the first object that was not moved. Errors of the storage go to PhaseWork::failure: what other ranks depend on is
  /// done all the same. Throws only where no partner can be reached.
  virtual std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) = 0;
};

/// Until --rate-limit allows the `number`-th object of this rank; 0 or below: now.
std::chrono::nanoseconds time_until_due(const PhaseWork& work, std::uint64_t number);

/// Before an object is begun, of those of this rank the `number`-th: waits until --rate-limit allows it. In steps: a
/// rank that waits is not stuck.
void wait_for_rate(PhaseWork& work, std::uint64_t number);

struct Moved {
  std::uint64_t num_objects = 0;  ///< of every rank; with --time-based the fewest that any has, each counted once
  std::uint64_t num_own = 0;      ///< of this rank, with --time-based as often as they were moved
  double stop_ns = 0;             ///< when this rank stopped since the limit had passed; 0 = it did not
};

/// Collective: objects [0, num_objects) of every rank, or as many as the time limit lets them. Ranks that need not move
/// in step each stop by their own clock; then all go on to the greatest number that any of them had done, but with
/// --time-based, where objects are moved again and again until the limit. Others agree on batch after batch, by the
/// root's clock; no batch lies in two passes. A rank that fails keeps no other waiting.
Moved move_objects(PhaseWork& work, ObjectLoop& loop, std::uint64_t num_objects);

}  // namespace leadline::bench::io
