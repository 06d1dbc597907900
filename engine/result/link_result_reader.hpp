// SPDX-License-Identifier: Apache-2.0
// The result of a link test in a file of either format, row by row.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/pair_cell.hpp"
#include "model/provenance.hpp"
#include "model/samples.hpp"
#include "result/link_result_header.hpp"

namespace leadline::result {

enum class FileKind : std::uint8_t { hdf5, sion, other };

/// By content, whatever its name. Throws Error naming the file: bad_command_line (no such file, no regular file),
/// something_missing (no permission), run_failed (cannot be read; empty; the beginning of HDF5 alone).
FileKind kind_of_file(const std::string& path);

/// Which test a file of that kind is a result of: "link", "topology", "bisection", "io". SION has none but "link",
/// whatever is in the file. Throws as LinkResultReader::open does.
std::string benchmark_of(const std::string& path, FileKind kind);

/// Does work with a file of that kind. A crash of the HDF5 library ends another process, and becomes an
/// Error.
void work_with(const std::string& path, FileKind kind, const std::function<void()>& work);

/// One time of each partner that a rank has measured, ascending by partner.
struct MeasuredTimes {
  std::vector<std::uint32_t> partners;
  std::vector<double> times_ns;
};

/// An open result, complete or not. Indices are positions in the lists of header(). Memory: O(ranks). All members throw
/// Error(run_failed) naming the file and what is wrong in it; nothing in a file is trusted. Not for several threads.
class LinkResultReader {
 public:
  /// Throws as kind_of_file does; also bad_command_line for what is no result of a link test, run_failed for a damaged
  /// one or a later format. A SION file that was not finished is read as far as it goes.
  static std::unique_ptr<LinkResultReader> open(const std::string& path);

  LinkResultReader() = default;
  virtual ~LinkResultReader() = default;
  LinkResultReader(const LinkResultReader&) = delete;
  LinkResultReader& operator=(const LinkResultReader&) = delete;

  virtual const std::string& path() const = 0;
  virtual const LinkResultHeader& header() const = 0;

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

// For those who implement it.

/// "cannot read 'PATH' (damaged: what)".
[[noreturn]] void throw_damaged(const std::string& path, const std::string& what);

/// Times that are not finite, or negative, are damage.
void expect_times(const std::string& path, const PairRow& row, std::int64_t rank);

void expect_times(const std::string& path, const std::vector<double>& times_ns, std::int64_t rank);

/// What headers of all formats have in common: lists that are not empty, ranks and slices that exist.
void check_header(const std::string& path, const LinkResultHeader& header);

}  // namespace leadline::result
