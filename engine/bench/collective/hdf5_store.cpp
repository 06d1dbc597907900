// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a collective test.
#include "bench/collective/hdf5_store.hpp"

#include <optional>
#include <span>
#include <vector>

#include "bench/collective/json.hpp"
#include "bench/run_options.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::collective {
namespace {

using result::hdf5::Handle;
using result::hdf5::make_group;

class NoCollectiveFile final : public result::NoFile<CollectiveFile, CollectiveResult> {
 public:
  void write(const CellRow&) override {}
};

}  // namespace

Header header_of(const CollectiveResult& so_far) {
  const CollectiveRequest& request = so_far.request;
  Header header;
  describe_run(header, request, options_of(request), so_far.provenance);
  header.operations = request.operations;
  header.algorithm = name_of(so_far.algorithm);
  header.num_rounds = static_cast<std::int32_t>(request.rounds);
  header.num_batches = static_cast<std::int32_t>(request.num_batches);
  header.num_groups = so_far.num_groups;
  header.num_iterations = static_cast<std::int64_t>(request.num_iterations);
  header.group_hosts = static_cast<std::int32_t>(request.group_hosts);
  header.seed = request.seed;
  return header;
}

Offsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = result::hdf5::create_file(path);
    offsets.run = result::hdf5::create_run_part(file, header, "collective");
    {
      const Handle group = make_group(file, "collective");
      result::hdf5::write_facts(group, header);
      const hsize_t rounds = static_cast<hsize_t>(header.num_rounds), num_operations = header.operations.size(),
                    num_sizes = header.message_sizes_bytes.size(), ranks = static_cast<hsize_t>(header.num_ranks);
      offsets.groups = result::hdf5::allocate_fields<GroupTime>(
          make_group(group, "groups"), {rounds, num_operations, num_sizes, static_cast<hsize_t>(header.num_groups),
                                        static_cast<hsize_t>(header.num_batches)});
      offsets.ranks = result::hdf5::allocate_fields<RankTimes>(make_group(group, "ranks"),
                                                               {rounds, num_operations, num_sizes, ranks});
      offsets.membership = result::hdf5::allocate_fields<Membership>(make_group(group, "membership"), {rounds, ranks});
    }
    file.close();
    return offsets;
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const CollectiveResult& so_far, const result::RunFileSetup& setup)
    : RunStore(
          cluster, header_of(so_far), setup,
          [](const result::OutputFile& file, const Header& header) { return create_structure(file.path(), header); },
          json_text) {}

void Hdf5Store::write(const CellRow& row) {
  std::vector<result::PlacedBytes> pieces;
  const auto add = [&]<typename Struct>(const result::hdf5::FieldOffsets<Struct>& offsets, std::uint64_t index,
                                        std::span<const Struct> some) {
    result::hdf5::for_each_column(offsets, some, [&](std::uint64_t table, const auto& values) {
      pieces.push_back({table + index * sizeof values.front(), std::string(result::bytes_of(values))});
    });
  };
  const auto rank = static_cast<std::uint64_t>(cluster_.rank());
  const auto num_ranks = static_cast<std::uint64_t>(header_.num_ranks);
  const std::uint64_t place = row.round * header_.operations.size() * header_.message_sizes_bytes.size() + row.cell;
  add(offsets_.ranks, place * num_ranks + rank, std::span(&row.own, 1));
  if (row.cell == 0) add(offsets_.membership, row.round * num_ranks + rank, std::span(&row.membership, 1));
  if (cluster_.is_root()) add(offsets_.groups, place * row.groups.size(), row.groups);
  std::optional<Error> error;
  file_.rows().put(pieces, error);
  if (error) throw *error;
}

std::unique_ptr<CollectiveFile> open_collective_file(cluster::Cluster& cluster, const CollectiveResult& so_far,
                                                     const result::RunFileSetup& setup) {
  return open_result_file<collective::Hdf5Store, collective::JsonStore, NoCollectiveFile>("a collective test", cluster,
                                                                                          so_far, setup);
}

}  // namespace leadline::bench::collective
