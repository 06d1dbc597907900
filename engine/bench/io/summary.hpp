// SPDX-License-Identifier: Apache-2.0
// What all ranks together did in a phase, and in all repetitions: the numbers behind a parallel file test's rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "cluster/cluster.hpp"

namespace leadline::bench::io {

struct SlowAndWrong {
  std::vector<SlowCall> slow_calls;  ///< slowest first
  std::vector<WrongObject> wrong;    ///< worst first
};

/// Collective: the slowest `num_slow` calls and the worst `num_wrong` objects of all ranks, on all ranks: of calls that
/// took equally long, and of wrong objects of one kind, those of the lowest ranks. Travels in texts of that length.
SlowAndWrong worst_of_all(cluster::Cluster& cluster, SlowAndWrong own, std::size_t num_slow, std::size_t num_wrong);

/// How many wrong objects of a phase are kept in detail; num_mismatches counts all.
inline constexpr std::size_t num_wrong_kept = 8;

/// What a rank contributes besides its numbers. References outlive the call.
struct PhaseContext {
  const IoRequest& request;
  const std::string& file_system;         ///< of the target
  const std::string& host;                ///< this rank's
  const std::vector<std::string>& files;  ///< names by file
  std::vector<SlowCall> slow_calls;       ///< this rank's slowest, request.num_slow_calls at most; any order
  std::vector<WrongObject> wrong;         ///< this rank's first ones, num_wrong_kept at most
  std::string error;                      ///< agreed: what ended the phase; empty = it is complete
  double stop_ns = 0;                     ///< when this rank stopped since the time limit had passed; 0 = it did not
  const RankPhase* reads = nullptr;       ///< of IoOperation::mix: what of this rank's part was reading,
  const RankPhase* writes = nullptr;      ///< and writing
};

/// Collective: a phase of which `own` is this rank's part. Ranks count that moved bytes of files or have objects of
/// their own; a rank's rate is that of the bytes that it moved to or from files. Of slow calls and wrong objects this
/// fills in rank and host, and the name of the file where it is empty (own.file; mismatch.expected.file).
/// own.cache_after is as when the reported time ends: before a sync that is outside. own.bytes_at_stop of a rank that
/// was done before the limit are all its bytes. The same on all ranks, but for `ranks`, which the root alone gets.
PhaseSummary summarize_phase(cluster::Cluster& cluster, const PhasePosition& position, const RankPhase& own,
                             const PhaseContext& context);

/// Local: the phase has no rate, since this ended it or happened in it.
void make_incomplete(PhaseSummary& summary, const std::string& why);

/// Local: the phase in the middle of which the run ended, and why; nothing where no rank had begun it.
std::optional<PhaseSummary> interrupted_phase(const PhasePosition& position,
                                              const cluster::PartialResults& partial_results, const std::string& why);

/// By operation, writing first: the complete phases' headline rates. Operations without a complete phase are left out.
std::vector<OperationSummary> summarize_operations(const std::vector<PhaseSummary>& phases);

/// Severity, greater is worse: corrupted bytes, then bytes of other objects, then missing bytes.
int severity_of(memory::MismatchKind kind);

}  // namespace leadline::bench::io
