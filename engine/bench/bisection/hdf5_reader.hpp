// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a bisection test what a description of it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/bisection/fields.hpp"
#include "bench/bisection/result.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::bisection {

/// A connection of a rank that received.
struct Received {
  std::int32_t from = 0;
  double time_ns = 0;
};

class Hdf5Reader : public result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const Header& header() const { return header_; }

  /// How many patterns of a message size there are, of every kind; and how many pairs that were measured alone.
  std::uint64_t num_patterns(std::size_t size_index) const;
  std::uint64_t num_baseline(std::size_t size_index) const;

  /// The random ones of the patterns; what a rank received in the first `num` patterns; pairs alone, whose patterns
  /// are left out.
  std::uint64_t num_random(std::size_t size_index) const;
  std::vector<Received> received_of(std::size_t size_index, std::int64_t rank, std::uint64_t num) const;
  std::vector<BaselineSample> baseline_of(std::size_t size_index) const;

 private:
  void read_header();
  std::uint64_t num_measured(const std::string& table, std::uint64_t row_length, std::size_t size_index) const;

  Header header_;
};

/// What of BisectionSummary a description has.
struct KeptSize {
  std::string stopped_by;  ///< in words, so that a reader copes with reasons that it does not know
  IntervalOfBandwidth ebb;
  IntervalOfRatio static_share, contention_share;
  double tail = std::numeric_limits<double>::quiet_NaN();
  double bytes_per_s_harmonic = std::numeric_limits<double>::quiet_NaN();
};

/// By message size; nothing for those that are not in the summary, and in a file without one. Throws Error(run_failed)
/// naming `path` where the summary is not what docs/formats/json.md says.
std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path);

constexpr auto fields_of(Type<KeptSize> /*any*/) {
  return std::tuple{
      field("stopped_by", &KeptSize::stopped_by, "", "why there are no more random patterns"),
      field("ebb", &KeptSize::ebb, "", "effective bisection bandwidth"),
      field("static_share", &KeptSize::static_share, "", "of pairs alone over the fastest one", Since::later_version),
      field("contention_share", &KeptSize::contention_share, "", "of pairs, in the pattern over alone",
            Since::later_version),
      field("tail", &KeptSize::tail, "", "median over 1 % quantile", Since::later_version),
      field("bytes_per_s_harmonic", &KeptSize::bytes_per_s_harmonic, "bytes/s", "Netgauge's number"),
  };
}

/// What `leadline compare` takes of a result of this benchmark. Throws as the reader does; bad_command_line for a
/// result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::bisection
