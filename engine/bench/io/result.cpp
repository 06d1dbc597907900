// SPDX-License-Identifier: Apache-2.0
// The names of the values of options and results.
#include "bench/io/result.hpp"

namespace leadline::bench::io {

constexpr Named<IoOperations> io_operations_names[] = {
    {IoOperations::both, "both"},
    {IoOperations::write, "write"},
    {IoOperations::read, "read", "what an earlier run has written"},
};

std::span<const Named<IoOperations>> names_of(IoOperations /*any*/) { return io_operations_names; }

const char* name_of(IoOperations operations) { return name_in(io_operations_names, operations); }

constexpr Named<MetadataItems> metadata_items_names[] = {
    {MetadataItems::both, "both"},
    {MetadataItems::files, "files"},
    {MetadataItems::directories, "directories"},
};

std::span<const Named<MetadataItems>> names_of(MetadataItems /*any*/) { return metadata_items_names; }

const char* name_of(MetadataItems items) { return name_in(metadata_items_names, items); }

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
    {SyncTiming::each, "each", "inside, behind each write call"},
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

constexpr Named<ContentsBy> contents_by_names[] = {
    {ContentsBy::rank, "rank", "between its calls"},
    {ContentsBy::helper, "helper", "a thread on another core, while calls go on"},
};

std::span<const Named<ContentsBy>> names_of(ContentsBy /*any*/) { return contents_by_names; }

const char* name_of(ContentsBy by) { return name_in(contents_by_names, by); }

constexpr Named<IoOperation> io_operation_names[] = {
    {IoOperation::write, "write"},
    {IoOperation::read, "read"},
    {IoOperation::mkdir, "mkdir", "a directory is made"},
    {IoOperation::rmdir, "rmdir", "a directory is removed"},
    {IoOperation::create, "create", "a file is made, its contents are written, it is closed"},
    {IoOperation::stat, "stat", "its size and times are asked for"},
    {IoOperation::open, "open", "it is opened and closed"},
    {IoOperation::read_file, "read_file", "it is opened, read and closed"},
    {IoOperation::unlink, "unlink", "it is removed"},
    {IoOperation::mix, "mix", "some objects are read, others written again"},
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

}  // namespace leadline::bench::io
