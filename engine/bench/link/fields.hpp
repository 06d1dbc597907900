// SPDX-License-Identifier: Apache-2.0
// Everything that the result file of a link test says beside its matrices, in the form that all formats can hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/link/result.hpp"
#include "result/run_header.hpp"
#include "schedule/sampled_rounds.hpp"

namespace leadline::bench::link {

/// One repeat of the whole test whose rows are in the file.
struct KeptRepeat {
  std::int32_t repeat = 0;        ///< 0-based, as the run counted
  std::int32_t permutation = -1;  ///< -1 = ranks as they are
};

/// One of the slowest pairs, and its slice.
struct Retest {
  std::int32_t repeat = 0, size_index = 0;
  std::int32_t from = 0, to = 0;
  double time_ns = 0, retest_time_ns = 0;  ///< 0 = not retested
};

/// A pair that was measured again.
struct MeasuredAgain {
  std::int32_t repeat = 0, size_index = 0;
  std::int32_t from = 0, to = 0;
  std::int32_t is_alone = 1;
  double time_ns_median = 0, time_ns_mean = 0;
};

/// What only LinkTest 1.2 itself writes, kept so that its record can be written again byte for byte.
struct LinkTestOrigin {
  std::int32_t num_iterations = 0;
  std::int32_t message_size_bytes = 0;
  bool has_all_to_all = false, is_serial = false, is_permuted = false;
  std::array<double, 3> times_s{}, all_to_all_times_s{};  ///< least, greatest, mean
};

/// Randomly sampled rounds that an HDF5 file has as they were: a PairCell for each rank and round. Who met whom
/// follows.
struct StoredRounds {
  schedule::Sample sample;             ///< as many rounds as there is room for
  std::vector<std::uint32_t> host_of;  ///< by rank, numbered by first appearance
};

/// A result without its rows. Lists are in the order of the file.
struct Header : result::RunHeader {
  std::int32_t num_permutations = 0;  ///< that the file holds
  std::vector<KeptRepeat> repeats;
  bool has_rounds = false;
  bool has_later_statistics = true;           ///< full form: those that the first version did not have; SION has none
  bool is_compact = false;                    ///< an HDF5 file with a PairCell of each pair, or of each rank and round
  std::optional<StoredRounds> stored_rounds;  ///< compact form: only the rounds are stored, not a matrix
  std::int64_t num_all_to_all_slots = 0;  ///< rounds that can have a time of the all-to-all before them; 0 = none has

  std::optional<std::vector<Retest>> retests;
  std::optional<std::vector<MeasuredAgain>> second_measurements;  ///< files of earlier versions have retests only
  std::optional<std::int64_t> num_rounds_run;  ///< of a finished run whose number of rounds only its end knows
  std::optional<LinkTestOrigin> linktest;
};

/// What a run knows before its first message: no repeats, not complete.
Header header_of(const LinkResult& so_far, const std::string& nonce);

/// The slowest pairs of all slices.
std::vector<Retest> retests_of(const LinkResult& result);

/// What was measured again in all slices, in order.
std::vector<MeasuredAgain> second_measurements_of(const LinkResult& result);

/// For how many rounds of a slice a file keeps the times of the all-to-all before each; 0 where there are none. At most
/// two a rank: serial rounds are as many as pairs, so that the tables would grow with the cube of the ranks.
std::int64_t num_all_to_all_slots(const LinkResult& so_far, std::int64_t num_ranks);

/// Makes it the header of a file that stores rounds.
void store_rounds(Header& header, StoredRounds rounds);

/// Rounds that were run, at most as many as there is room for: those behind them have no cells.
std::int64_t num_rounds_stored(const Header& header);

/// One of the times of LinkTest's record, least, greatest, mean.
template <std::array<double, 3> LinkTestOrigin::*times, std::size_t index>
constexpr auto time_of_record = [](auto& origin) -> auto& {
  return (origin.*times)[index];
};

constexpr auto fields_of(Type<LinkTestOrigin> /*any*/) {
  return std::tuple{
      field("num_iterations", &LinkTestOrigin::num_iterations, "1", "as LinkTest was told"),
      field("message_size_bytes", &LinkTestOrigin::message_size_bytes, "bytes", "size of a message"),
      field("has_all_to_all", &LinkTestOrigin::has_all_to_all, "", "whether there were exchanges of all with all"),
      field("is_serial", &LinkTestOrigin::is_serial, "", "one pair at a time"),
      field("is_permuted", &LinkTestOrigin::is_permuted, "", "ranks in another order"),
      field("time_s_min", time_of_record<&LinkTestOrigin::times_s, 0>, "s", "fastest pair"),
      field("time_s_max", time_of_record<&LinkTestOrigin::times_s, 1>, "s", "slowest pair"),
      field("time_s_mean", time_of_record<&LinkTestOrigin::times_s, 2>, "s", "mean over the pairs"),
      field("all_to_all_time_s_min", time_of_record<&LinkTestOrigin::all_to_all_times_s, 0>, "s",
            "fastest exchange of all with all"),
      field("all_to_all_time_s_max", time_of_record<&LinkTestOrigin::all_to_all_times_s, 1>, "s", "slowest one"),
      field("all_to_all_time_s_mean", time_of_record<&LinkTestOrigin::all_to_all_times_s, 2>, "s", "their mean"),
  };
}

constexpr auto fields_of(Type<Retest> /*any*/) {
  return std::tuple{
      field("repeat", &Retest::repeat, "1", "repeat, from 0"),
      field("size_index", &Retest::size_index, "1", "position in message_size_bytes, from 0"),
      field("from", &Retest::from, "1", "rank whose row it is"),
      field("to", &Retest::to, "1", "its partner"),
      field("time_ns", &Retest::time_ns, "ns", "time a message under load, median of the batches"),
      field("retest_time_ns", &Retest::retest_time_ns, "ns", "the same, measured alone; 0 = not retested"),
  };
}

constexpr auto fields_of(Type<MeasuredAgain> /*any*/) {
  return std::tuple{
      field("repeat", &MeasuredAgain::repeat, "1", "repeat, from 0"),
      field("size_index", &MeasuredAgain::size_index, "1", "position in message_size_bytes, from 0"),
      field("from", &MeasuredAgain::from, "1", "rank that sends first"),
      field("to", &MeasuredAgain::to, "1", "its partner"),
      field("is_alone", &MeasuredAgain::is_alone, "",
            "1: all other ranks waited; 0: they measured each other, neighbours by rank"),
      field("time_ns_median", &MeasuredAgain::time_ns_median, "ns", "time a message, median of the batches"),
      field("time_ns_mean", &MeasuredAgain::time_ns_mean, "ns", "the same, mean"),
  };
}

}  // namespace leadline::bench::link
