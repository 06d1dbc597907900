// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a topology test.
#include "bench/topology/hdf5_store.hpp"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "bench/run_options.hpp"
#include "bench/topology/json.hpp"
#include "bench/topology/request.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::topology {
namespace {

using result::hdf5::allocate;
using result::hdf5::Handle;
using result::hdf5::make_group;

void allocate_matrices(const Handle& group, const Header& header, std::uint64_t num_directions,
                       TopologyOffsets& offsets) {
  const auto shape = [&](auto row_length) {
    return result::hdf5::Shape{static_cast<hsize_t>(header.num_repeats), header.message_sizes_bytes.size(),
                               static_cast<hsize_t>(row_length)};
  };
  offsets.arrival_time_ns = allocate(group,
                                     {"arrival_time_ns", "ns",
                                      "from the opening barrier until the partner's message is with the rank of the "
                                      "row: median over the traced exchanges; 0 = nothing arrives"},
                                     H5T_NATIVE_DOUBLE, shape(num_directions));
  offsets.ranks = result::hdf5::allocate_fields<CellRow>(group, shape(header.num_ranks));
  offsets.exchange_time_ns =
      allocate(group, {"exchange_time_ns", "ns", "every timed exchange: its slowest rank, without the closing barrier"},
               H5T_NATIVE_DOUBLE, shape(header.num_iterations));
  offsets.exchange_with_barrier_time_ns =
      allocate(group,
               {"exchange_with_barrier_time_ns", "ns",
                "the same by the clock of rank 0, or of the rank that has taken its part, closing barrier included"},
               H5T_NATIVE_DOUBLE, shape(header.num_iterations));
}

TopologyOffsets allocate_topology(const Handle& group, const Header& header, const KeptTopology& topology) {
  result::hdf5::write_facts(group, topology);
  const std::uint64_t num_directions = 2 * static_cast<std::uint64_t>(topology.num_channels);
  TopologyOffsets offsets;
  offsets.row_start =
      allocate(group, {"row_start", "", "where each rank's channels begin in the lists, and where they all end"},
               H5T_NATIVE_INT64, {static_cast<hsize_t>(header.num_ranks) + 1});
  offsets.partner = allocate(group, {"partner", "", "the rank at the other end"}, H5T_NATIVE_INT32, {num_directions});
  offsets.starts = allocate(group, {"starts", "", "1: the rank of this row is the one that starts the channel"},
                            H5T_NATIVE_UINT8, {num_directions});
  if (!header.has_load) allocate_matrices(group, header, num_directions, offsets);
  return offsets;
}

/// Where each rank's channels begin in the lists of a topology, and where those of the last end.
std::vector<std::int64_t> row_starts(const schedule::Topology& topology) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(topology.num_ranks()) + 1);
  if (topology.spec().shape == schedule::Shape::edges) {
    // One rank's number takes as long as all edges; those of all ranks need not take longer.
    for (const schedule::Edge& edge : topology.spec().edges) {
      ++starts[static_cast<std::size_t>(edge.first) + 1];
      ++starts[static_cast<std::size_t>(edge.second) + 1];
    }
  } else {
    for (int rank = 0; rank < topology.num_ranks(); ++rank) {
      starts[static_cast<std::size_t>(rank) + 1] = topology.num_channels(rank);
    }
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

class NoTopologyFile final : public result::NoFile<TopologyFile, TopologyResult> {
 public:
  void write(std::size_t, const CellRow&, const CellSummary&) override {}
  void write(std::size_t, const LoadPoint&) override {}
};

}  // namespace

Header header_of(const TopologyResult& so_far) {
  const TopologyRequest& request = so_far.request;
  Header header;
  describe_run(header, request, options_of(request), so_far.provenance);
  for (const TopologyFacts& topology : so_far.topologies) {
    header.topologies.push_back({topology.name, name_of(topology.shape), name_of(topology.mode), topology.num_channels,
                                 topology.max_channels_rank, schedule::num_ways(topology.mode), topology.extents});
  }
  header.num_repeats = request.repeat;
  header.num_iterations = static_cast<std::int64_t>(request.num_iterations);
  header.has_load = request.duration_s > 0;
  return header;
}

Offsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = result::hdf5::create_file(path);
    offsets.run = result::hdf5::create_run_part(file, header, "topology");
    make_group(file, "topologies").close();
    for (const KeptTopology& topology : header.topologies) {
      const Handle group = make_group(file, fmt::format("topologies/{:04}", offsets.topologies.size()).c_str());
      offsets.topologies.push_back(allocate_topology(group, header, topology));
    }
    if (header.has_load)
      offsets.load = result::hdf5::allocate_fields<LoadPoint>(make_group(file, "load"), {max_load_points});
    file.close();
    return offsets;
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const TopologyResult& so_far, TopologyFileSetup setup)
    : RunStore(
          cluster, header_of(so_far), setup,
          [](const result::OutputFile& file, const Header& header) { return create_structure(file.path(), header); },
          json_text),
      cells_(std::move(setup.cells)) {
  const std::string offsets = cluster_.broadcast(result::as_bytes<TopologyOffsets>(offsets_.topologies));
  offsets_.topologies = result::from_bytes<TopologyOffsets>(offsets);
  const std::string load = cluster_.broadcast(result::as_bytes(std::span<const LoadOffsets>(&offsets_.load, 1)));
  offsets_.load = result::from_bytes<LoadOffsets>(load).at(0);
  write_channels(setup.topologies);
}

/// Topology by topology, so that no rank needs memory for more than one list of all ranks.
void Hdf5Store::write_channels(const std::vector<schedule::Topology>& topologies) {
  const auto rank = static_cast<std::size_t>(cluster_.rank());
  std::optional<Error> error;
  for (std::size_t index = 0; index < offsets_.topologies.size(); ++index) {
    const TopologyOffsets& offsets = offsets_.topologies[index];
    const std::vector<std::int64_t> starts_of_rows = row_starts(topologies.at(index));
    const auto first = static_cast<std::uint64_t>(starts_of_rows[rank]);
    std::vector<std::int32_t> partner;
    std::vector<std::uint8_t> starts;
    for (const schedule::Channel& channel : topologies[index].channels(cluster_.rank())) {
      partner.push_back(channel.partner);
      starts.push_back(channel.starts ? 1 : 0);
    }
    own_.push_back({first, partner.size()});
    std::vector<result::PlacedBytes> pieces{
        {offsets.partner + first * sizeof(std::int32_t), std::string(result::bytes_of(partner))},
        {offsets.starts + first, std::string(result::bytes_of(starts))}};
    if (rank == 0) pieces.push_back({offsets.row_start, std::string(result::bytes_of(starts_of_rows))});
    file_.rows().put(pieces, error);
  }
  cluster_.agree(error ? &*error : nullptr);
}

/// A row may lack what was not measured.
bool Hdf5Store::has_shape(const Cell& cell, const CellRow& row) const {
  const auto fits = [](std::size_t size, std::uint64_t wanted) { return size == 0 || size == wanted; };
  const auto num_iterations = static_cast<std::uint64_t>(header_.num_iterations);
  return fits(row.arrival_ns.size(), own_[static_cast<std::size_t>(cell.topology_index)].num) &&
         fits(row.slowest_rank_ns.size(), num_iterations) && fits(row.with_barrier_ns.size(), num_iterations);
}

std::vector<result::PlacedBytes> Hdf5Store::pieces_of(const Cell& cell, const CellRow& row) const {
  const auto topology = static_cast<std::size_t>(cell.topology_index);
  const TopologyOffsets& offsets = offsets_.topologies[topology];
  const auto num_ranks = static_cast<std::uint64_t>(header_.num_ranks);
  const auto num_iterations = static_cast<std::uint64_t>(header_.num_iterations);
  const std::uint64_t num_directions = 2 * static_cast<std::uint64_t>(header_.topologies[topology].num_channels);
  const std::uint64_t plane = static_cast<std::uint64_t>(cell.repeat) * header_.message_sizes_bytes.size() +
                              static_cast<std::uint64_t>(cell.size_index);

  std::vector<result::PlacedBytes> pieces;
  const auto add = [&](std::uint64_t matrices, std::uint64_t row_length, std::uint64_t first, const auto& values) {
    if (!values.empty()) {
      pieces.push_back(
          {matrices + sizeof values.front() * (plane * row_length + first), std::string(result::bytes_of(values))});
    }
  };
  add(offsets.arrival_time_ns, num_directions, own_[topology].first, row.arrival_ns);
  result::hdf5::for_each_column(offsets.ranks, std::span(&row, 1), [&](std::uint64_t matrices, const auto& values) {
    add(matrices, num_ranks, static_cast<std::uint64_t>(cluster_.rank()), values);
  });
  if (cluster_.is_root()) {
    add(offsets.exchange_time_ns, num_iterations, 0, row.slowest_rank_ns);
    add(offsets.exchange_with_barrier_time_ns, num_iterations, 0, row.with_barrier_ns);
  }
  return pieces;
}

void Hdf5Store::write(std::size_t index, const CellRow& row, const CellSummary&) {
  const Cell& cell = cells_.at(index);
  std::optional<Error> error;
  std::vector<result::PlacedBytes> pieces;
  if (has_shape(cell, row)) {
    pieces = pieces_of(cell, row);
  } else {
    error = result::write_error(path(), fmt::format("rank {} has a cell of another shape", cluster_.rank()));
  }
  file_.rows().put(pieces, error);
  if (error) throw *error;
}

void Hdf5Store::write(std::size_t index, const LoadPoint& point) {
  if (!cluster_.is_root()) return;
  if (index >= max_load_points) {
    throw result::write_error(path(), fmt::format("it has no room for more than {} points of load", max_load_points));
  }
  file_.rows().look_after_name();
  result::hdf5::for_each_column(offsets_.load, std::span(&point, 1), [&](std::uint64_t list, const auto& values) {
    file_.rows().write_at(list + index * sizeof values.front(), result::bytes_of(values));
  });
}

std::unique_ptr<TopologyFile> open_topology_file(cluster::Cluster& cluster, const TopologyResult& so_far,
                                                 TopologyFileSetup setup) {
  return open_result_file<topology::Hdf5Store, topology::JsonStore, NoTopologyFile>("a topology test", cluster, so_far,
                                                                                    std::move(setup));
}

}  // namespace leadline::bench::topology
