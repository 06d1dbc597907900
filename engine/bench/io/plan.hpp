// SPDX-License-Identifier: Apache-2.0
// The parallel file test's plan: a pure function of the request, of who is there and of the names that ranks have;
// `--dry-run` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "bench/plan.hpp"
#include "schedule/file_layout.hpp"

namespace leadline::bench::io {

/// What a plan needs besides RankLayout: names of hosts in the order of their indices ("host0", "host1" ... where a dry
/// run has none), and the names in --targets.
struct Names {
  std::vector<std::string> hosts;
  std::vector<std::string> targets;
};

struct Estimate {
  std::uint64_t own_bytes = 0;      ///< memory of a rank that does no I/O for others
  std::uint64_t io_rank_bytes = 0;  ///< of one that does: ahead + 1 buffers instead
  double host_bytes = 0;            ///< of all ranks of the fullest host
  std::uint64_t file_bytes = 0;     ///< of all files together
  std::uint64_t funnel_bytes = 0;   ///< through messages, in one phase
};

struct Plan {
  RankLayout rank_layout;
  schedule::FileLayout layout{{}, schedule::all_do_io(1)};
  std::uint64_t buffer_size_bytes = 0;  ///< of an I/O rank of a funnel: a multiple of the object size; else one object
  int num_buffers = 1;                  ///< ahead + 1
  std::uint64_t num_objects = 0;        ///< of a rank; with a time limit the most
  std::vector<PhasePosition> phases;    ///< in order, all repetitions
  std::vector<std::string> templates;   ///< by file: the name with its %r %h %p, also where it is of --targets
  std::int64_t shift_by_ranks = 0;      ///< of reads with ReadShift::ranks; 0 <= it < num_ranks
  std::vector<std::int32_t> reads;  ///< with ReadShift::hosts: by rank, whose objects it reads; else empty, as it is
                                    ///< where no shift can be had and request.is_shift_optional
  Estimate estimate;

  std::uint64_t slots_per_buffer(const IoRequest& request) const {
    return buffer_size_bytes / request.object_size_bytes;
  }
};

/// Throws Error(bad_command_line) that names the option: more I/O ranks than ranks, hosts that are not there, a buffer
/// that is no multiple of an object, too few names in --targets, a name that all ranks would share, %r in a shared
/// name, a shift that has no effect ... In names of N-M, %r is the file's number, and needed where there are several.
Plan plan(const IoRequest& request, const RankLayout& rank_layout, const Names& names);

/// Throws Error(something_missing) where estimate.host_bytes are not there.
void check_memory(const Plan& plan, std::uint64_t available_bytes);

/// The rank whose objects this rank reads: itself, or as the shift says. Every rank is read exactly once.
std::int32_t reads_for(const Plan& plan, const IoRequest& request, int rank);

/// What stands for %r, %h and %p in a name.
struct NameParts {
  std::int32_t rank = 0;  ///< that opens the file; N-M: the file's number, from 0
  std::string host;
  std::int32_t pid = 0;
};

/// %r, %h, %p and %% are replaced; throws Error(bad_command_line) at any other %.
std::string expand_target(const std::string& name, const NameParts& parts);

/// Of a plan that is complete but for its estimate.
Estimate estimate_of(const IoRequest& request, const Plan& plan);

/// The same shift in 0 .. num_ranks - 1. Throws Error(bad_command_line) where every rank would read its own.
std::int64_t shift_by_ranks(std::int64_t by, int num_ranks);

/// By rank: the rank in the same position on the host `by` hosts further on. Where hosts have unequal numbers of ranks,
/// ranks in the order of hosts are shifted as a whole, so far that none reads what its own host wrote. Throws
/// Error(bad_command_line) where there is one host, the shift leads back to it, or one host has more ranks than all
/// others together.
std::vector<std::int32_t> reads_by_hosts(std::int64_t by, const RankLayout& rank_layout);

}  // namespace leadline::bench::io
