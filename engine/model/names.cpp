// SPDX-License-Identifier: Apache-2.0
// The names of the values of options.
#include "model/bisection_result.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"
#include "model/request.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"
#include "model/topology_request.hpp"

namespace leadline {

constexpr Named<Direction> direction_names[] = {
    {Direction::semidirectional, "semidirectional", "ping-pong, half the round trip"},
    {Direction::unidirectional, "unidirectional", "windows of messages, acknowledged at the end"},
    {Direction::bidirectional, "bidirectional", "both at once"},
};

std::span<const Named<Direction>> names_of(Direction /*any*/) { return direction_names; }

const char* name_of(Direction direction) { return name_in(direction_names, direction); }

constexpr Named<Rate> rate_names[] = {
    {Rate::local, "local"},
    {Rate::total, "total"},
    {Rate::average, "average"},
};

std::span<const Named<Rate>> names_of(Rate /*any*/) { return rate_names; }

const char* name_of(Rate rate) { return name_in(rate_names, rate); }

constexpr Named<PatternKind> pattern_kind_names[] = {
    {PatternKind::random, "random"},
    {PatternKind::named, "named"},
    {PatternKind::worst, "worst"},
};

std::span<const Named<PatternKind>> names_of(PatternKind /*any*/) { return pattern_kind_names; }

const char* name_of(PatternKind kind) { return name_in(pattern_kind_names, kind); }

/// As options are named in documents.
constexpr Named<StopReason> stop_reason_names[] = {
    {StopReason::not_stopped, "not_stopped"},
    {StopReason::precision, "precision"},
    {StopReason::rounds, "rounds"},
    {StopReason::time_limit, "time_limit"},
};

std::span<const Named<StopReason>> names_of(StopReason /*any*/) { return stop_reason_names; }

const char* name_of(StopReason reason) { return name_in(stop_reason_names, reason); }

constexpr Named<WaitMode> wait_mode_names[] = {
    {WaitMode::automatic, "auto", "yield where a host has more ranks than cores, else spin"},
    {WaitMode::spin, "spin"},
    {WaitMode::yield, "yield"},
    {WaitMode::block, "block"},
};

std::span<const Named<WaitMode>> names_of(WaitMode /*any*/) { return wait_mode_names; }

const char* name_of(WaitMode mode) { return name_in(wait_mode_names, mode); }

constexpr Named<RowPath> row_path_names[] = {
    {RowPath::automatic, "auto", "each rank writes its own where all see the file"},
    {RowPath::funnel, "funnel", "through rank 0"},
};

std::span<const Named<RowPath>> names_of(RowPath /*any*/) { return row_path_names; }

const char* name_of(RowPath row_path) { return name_in(row_path_names, row_path); }

constexpr Named<ResultFormat> result_format_names[] = {
    {ResultFormat::hdf5, "hdf5"},
    {ResultFormat::json, "json"},
    {ResultFormat::sion, "sion"},
    {ResultFormat::none, "none"},
};

std::span<const Named<ResultFormat>> names_of(ResultFormat /*any*/) { return result_format_names; }

const char* name_of(ResultFormat format) { return name_in(result_format_names, format); }

constexpr Named<IoOperations> io_operations_names[] = {
    {IoOperations::both, "both"},
    {IoOperations::write, "write"},
    {IoOperations::read, "read", "what an earlier run has written"},
};

std::span<const Named<IoOperations>> names_of(IoOperations /*any*/) { return io_operations_names; }

const char* name_of(IoOperations operations) { return name_in(io_operations_names, operations); }

constexpr Named<FileCalls> file_calls_names[] = {
    {FileCalls::blocking, "blocking"},
    {FileCalls::non_blocking, "non-blocking"},
};

std::span<const Named<FileCalls>> names_of(FileCalls /*any*/) { return file_calls_names; }

const char* name_of(FileCalls calls) { return name_in(file_calls_names, calls); }

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

constexpr Named<SyncTiming> sync_timing_names[] = {
    {SyncTiming::inside, "inside"},
    {SyncTiming::outside, "outside"},
    {SyncTiming::none, "none"},
};

std::span<const Named<SyncTiming>> names_of(SyncTiming /*any*/) { return sync_timing_names; }

const char* name_of(SyncTiming sync) { return name_in(sync_timing_names, sync); }

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

constexpr Named<IoOperation> io_operation_names[] = {
    {IoOperation::write, "write"},
    {IoOperation::read, "read"},
};

std::span<const Named<IoOperation>> names_of(IoOperation /*any*/) { return io_operation_names; }

const char* name_of(IoOperation operation) { return name_in(io_operation_names, operation); }

constexpr Named<IoTime> io_time_names[] = {
    {IoTime::open, "open", "opening files"},
    {IoTime::preallocate, "preallocate", "making room for them"},
    {IoTime::call, "call", "inside write or read calls"},
    {IoTime::wait, "wait", "waiting for non-blocking calls to be done"},
    {IoTime::send, "send", "waiting to be allowed to send, and for sends to be done"},
    {IoTime::receive, "receive", "waiting for messages"},
    {IoTime::barrier, "barrier", "in barriers before write calls"},
    {IoTime::fill, "fill", "filling objects"},
    {IoTime::verify, "verify", "verifying objects"},
    {IoTime::sync, "sync", "bringing what was written to the storage"},
    {IoTime::close, "close", "closing files"},
};

std::span<const Named<IoTime>> names_of(IoTime /*any*/) { return io_time_names; }

const char* name_of(IoTime time) { return name_in(io_time_names, time); }

constexpr Named<ReadSource> read_source_names[] = {
    {ReadSource::not_known, "not_known"},
    {ReadSource::cache, "cache"},
    {ReadSource::storage, "storage"},
    {ReadSource::mixed, "mixed"},
};

std::span<const Named<ReadSource>> names_of(ReadSource /*any*/) { return read_source_names; }

const char* name_of(ReadSource source) { return name_in(read_source_names, source); }

constexpr Named<Severity> severity_names[] = {
    {Severity::note, "note"},
    {Severity::warning, "warning"},
};

std::span<const Named<Severity>> names_of(Severity /*any*/) { return severity_names; }

const char* name_of(Severity severity) { return name_in(severity_names, severity); }

}  // namespace leadline
