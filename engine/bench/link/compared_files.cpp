// SPDX-License-Identifier: Apache-2.0
// Opens results and compares what all have.
#include "bench/link/compared_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bench/link/matched_results.hpp"
#include "bench/link/matrix_rows.hpp"
#include "bench/link/reader.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "diagnosis/compare.hpp"
#include "diagnosis/rows.hpp"
#include "network/stored_network.hpp"

namespace leadline::bench::link {
namespace {

std::vector<std::uint64_t> chosen_sizes(const ComparedFiles& files, const MatchedResults& matched) {
  const auto& sizes = matched.message_sizes_bytes();
  if (!files.size_bytes) return sizes;
  if (std::ranges::find(sizes, *files.size_bytes) != sizes.end()) return {*files.size_bytes};
  throw Error(ExitStatus::bad_command_line,
              fmt::format("there is no message size {} in all of the results", format_bytes(*files.size_bytes)), {},
              "Leave out --message-size to compare all that there are");
}

/// Of the hosts that are compared: what --topology says, else what the last run was told.
network::Network network_of(const ComparedFiles& files, ResultReader& after, const std::vector<std::string>& hosts) {
  if (!files.topology.empty()) return network_for(files.topology, after, hosts);
  const auto all = layout_of(after.header().num_ranks, [&](std::int64_t rank) { return after.placement(rank); });
  const network::Network network = network_for({}, after, all.host_names);
  return network.hosts.empty() ? network : network::for_hosts(network, hosts);
}

}  // namespace

std::string baselines_text(const std::vector<std::string>& paths) {
  return paths.size() == 1 ? fmt::format("the baseline '{}'", paths.front())
                           : fmt::format("its {} baselines", paths.size());
}

std::vector<Comparison> compare_files(const ComparedFiles& files, command::StepLog& steps) {
  std::vector<std::unique_ptr<ResultReader>> readers;
  std::vector<ResultReader*> before;
  for (const std::string& path : files.before) {
    before.push_back(readers.emplace_back(ResultReader::open(path)).get());
    steps.tell(opened_text(*before.back()));
  }
  const auto after = ResultReader::open(files.after);
  steps.done(opened_text(*after));
  MatchedResults matched(before, *after);
  matched.layout().network = network_of(files, *after, matched.layout().host_names);
  const auto num_ranks = static_cast<std::uint32_t>(diagnosis::num_ranks(matched.layout()));
  constexpr float lowest = diagnosis::LogCode::of_ratios;
  std::optional<diagnosis::DenseRows> dense;
  std::optional<diagnosis::SparseRows> sparse;
  std::vector<Comparison> comparisons;
  for (const std::uint64_t size : chosen_sizes(files, matched)) {
    const auto filled = [&](const auto& fill) -> const diagnosis::Rows& {
      if (matched.is_sparse()) {
        fill(sparse.emplace(num_ranks, workers_on_file, lowest));
        return *sparse;
      }
      if (!dense) dense.emplace(num_ranks, workers_on_file, lowest);
      fill(*dense);
      return *dense;
    };
    const diagnosis::TwoMatrices matrices{.rows = [&](diagnosis::Compared which) -> const diagnosis::Rows& {
                                            return filled([&](auto& rows) { matched.load(which, size, rows); });
                                          },
                                          .layout = matched.layout(),
                                          .settings = files.settings,
                                          .message_size_bytes = size,
                                          .has_classes = matched.has_same_load(),
                                          .num_before = matched.num_before(),
                                          .earlier = [&](std::size_t run) -> const diagnosis::Rows& {
                                            return filled([&](auto& rows) { matched.load_earlier(run, size, rows); });
                                          }};
    Comparison comparison = diagnosis::compare(matrices);
    if (comparisons.empty()) {
      std::vector<std::string> notes = matched.notes();
      if (files.topology.empty() && !after->header().network.empty()) {
        notes.push_back("network, as the last run was told: " + network::words_of_stored(after->header().network));
      }
      if (matched.num_before() == 1) notes.emplace_back(diagnosis::unknown_scatter);
      comparison.notes.insert(comparison.notes.begin(), notes.begin(), notes.end());
    }
    steps.done(fmt::format("compared {}: {} ordered pairs in both", format_bytes(size), comparison.num_pairs));
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace leadline::bench::link
