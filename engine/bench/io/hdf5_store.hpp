// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bench/io/fields.hpp"
#include "bench/io/output.hpp"
#include "bench/io/result.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::io {

inline constexpr std::size_t phase_summary_size = 1 << 15;

/// Written by the root, `state` last. Bytes from the beginning of the file, as in all that follows.
struct PhaseOffsets {
  std::uint64_t operation = 0, repeat = 0, state = 0, summary = 0;
};

/// Of /io/phases/state.
enum class State : std::uint8_t { absent, complete, failed };

struct Offsets {
  result::RunOffsets run;
  PhaseOffsets phases;
  result::hdf5::FieldOffsets<RankPhase> ranks{};
};

/// What the phases of so many ranks take in the file, about. No error where that is more than any number holds.
double size_of_phases(const Header& header);

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

/// Local: the row of a phase in the tables of phases. `before`: what the file has of it; a root that was lost may have
/// kept a longer summary. Throws Error(run_failed).
void write_phase(const result::OutputFile& file, const PhaseOffsets& offsets, const PhaseSummary& summary,
                 State before);

class Hdf5Store : public result::RunStore<IoFile, IoResult, Header, Offsets> {
 public:
  /// Collective; see open_io_file.
  Hdf5Store(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup);

  /// All ranks throw the error of any; what the root alone writes fails there alone.
  void write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) override;
  void keep_interrupted(const PhaseSummary& summary) override;

 private:
  void expect_room_for(const PhasePosition& position) const;
  void write_row(const PhasePosition& position, const RankPhase& own);
  /// A rank's row: what each table has of it, and where it lies.
  std::vector<result::PlacedBytes> pieces_of(const PhasePosition& position, const RankPhase& row, int rank) const;
  State state_of(const PhasePosition& position);
  void write_phase(const PhaseSummary& summary);
  void put_phase(const PhaseSummary& summary);

  std::mutex mutex_;             ///< between the end of a phase and a failure that the watch reports
  bool is_interrupted_ = false;  ///< nothing else comes
};

}  // namespace leadline::bench::io
