// SPDX-License-Identifier: Apache-2.0
// The result of a link test in a file of either format, row by row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/link/fields.hpp"
#include "model/pair_cell.hpp"
#include "model/provenance.hpp"
#include "model/samples.hpp"

namespace leadline::bench::link {

/// One time of each partner that a rank has measured, ascending by partner.
struct MeasuredTimes {
  std::vector<std::uint32_t> partners;
  std::vector<double> times_ns;
};

/// An open result, complete or not. Indices are positions in the lists of header(). Memory: O(ranks). All members throw
/// Error(run_failed) naming the file and what is wrong in it; nothing in a file is trusted. Not for several threads.
class ResultReader {
 public:
  /// Throws as kind_of_file does; also bad_command_line for what is no result of a link test, run_failed for a damaged
  /// one or a later format. A SION file that was not finished is read as far as it goes.
  static std::unique_ptr<ResultReader> open(const std::string& path);

  ResultReader() = default;
  virtual ~ResultReader() = default;
  ResultReader(const ResultReader&) = delete;
  ResultReader& operator=(const ResultReader&) = delete;

  virtual const std::string& path() const = 0;
  virtual const Header& header() const = 0;

  /// What `rank` measured towards every other. Times are finite and not negative; those of statistics that a compact
  /// file lacks are 0.
  virtual PairRow row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) = 0;

  /// One statistic of row() alone; 0 = not measured.
  virtual std::vector<double> times_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                                       PairTime time) {
    return row(repeat_index, size_index, rank)[time];
  }

  /// The same, of those alone that it has measured.
  virtual MeasuredTimes measured_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank, PairTime time);

  /// What `rank` measured in each round; only with header().stored_rounds.
  virtual std::vector<PairCell> cells_of_rounds(std::size_t /*repeat_index*/, std::size_t /*size_index*/,
                                                std::int64_t /*rank*/) {
    return {};
  }

  /// The all-to-all before each round, by its number (0-based); header().num_all_to_all_slots of them. 0 = not
  /// measured.
  virtual std::vector<double> all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) = 0;

  /// The round (1-based) in which `rank` meets each other, of several the last one; empty unless header().has_rounds.
  virtual std::vector<std::int32_t> rounds(std::size_t repeat_index, std::int64_t rank) = 0;

  /// The rank on this seat under each permutation.
  virtual std::vector<std::int32_t> ranks_on_seat(std::int64_t seat) = 0;

  virtual RankPlacement placement(std::int64_t rank) = 0;

  /// What LinkTest calls the location of a rank: on Linux rank, 0, 0, 0.
  virtual std::array<std::int32_t, 4> location(std::int64_t rank) = 0;
};

/// Threads that work on such a file: what a login node can spare.
inline constexpr std::size_t workers_on_file = 2;

/// Throws Error(bad_command_line) where the file is a result of another test. `verb`: what the command would have done.
void expect_link_test(const std::string& path, const std::string& verb);

/// For --verbose: "opened 'r.h5': 64 ranks, 2 message sizes in 1 repeat, complete".
std::string opened_text(const ResultReader& reader);
std::string opened_text(const std::string& path, const result::RunHeader& header, std::size_t num_repeats);

// For those who implement it.

/// Times that are not finite, or negative, are damage.
void expect_times(const std::string& path, const PairRow& row, std::int64_t rank);

void expect_times(const std::string& path, const std::vector<double>& times_ns, std::int64_t rank);

/// What the file of another program tells of its run.
struct ForeignRun {
  std::string command_line = "[]";  ///< a JSON array of words
  std::string transport;
  std::size_t num_hosts = 0;
  std::int64_t num_rounds = 0;
  Direction direction = Direction::semidirectional;
};

/// As an own file has it; all else is empty. header.num_ranks is known.
void set_provenance(Header& header, const ForeignRun& run);

/// What headers of all formats have in common: lists that are not empty, ranks and slices that exist.
void check_header(const std::string& path, const Header& header);

}  // namespace leadline::bench::link
