// SPDX-License-Identifier: Apache-2.0
// How to open the result file of a link test: HDF5, SION, JSON or none at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bench/link/fields.hpp"
#include "bench/link/output.hpp"
#include "bench/link/result.hpp"
#include "cluster/cluster.hpp"
#include "model/request.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::link {

/// Its life: open_link_file, reserve_repeats, any number of writes, finish.
using LinkFile = result::ResultFile<RowStore, LinkResult>;

/// Which repeats of a run a file keeps the rows of.
enum class KeptRepeats : std::uint8_t {
  all,            ///< SION: as many as are reserved first; more are an Error
  last,           ///< SION only: room for one, written over by the next
  one_file_each,  ///< SION only: NAME_i001.sion, NAME_i002.sion ..., each whole once its repeat is
};

/// What a SION file holds of a run.
enum class SionRecord : std::uint8_t {
  plain,     ///< LinkTest 1.2's record: the first message size of the first repeat
  extended,  ///< that, and behind it all else that an HDF5 file holds
};

struct LinkFileSetup : result::RunFileSetup {
  KeptRepeats kept_repeats = KeptRepeats::all;
  SionRecord sion_record = SionRecord::extended;
  int num_repeats = 0;  ///< as many as are known by now; reserve_repeats() still gives them their places

  /// Rank on each seat of a permutation; called on rank 0, once for each of request.shuffle_ranks.
  std::function<std::vector<std::int32_t>(int permutation)> permutation;
  /// Index of the permutation that a repeat runs under, -1 = none; called on rank 0.
  std::function<int(int repeat)> permutation_of_repeat;
  /// For each partner the number (1-based, of the plain schedule) of the round in which `rank` meets it, 0 = in none;
  /// called on every rank for itself, on rank 0 also for those that are lost. Empty: the file has no such numbers.
  std::function<std::vector<std::int32_t>(int rank, int repeat)> rounds;
  /// Randomly sampled rounds of which an HDF5 file shall have only what was measured; the same on all ranks.
  std::optional<StoredRounds> stored_rounds;
};

/// Local: before there is memory for messages. Throws Error(bad_command_line) for numbers that the format has no room
/// for.
void check_format_holds(ResultFormat format, const LinkRequest& request);

/// Collective: creates and checks the file before the first message and writes what is known: `so_far` is request,
/// provenance and num_rounds. Throws on every rank the same Error, which names the path: bad_command_line (exists, is a
/// directory, no such directory; SION: a number that its fields cannot hold), something_missing (no permission),
/// run_failed (no space).
std::unique_ptr<LinkFile> open_link_file(cluster::Cluster& cluster, const LinkResult& so_far, LinkFileSetup setup);

}  // namespace leadline::bench::link
