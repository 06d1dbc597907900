// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a topology test in an HDF5 file, checking shapes and types before anything is read.
#include "bench/topology/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/json.hpp"
#include "result/file_kind.hpp"
#include "result/hdf5/described_structs.hpp"

namespace leadline::bench::topology {
namespace {

constexpr std::uint64_t messages_at_once = 1 << 16;  // of each repeat

std::string group_of(std::size_t index) { return fmt::format("topologies/{:04}", index); }

/// Null where it was not measured.
const Json& total_of(const Json& place) {
  return place.find("exchange") != nullptr ? place.at("exchange").at("at_median").at("total_bytes_per_s")
                                           : place.at("total_bytes_per_s");
}

void take_best(const Json& places, const Header& header, std::vector<std::optional<BestRates>>& best) {
  for (const Json& place : places.elements()) {
    if (total_of(place).is_null()) continue;
    const auto total = total_of(place).get<double>();
    const auto index = place.at("topology_index").get<std::size_t>();
    std::optional<BestRates>& rates = best.at(index);
    if (rates && rates->rates.total >= total) continue;
    const KeptTopology& topology = header.topologies[index];
    const auto served = [&](const char* name, std::int64_t of_all) {
      return static_cast<double>(place.find(name) != nullptr ? place.at(name).get<std::int64_t>() : of_all);
    };
    const double average = total / served("num_channels", topology.num_channels);
    rates = BestRates{place.at("message_size_bytes").get<std::uint64_t>(),
                      place.at("repeat").get<std::int64_t>(),
                      {.local = average * served("max_channels_rank", topology.max_channels_rank),
                       .total = total,
                       .average = average}};
  }
}

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  open(
      "topology", header_, [this] { read_header(); }, [this] { (void)num_load_points(); });
}

void Hdf5Reader::read_header() {
  header_.topologies.clear();
  for (std::size_t index = 0; file().has(group_of(index)); ++index) {
    KeptTopology& topology = header_.topologies.emplace_back();
    result::hdf5::read_facts(file(), group_of(index), topology);
    if (topology.num_channels < 1) file().fail("/" + group_of(index) + " has no channels");
  }
  if (header_.topologies.empty()) file().fail("there is no topology");
  header_.has_load = file().has("load");
  if (!header_.has_load) read_extent_of_cells(group_of(0));
}

void Hdf5Reader::read_extent_of_cells(const std::string& group) {
  const result::hdf5::Shape shape = file().shape_of(group + "/exchange_time_ns");
  const bool is_of_all_sizes = shape.size() == 3 && shape[1] == header_.message_sizes_bytes.size();
  if (!is_of_all_sizes || shape[0] > std::numeric_limits<std::int32_t>::max()) {
    file().fail("/" + group + "/exchange_time_ns has another shape than the rest");
  }
  header_.num_repeats = static_cast<std::int32_t>(shape[0]);
  header_.num_iterations = static_cast<std::int64_t>(shape[2]);
}

std::size_t Hdf5Reader::num_load_points() const {
  if (!header_.has_load) return 0;
  return result::hdf5::reading(path(), [&] {
    const result::hdf5::Shape shape = file().shape_of("load/elapsed_s");
    if (shape.size() != 1 || shape[0] > max_load_points) file().fail("/load/elapsed_s is no list of points");
    const auto elapsed_s = file().numbers<double>("load/elapsed_s", shape, {{0}, shape});
    return static_cast<std::size_t>(std::ranges::count_if(elapsed_s, [](double elapsed) { return elapsed > 0; }));
  });
}

void Hdf5Reader::visit_arrivals(std::size_t topology_index, std::size_t size_index, std::int32_t num_repeats,
                                const std::function<void(std::span<const Arrival> of_some_ranks)>& look) const {
  if (header_.has_load) return;
  using result::hdf5::Shape;
  result::hdf5::reading(path(), [&] {
    const std::string group = group_of(topology_index);
    const auto num_ranks = static_cast<std::size_t>(header_.num_ranks);
    const Shape ends{num_ranks + 1};
    const auto row_start = file().numbers<std::uint64_t>(group + "/row_start", ends, {{0}, ends});
    const auto num = 2 * static_cast<std::uint64_t>(header_.topologies[topology_index].num_channels);
    if (!std::ranges::is_sorted(row_start) || row_start.front() != 0 || row_start.back() != num) {
      file().fail("/" + group + "/row_start does not fit the channels");
    }
    const Shape shape{static_cast<hsize_t>(header_.num_repeats), header_.message_sizes_bytes.size(), num};
    for (std::size_t first = 0; first < num_ranks;) {
      std::size_t end = first + 1;
      while (end < num_ranks && row_start[end + 1] - row_start[first] <= messages_at_once) ++end;
      const std::uint64_t begin = row_start[first], num_here = row_start[end] - begin;
      std::vector<Arrival> arrivals;
      const auto partners = file().numbers<std::int32_t>(group + "/partner", {num}, {{begin}, {num_here}});
      for (std::int32_t repeat = 0; num_here > 0 && repeat < num_repeats; ++repeat) {
        const auto times_ns = file().numbers<double>(
            group + "/arrival_time_ns", shape, {{static_cast<hsize_t>(repeat), size_index, begin}, {1, 1, num_here}});
        for (std::size_t rank = first; rank < end; ++rank) {
          for (std::uint64_t at = row_start[rank] - begin; at < row_start[rank + 1] - begin; ++at) {
            if (partners[at] < 0 || partners[at] >= header_.num_ranks) {
              file().fail("/" + group + "/partner has a rank that does not exist");
            }
            if (times_ns[at] > 0) {
              arrivals.push_back(
                  {static_cast<std::uint32_t>(partners[at]), static_cast<std::uint32_t>(rank), times_ns[at]});
            }
          }
        }
      }
      look(arrivals);
      first = end;
    }
  });
}

std::vector<std::optional<BestRates>> best_rates(const Header& header, const std::string& path) {
  std::vector<std::optional<BestRates>> best(header.topologies.size());
  result::read_summary(
      header.summary, path, "a topology test",
      [&](const Json& summary) {
        take_best(summary.at("cells"), header, best);
        take_best(summary.at("load"), header, best);
      },
      "a topology");
  return best;
}

}  // namespace leadline::bench::topology
