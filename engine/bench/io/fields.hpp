// SPDX-License-Identifier: Apache-2.0
// What results keep of a parallel file test: the head of the file, and of one rank in one phase the tables of
// /io/ranks.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bench/io/result.hpp"
#include "model/fields.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/run_header.hpp"

namespace leadline::bench::io {

/// A result without its numbers. Lists are in the order of the file.
struct Header : result::RunHeader {
  std::string movement, order;  ///< by name, so that a reader copes with those that it does not know
  std::string backend_library, file_system;
  std::uint64_t num_objects = 0;  ///< of a rank, as asked
  std::uint64_t object_size_bytes = 0;
  std::uint64_t run = 0;  ///< in every block's header
  std::vector<std::int32_t> io_ranks;
  result::hdf5::Texts<512> files;
  std::uint64_t num_phases = 0;  ///< there is room for so many
};

/// What a run knows before its first phase: not complete, no nonce, no room.
Header header_of(const IoResult& so_far);

constexpr auto fields_of(Type<Header> /*any*/) {
  return std::tuple{
      field("movement", &Header::movement, "", "which ranks share files, and who does I/O: N-N"),
      field("order", &Header::order, "", "segmented or strided"),
      field("backend_library", &Header::backend_library, "", "what moves the bytes: POSIX"),
      field("file_system", &Header::file_system, "", "of the directory of the first file, on rank 0: ext4"),
      field("num_objects", &Header::num_objects, "1", "objects of a rank, as asked"),
      field("object_size_bytes", &Header::object_size_bytes, "bytes", "size of an object"),
      field("run", &Header::run, "", "the number in the header of every block"),
      field("io_ranks", &Header::io_ranks, "", "ranks that do I/O"),
      field("files", &Header::files, "", "names"),
  };
}

/// What the rank did with that part of its time.
template <IoTime time>
constexpr double time_of(const RankPhase& phase) {
  return phase.times_ns[static_cast<std::size_t>(time)];
}

/// Bit 0: before the phase, bit 1: behind it, the page cache could be asked.
constexpr std::uint8_t cache_known(const RankPhase& phase) {
  return static_cast<std::uint8_t>((phase.cache_before.is_known ? 1 : 0) | (phase.cache_after.is_known ? 2 : 0));
}

constexpr std::uint64_t cache_pages(const RankPhase& phase) {
  return phase.cache_before.is_known ? phase.cache_before.pages : phase.cache_after.pages;
}

/// A function of the page cache before or behind the phase.
template <storage::CacheState RankPhase::*when, std::uint64_t storage::CacheState::*pages>
constexpr std::uint64_t pages_of(const RankPhase& phase) {
  return phase.*when.*pages;
}

/// The time of the end comes last: where that is not 0, all else is there.
constexpr auto fields_of(Type<RankPhase> /*any*/) {
  return std::tuple{
      field("begin_ns", &RankPhase::begin_ns, "ns",
            "before the rank's open, or with a ramp when it began to count, since the common start of the phase"),
      field("io_ns", &RankPhase::io_ns, "ns",
            "end - begin without fill, verification, a sync that is outside, and what ranks agreed on meanwhile"),
      field("open_ns", time_of<IoTime::open>, "ns", "opening files"),
      field("preallocate_ns", time_of<IoTime::preallocate>, "ns", "setting space aside"),
      field("call_ns", time_of<IoTime::call>, "ns",
            "inside write or read calls; non-blocking: inside the calls that start them"),
      field("wait_ns", time_of<IoTime::wait>, "ns", "for non-blocking calls to be done"),
      field("send_ns", time_of<IoTime::send>, "ns", "waiting to be allowed to send, and for sends to be done"),
      field("receive_ns", time_of<IoTime::receive>, "ns", "waiting for messages"),
      field("barrier_ns", time_of<IoTime::barrier>, "ns", "in barriers before write calls"),
      field("fill_ns", time_of<IoTime::fill>, "ns", "making contents, or waiting for a helper that does"),
      field("verify_ns", time_of<IoTime::verify>, "ns", "comparing contents, or waiting for a helper that does"),
      field("sync_ns", time_of<IoTime::sync>, "ns", "in sync"),
      field("close_ns", time_of<IoTime::close>, "ns", "closing files"),
      field("num_objects", &RankPhase::num_objects, "1", "objects of the rank that were written or read"),
      field("bytes", &RankPhase::bytes, "bytes", "moved to or from files; without files: received, or for reads sent"),
      field("message_bytes", &RankPhase::message_bytes, "bytes", "sent to or received from other ranks"),
      field("num_calls", &RankPhase::num_calls, "1", "write or read calls"),
      field("num_continued", &RankPhase::num_continued, "1", "calls that moved less than asked and were continued"),
      field("bytes_at_stop", &RankPhase::bytes_at_stop, "bytes", "moved when the time limit passed; 0 without one"),
      field("num_mismatches", &RankPhase::num_mismatches, "1", "objects that were not as written"),
      field("call_ns_min", &RankPhase::call_ns_min, "ns", "fastest call"),
      field("call_ns_max", &RankPhase::call_ns_max, "ns", "slowest call"),
      field("file", &RankPhase::file, "", "index of the file that its objects are in; -1 = none"),
      field("storage_target", &RankPhase::storage_target, "",
            "number of the storage target (Lustre: index of the OST) of the file that the rank opened; -1 = not known, "
            "-2 = several",
            Since::later_version),
      field("latencies", &RankPhase::latencies, "1",
            "calls by latency: bucket i is 2^(10 + i/4) to 2^(10 + (i+1)/4) ns, the first and the last are open"),
      field(
          "series_bin_ns", [](const RankPhase& phase) { return phase.series.bin_ns; }, "ns",
          "length of the bins of series_bytes, 2^20 times a power of two"),
      field(
          "series_bytes", [](const RankPhase& phase) { return phase.series.bytes; }, "bytes",
          "by time since the phase began; a call's bytes are spread over its duration"),
      field("cache_known", cache_known, "", "bit 0: before the phase, bit 1: behind it, the page cache could be asked"),
      field("cache_pages", cache_pages, "1", "pages of the rank's parts of its files"),
      field("cached_before", pages_of<&RankPhase::cache_before, &storage::CacheState::cached>, "1",
            "pages in its host's page cache before the phase"),
      field("dirty_before", pages_of<&RankPhase::cache_before, &storage::CacheState::dirty>, "1",
            "of these the dirty ones"),
      field("writeback_before", pages_of<&RankPhase::cache_before, &storage::CacheState::writeback>, "1",
            "of these the ones being written"),
      field("cached_after", pages_of<&RankPhase::cache_after, &storage::CacheState::cached>, "1",
            "pages in its host's page cache behind the phase"),
      field("dirty_after", pages_of<&RankPhase::cache_after, &storage::CacheState::dirty>, "1",
            "of these the dirty ones"),
      field("writeback_after", pages_of<&RankPhase::cache_after, &storage::CacheState::writeback>, "1",
            "of these the ones being written"),
      field("joint_ns", &RankPhase::joint_ns, "ns",
            "in blocking collective calls on one file, from when the last rank has come to each; 0 = not known",
            Since::later_version),
      field("system_bytes", &RankPhase::system_bytes, "bytes",
            "that the kernel counts for its process meanwhile: who does the I/O of such calls; 0 = not known",
            Since::later_version),
      field("ramp_bytes", &RankPhase::ramp_bytes, "bytes",
            "moved by calls that began before begin_ns, in a ramp: series_bytes has them, bytes does not",
            Since::later_version),
      field("done_ns", &RankPhase::done_ns, "ns",
            "behind its last call and, unless that is outside, its sync, before it waits for others",
            Since::later_version),
      field("end_ns", &RankPhase::end_ns, "ns", "behind its close and sync, since the common start of the phase"),
  };
}

}  // namespace leadline::bench::io
