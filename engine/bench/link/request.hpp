// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline link`: one member per option, same names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "model/diagnosis.hpp"
#include "model/request.hpp"
#include "model/samples.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::bench::link {

/// When all ranks exchange messages with all others, beside the rounds.
enum class AllToAll : std::uint8_t {
  none,
  around,            ///< before the first round and after the last one of a slice
  before_each_round  ///< as LinkTest 1.2 does
};

/// What an HDF5 file has of each ordered pair.
enum class PairStatistics : std::uint8_t {
  automatic,  ///< full while the file stays small, compact above
  full,       ///< all fields of PairRecord, and the round in which the pair meets
  compact,    ///< PairCell: four bytes
};

inline constexpr std::uint64_t max_batches = 100'000;

/// Whose measurement a run repeats, so that its numbers can stand beside those of the other program.
enum class Like : std::uint8_t { none, osu_latency, osu_bw, osu_bibw, osu_mbw_mr, imb_pingpong, mpigraph };

/// How many messages a measurement has from a message size on.
struct MessagesFrom {
  std::uint64_t size_bytes = 0;
  std::uint64_t num_messages = 1;
  std::uint64_t num_warmup = 0;
  bool operator==(const MessagesFrom&) const = default;
};

/// What a run must reach to end with status 0.
struct FailBelow {
  enum class Kind : std::uint8_t {
    nothing,                ///< it ends with 0 whatever it finds
    share,                  ///< of the speed of the baseline, or of others of its class
    bandwidth_bytes_per_s,  ///< of the slowest pair
    time_ns,                ///< the same, as the longest time
  };
  Kind kind = Kind::nothing;
  double value = 0;
  std::string text;  ///< as it was given
};

/// Sizes in bytes, times in seconds. By default a small and a large message: the one shows latency, the other one
/// bandwidth.
struct LinkRequest : RunRequest {
  LinkRequest() { message_sizes_bytes = {1024, 1 << 20}; }

  std::uint64_t num_messages = 100;
  std::uint64_t num_warmup = 10;
  std::uint32_t num_batches = 20;              ///< timed batches a measurement is cut into (at most num_messages)
  std::vector<MessagesFrom> messages_by_size;  ///< ascending; smaller messages: num_messages after num_warmup
  Like like = Like::none;
  std::uint32_t window = 64;  ///< unidirectional and bidirectional: messages in flight
  Direction direction = Direction::semidirectional;
  AllToAll all_to_all = AllToAll::none;
  std::uint64_t all_to_all_size_bytes = 0;  ///< of each message; 0 = the message size of the slice
  bool bisection = false;                   ///< only pairs across the two halves of the ranks, or of the hosts
  bool between_hosts = false;               ///< host against host, only pairs on different hosts
  bool one_per_host = false;                ///< only the lowest rank of each host takes part in the rounds
  double budget_s = 0;                      ///< random rounds until so much time is used; 0 = all rounds
  std::int64_t rounds = 0;                  ///< so many randomly sampled rounds; 0 = no such limit
  bool serial = false;
  bool shift = false;  ///< each rank sends to one and receives from another at once, a window of messages each
  std::vector<std::int64_t> only_rounds;  ///< 1-based, in this order; empty = all
  bool shuffle_rounds = false;
  int shuffle_ranks = 0;                  ///< number of random permutations of the ranks; 0 = none
  std::uint64_t seed = 1;                 ///< what the seeds are where they are not given
  std::uint64_t shuffle_rounds_seed = 1;  ///< of the order of the rounds
  std::uint64_t shuffle_ranks_seed = 1;   ///< of the permutations of the ranks
  double min_time_s = 0;                  ///< repeat the whole test until so much time has been measured
  int retest = 10;                        ///< so many slowest pairs are measured again, alone
  bool no_diagnosis = false;
  std::string topology;                ///< the physical network: a formula, a file, a pattern; empty = unknown
  std::string routes;                  ///< forwarding tables of the physical network; empty = unknown
  DiagnosisSettings diagnosis;         ///< --threshold, --false-discovery-rate
  std::string profile;                 ///< a site profile to judge by; empty = none
  std::vector<std::string> baselines;  ///< --baseline: results to compare with
  FailBelow fail_below;
  bool strict = false;        ///< status 1 where a fault is found
  bool health_check = false;  ///< one line, and a status
  PairStatistics statistics = PairStatistics::automatic;
  std::uint32_t num_buffers = 1;  ///< send and receive buffers that messages take in turn
  bool check_buffers = false;     ///< after each timed measurement, compare what lies in the receive buffers
};

/// Whether rounds are sampled at random instead of all being run.
inline bool is_sample(const LinkRequest& request) { return request.budget_s > 0 || request.rounds > 0; }

const char* name_of(Like like);
std::span<const Named<Like>> names_of(Like any);
const char* name_of(AllToAll all_to_all);
std::span<const Named<AllToAll>> names_of(AllToAll any);
const char* name_of(PairStatistics statistics);
std::span<const Named<PairStatistics>> names_of(PairStatistics any);

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, LinkRequest& request, std::optional<ResultFormat>& format);

/// From what a result says of its options, of those alone that decide which ranks meet in which round. Throws
/// Error(bad_command_line) for what is no value of one.
LinkRequest schedule_request(const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace leadline::bench::link
