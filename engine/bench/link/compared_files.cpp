// SPDX-License-Identifier: Apache-2.0
// Opens two results and compares what both have.
#include "bench/link/compared_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/link/matched_results.hpp"
#include "bench/link/reader.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "diagnosis/compare.hpp"
#include "diagnosis/rows.hpp"
#include "network/parse_network.hpp"

namespace leadline::bench::link {
namespace {

std::vector<std::uint64_t> chosen_sizes(const ComparedFiles& files, const MatchedResults& matched) {
  const auto& sizes = matched.message_sizes_bytes();
  if (!files.size_bytes) return sizes;
  if (std::ranges::find(sizes, *files.size_bytes) != sizes.end()) return {*files.size_bytes};
  throw Error(ExitStatus::bad_command_line,
              fmt::format("there is no message size {} in both results", format_bytes(*files.size_bytes)), {},
              "Leave out --message-size to compare all that there are");
}

}  // namespace

std::vector<Comparison> compare_files(const ComparedFiles& files, command::StepLog& steps) {
  expect_link_test(files.before, "compare");
  expect_link_test(files.after, "compare");
  const auto before = ResultReader::open(files.before), after = ResultReader::open(files.after);
  steps.tell(opened_text(*before));
  steps.done(opened_text(*after));
  MatchedResults matched(*before, *after);
  if (!files.topology.empty()) {
    matched.layout().network = network::parse_network(files.topology, matched.layout().host_names);
  }
  const auto num_ranks = static_cast<std::uint32_t>(diagnosis::num_ranks(matched.layout()));
  constexpr float lowest = diagnosis::LogCode::of_ratios;
  std::optional<diagnosis::DenseRows> dense;
  std::optional<diagnosis::SparseRows> sparse;
  std::vector<Comparison> comparisons;
  for (const std::uint64_t size : chosen_sizes(files, matched)) {
    const auto loaded = [&](diagnosis::Compared which) -> const diagnosis::Rows& {
      if (matched.is_sparse()) {
        matched.load(which, size, sparse.emplace(num_ranks, workers_on_file, lowest));
        return *sparse;
      }
      if (!dense) dense.emplace(num_ranks, workers_on_file, lowest);
      matched.load(which, size, *dense);
      return *dense;
    };
    Comparison comparison = diagnosis::compare({loaded, matched.layout(), files.settings, size});
    if (comparisons.empty()) comparison.notes = matched.notes();
    steps.done(fmt::format("compared {}: {} ordered pairs in both", format_bytes(size), comparison.num_pairs));
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace leadline::bench::link
