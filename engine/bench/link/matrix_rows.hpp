// SPDX-License-Identifier: Apache-2.0
// A result file's matrix as a diagnosis takes it: who stands where, and logarithms by rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/link/reader.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "network/network.hpp"

namespace leadline::bench::link {

/// Hosts, sockets and names of all ranks; nothing of the network. Throws what `placement_of`
/// throws.
diagnosis::Layout layout_of(std::int64_t num_ranks,
                            const std::function<RankPlacement(std::int64_t rank)>& placement_of);

/// The network of these hosts: that which `topology` says, or where it is empty, that of the run, as a result has it
/// (network::stored_text(), `path` is for messages); none where neither is known. Throws what parse_network() throws,
/// and Error(run_failed) where the result is damaged.
network::Network network_for(const std::string& topology, const std::string& stored, const std::string& path,
                             const std::vector<std::string>& hosts);

/// The same of an open result of any benchmark.
network::Network network_for(const std::string& topology, const auto& reader, const std::vector<std::string>& hosts) {
  return network_for(topology, reader.header().network, reader.path(), hosts);
}

/// A slice's matrix as it is asked for: logarithms of times for slow components, or of mean over median for unsteady
/// ones. One of them lies in memory at a time. Reading and coding go side by side. Stored rounds
/// have no means, and of them only what was measured is there.
class SliceRows {
 public:
  /// `reader` outlives it.
  SliceRows(ResultReader& reader, std::size_t repeat_index, std::size_t size_index, std::size_t num_workers);

  /// Reads what is not there yet. Throws what the reader throws.
  const diagnosis::Rows& of(Symptom symptom);

 private:
  void load(PairTime time, diagnosis::DenseRows& rows);
  void load_sparse(diagnosis::SparseRows& rows);
  std::vector<std::int32_t> rounds(std::int64_t rank);

  ResultReader& reader_;
  std::size_t repeat_index_, size_index_;
  std::size_t num_workers_;
  std::optional<diagnosis::DenseRows> dense_;
  std::optional<diagnosis::SparseRows> sparse_;
  std::optional<Symptom> loaded_;
};

/// What the file says of pairs that were measured again in this slice; NaN for all others. Empty where it has none.
diagnosis::Recorded recorded_retests(const ResultReader& reader, std::size_t repeat_index, std::size_t size_index);

}  // namespace leadline::bench::link
