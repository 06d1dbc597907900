// SPDX-License-Identifier: Apache-2.0
// What a diagnosis works on, from a topology test's cells or from its file: the same for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/topology/fields.hpp"
#include "bench/topology/hdf5_reader.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/result.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

/// Arrivals of more repeats are left out, so that a rank keeps a bounded number of them.
inline constexpr std::int32_t most_judged_repeats = 64;

/// Which messages of a topology are judged: all, or so many of them by chance, the same ones in the run and in its
/// file. With a pair both directions are judged.
class JudgedMessages {
 public:
  /// About so many: 16 MiB of them on the root, and as much again for each step of the diagnosis.
  static constexpr std::uint64_t most = 1 << 20;

  explicit JudgedMessages(std::uint64_t num_messages);

  bool has(std::uint32_t from, std::uint32_t to) const;

 private:
  std::uint64_t limit_;  ///< of a pair's number by chance
};

/// Why nobody can be judged by what arrives in a topology; empty = somebody may be. Known without any arrival.
std::string why_untested(const TopologyRequest& request, const schedule::TopologySpec& topology);
std::string why_untested(const Header& header, std::size_t topology_index);

/// A topology with a size, without its observations.
diagnosis::ObservedSlice slice_of(const Header& header, std::size_t topology_index, std::size_t size_index);

/// Adds those of a topology with the size of the slice.
void add_pairs_alone(std::span<const PairAlone> pairs, std::size_t topology_index, diagnosis::ObservedSlice& slice);

/// From the file what is said of a topology with a size; nothing where it was not measured.
std::optional<DiagnosedSlice> diagnosed(const Hdf5Reader& reader, std::size_t topology_index, std::size_t size_index,
                                        const diagnosis::Layout& layout, const DiagnosisSettings& settings);

}  // namespace leadline::bench::topology
