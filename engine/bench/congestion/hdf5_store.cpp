// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a congestion test.
#include "bench/congestion/hdf5_store.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/congestion/json.hpp"
#include "bench/run_options.hpp"
#include "core/error.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::congestion {
namespace {

using result::hdf5::Handle;
using result::hdf5::make_group;

class NoCongestionFile final : public result::NoFile<CongestionFile, CongestionResult> {
 public:
  void write(const RoundRow&) override {}
};

}  // namespace

Header header_of(const CongestionResult& so_far) {
  const CongestionRequest& request = so_far.request;
  Header header;
  describe_run(header, request, options_of(request), so_far.provenance);
  header.loads = request.loads;
  for (const Cell& cell : so_far.cells) {
    header.cell_loads.push_back(cell.load);
    header.cell_intensities.push_back(cell.intensity_percent);
  }
  header.victims = so_far.victims;
  header.num_load_ranks = static_cast<std::int64_t>(so_far.num_load_ranks);
  header.victims_are_hosts = so_far.victims_are_hosts;
  header.num_rounds = static_cast<std::int32_t>(request.rounds);
  header.seed = request.seed;
  header.test_time_s = request.test_time_s;
  header.interval_s = request.interval_s;
  return header;
}

Offsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = result::hdf5::create_file(path);
    offsets.run = result::hdf5::create_run_part(file, header, "congestion");
    {
      const Handle group = make_group(file, "congestion");
      result::hdf5::write_facts(group, header);
      const hsize_t num_cells = header.cell_loads.size(), rounds = static_cast<hsize_t>(header.num_rounds);
      offsets.rounds =
          result::hdf5::allocate_fields<RoundNumbers>(make_group(group, "rounds"), {num_cells, num_tests, rounds});
      offsets.loads = result::hdf5::allocate_fields<LoadNumbers>(make_group(group, "load"), {num_cells, rounds});
      offsets.victims = result::hdf5::allocate_fields<VictimNumbers>(make_group(group, "victim_times"),
                                                                     {num_cells, num_tests, header.victims.size()});
      offsets.distributions =
          result::hdf5::allocate_fields<Distribution>(make_group(group, "distribution"), {num_cells, num_tests});
    }
    file.close();
    return offsets;
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const CongestionResult& so_far, const result::RunFileSetup& setup)
    : RunStore(
          cluster, header_of(so_far), setup,
          [](const result::OutputFile& file, const Header& header) { return create_structure(file.path(), header); },
          json_text) {}

/// Rank 0.
template <typename Struct>
void Hdf5Store::write_at(const result::hdf5::FieldOffsets<Struct>& offsets, std::uint64_t index,
                         std::span<const Struct> some) {
  if (some.empty()) return;
  result::hdf5::for_each_column(offsets, some, [&](std::uint64_t table, const auto& values) {
    file_.rows().file()->write_at(table + index * sizeof values.front(), result::bytes_of(values));
  });
}

void Hdf5Store::write(const RoundRow& row) {
  std::vector<result::PlacedBytes> pieces;
  const auto found = std::ranges::find(header_.victims, cluster_.rank());
  const auto place = static_cast<std::uint64_t>(found - header_.victims.begin());
  for (std::size_t index = 0; index < row.own.size(); ++index) {  // of a cell's test
    const std::uint64_t at = index * header_.victims.size() + place;
    result::hdf5::for_each_column(
        offsets_.victims, row.own.subspan(index, 1), [&](std::uint64_t table, const auto& values) {
          pieces.push_back({table + at * sizeof values.front(), std::string(result::bytes_of(values))});
        });
  }
  std::optional<Error> error;
  file_.rows().put(pieces, error);
  cluster_.agree(error ? &*error : nullptr);
  if (cluster_.rank() != 0) return;
  const auto num_rounds = static_cast<std::uint64_t>(header_.num_rounds);
  for (std::size_t index = 0; index < row.tests.size(); ++index) {
    write_at(offsets_.rounds, index * num_rounds + row.round, row.tests.subspan(index, 1));
  }
  for (std::size_t cell = 0; cell < row.loads.size(); ++cell) {
    write_at(offsets_.loads, cell * num_rounds + row.round, row.loads.subspan(cell, 1));
  }
  write_at(offsets_.distributions, 0, row.distributions);
}

std::unique_ptr<CongestionFile> open_congestion_file(cluster::Cluster& cluster, const CongestionResult& so_far,
                                                     const result::RunFileSetup& setup) {
  return open_result_file<congestion::Hdf5Store, congestion::JsonStore, NoCongestionFile>("a congestion test", cluster,
                                                                                          so_far, setup);
}

}  // namespace leadline::bench::congestion
