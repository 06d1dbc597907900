// SPDX-License-Identifier: Apache-2.0
// The result of a link test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/link/fields.hpp"
#include "bench/link/file.hpp"
#include "model/pair_cell.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::link {

inline constexpr std::size_t location_size = 4;  ///< numbers a rank

inline constexpr const char* cells_name = "pair";                    ///< of the dataset, in the compact form
inline constexpr const char* cells_of_rounds_name = "sampled_pair";  ///< where rounds are stored

/// Whether a rank meets each other, from the rounds in which it does (0 = in none); empty where these are.
std::vector<bool> in_schedule(std::span<const std::int32_t> rounds);

/// A row in the compact form; `is_met` from in_schedule(), empty where it is not known. `lost`: why nothing was
/// measured with each partner, 0 = not lost; empty where none is.
std::vector<PairCell> cells_of(const PairRow& row, const std::vector<bool>& is_met,
                               std::span<const PairCell> lost = {});

/// Places in the file that are written while HDF5 has it closed. Bytes from its beginning.
struct FixedOffsets : result::RunOffsets {
  std::uint64_t permutations = 0;
  std::uint64_t location = 0;  ///< only with header.linktest
};

/// The matrices of one repeat. 0 = not in the file.
struct RepeatOffsets {
  std::uint64_t round = 0, all_to_all_time_ns = 0;
  result::hdf5::FieldOffsets<PairRecord> pairs{};  ///< of the full form
  std::uint64_t cells = 0;                         ///< of the compact form, also where rounds are stored
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets, and closes it. Repeats
/// and what belongs to the end of a run are left out. Throws Error(run_failed), as do the next two.
FixedOffsets create_structure(const std::string& path, const Header& header);

/// Local: adds the groups of these repeats in one go, so that the file is open for an instant only. What there is of
/// them is from a root that was lost, and goes.
std::vector<RepeatOffsets> add_repeats(const std::string& path, const Header& header,
                                       std::span<const KeptRepeat> repeats);

/// Local: adds those of /retest, /summary and the time of the end that the header has, likewise.
void add_end(const std::string& path, const Header& header);

/// What rank 0 knows of the file.
struct MadeOffsets {
  result::RunOffsets run;
  std::vector<RepeatOffsets> repeats;  ///< those in the file
};

class Hdf5Store : public result::RunStore<LinkFile, LinkResult, Header, MadeOffsets> {
 public:
  /// Collective; see open_link_file.
  Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, LinkFileSetup setup);

  void reserve_repeats(int num_repeats) override;
  void note_lost(int partner, PairCell why) override;
  void write(const Slice& slice, const PairRow& row) override;
  void write_all_to_all(const Slice& slice, std::span<const double> time_ns) override;
  void write_rounds(int repeat, std::span<const std::int32_t> rounds) override;
  void write_cells_of_rounds(const Slice& slice, std::span<const PairCell> cells) override;

 private:
  void add_end(const LinkResult& result) override;
  void put_rounds(std::span<const std::int32_t> rounds, const RepeatOffsets& offsets, std::optional<Error>& error);
  void find_partners(int repeat);

  LinkFileSetup setup_;
  bool draws_rounds_;                   ///< at random: which rank meets which is known afterwards
  std::vector<RepeatOffsets> repeats_;  ///< those that are reserved
  int repeat_of_met_ = -1;              ///< compact form: which repeat the next is of, -1 = none
  std::vector<bool> is_met_;            ///< by this rank, each partner; empty = not known yet
  std::vector<PairCell> lost_;          ///< compact form: see cells_of()
};

}  // namespace leadline::bench::link
