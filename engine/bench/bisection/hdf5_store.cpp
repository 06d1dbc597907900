// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a bisection test.
#include "bench/bisection/hdf5_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/bisection/json.hpp"
#include "bench/bisection/request.hpp"
#include "bench/run_options.hpp"
#include "core/error.hpp"
#include "result/collective.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::bisection {
namespace {

using result::hdf5::Handle;
using result::hdf5::make_group;

Header header_with_room(const BisectionResult& so_far, const BisectionFileSetup& setup) {
  Header header = header_of(so_far);
  header.max_patterns = setup.max_patterns;
  header.max_baseline = setup.max_baseline;
  return header;
}

/// HDF5 finds out only when it closes the file, and then keeps it open.
void expect_possible_size(const std::string& path, const Header& header) {
  constexpr double most_bytes = 0x1p62, bytes_a_cell = bytes_of_fields<RankTimes>;
  const double cells = static_cast<double>(header.message_sizes_bytes.size()) * static_cast<double>(header.num_ranks) *
                       static_cast<double>(header.max_patterns);
  if (cells * bytes_a_cell <= most_bytes) return;
  throw Error(ExitStatus::bad_command_line, fmt::format("{} would be larger than any file can be", path),
              fmt::format("{} patterns of {} ranks", header.max_patterns, header.num_ranks), "Ask for fewer --rounds");
}

class NoBisectionFile final : public result::NoFile<BisectionFile, BisectionResult> {
 public:
  void write(const RankRow&) override {}
};

}  // namespace

Header header_of(const BisectionResult& so_far) {
  const BisectionRequest& request = so_far.request;
  Header header;
  describe_run(header, request, options_of(request), so_far.provenance);
  header.pattern_names = so_far.pattern_names;
  header.num_participants = static_cast<std::int64_t>(so_far.num_participants);
  header.num_exchanges = static_cast<std::int64_t>(request.num_exchanges);
  header.seed = request.seed;
  header.within_hosts = so_far.within_hosts;
  return header;
}

Offsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    Offsets offsets;
    Handle file = result::hdf5::create_file(path);
    offsets.run = result::hdf5::create_run_part(file, header, "bisection");
    {
      const Handle group = make_group(file, "bisection");
      result::hdf5::write_facts(group, header);
      const auto num_sizes = static_cast<hsize_t>(header.message_sizes_bytes.size());
      offsets.patterns = result::hdf5::allocate_fields<PatternSummary>(
          make_group(group, "patterns"), {num_sizes, header.max_patterns}, patterns_left_out);
      if (header.max_baseline > 0) {
        offsets.baseline = result::hdf5::allocate_fields<BaselineSample>(
            make_group(group, "baseline"), {num_sizes, header.max_baseline}, baseline_left_out);
      }
      offsets.rows = result::hdf5::allocate_fields<RankTimes>(
          group, {num_sizes, static_cast<hsize_t>(header.num_ranks), header.max_patterns});
    }
    file.close();
    return offsets;
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const BisectionResult& so_far, const BisectionFileSetup& setup)
    : RunStore(
          cluster, header_with_room(so_far, setup), setup,
          [](const result::OutputFile& file, const Header& header) {
            expect_possible_size(file.path(), header);
            return create_structure(file.path(), header);
          },
          json_text) {}

void Hdf5Store::expect_room_for(const RankRow& row) const {
  const bool is_of_a_size = row.size_index >= 0 && std::cmp_less(row.size_index, header_.message_sizes_bytes.size());
  const bool has_room =
      row.times.size() <= header_.max_patterns && row.first_number <= header_.max_patterns - row.times.size();
  const bool has_shape = row.patterns.size() == row.times.size();
  if (is_of_a_size && has_room && has_shape) return;
  throw result::write_error(path(), fmt::format("rank {} has patterns for which there is no place", cluster_.rank()));
}

/// The table says that a pattern is there, so it comes when all ranks' rows are.
void Hdf5Store::write(const RankRow& row) {
  write_rows(row);
  if (!cluster_.is_root()) return;
  write_rests_of_lost_ranks(row);
  write_baseline(row);
  write_patterns(row);
}

void Hdf5Store::write_rows(const RankRow& row) {
  std::optional<Error> error;
  try {
    expect_room_for(row);
  } catch (const Error& failure) {
    error = failure;
  }
  std::vector<result::PlacedBytes> pieces;
  if (!error && !row.times.empty()) {
    const std::uint64_t first = first_cell(row, cluster_.rank());
    result::hdf5::for_each_column(offsets_.rows, row.times, [&](std::uint64_t matrix, const auto& values) {
      pieces.push_back({matrix + first * sizeof values.front(), std::string(result::bytes_of(values))});
    });
  }
  file_.rows().put(pieces, error);
  cluster_.agree(error ? &*error : nullptr);
}

/// An empty place would say that they exchange messages with rank 0.
void Hdf5Store::write_rests_of_lost_ranks(const RankRow& row) {
  const std::vector<std::int32_t> none(row.times.size(), schedule::no_rank);
  for (const cluster::LostRank& lost : cluster_.lost_ranks()) {
    const std::uint64_t first = first_cell(row, lost.rank);
    for (const auto partner : {&RankTimes::to, &RankTimes::from}) {
      const std::uint64_t matrix = result::hdf5::offset_of(offsets_.rows, partner);
      file_.rows().file()->write_at(matrix + first * sizeof(std::int32_t), result::bytes_of(none));
    }
  }
}

/// Of a rank's patterns in the matrices.
std::uint64_t Hdf5Store::first_cell(const RankRow& row, int rank) const {
  const auto plane = static_cast<std::uint64_t>(row.size_index) * static_cast<std::uint64_t>(header_.num_ranks);
  return (plane + static_cast<std::uint64_t>(rank)) * header_.max_patterns + row.first_number;
}

void Hdf5Store::write_patterns(const RankRow& row) {
  write_columns(offsets_.patterns, std::span<const PatternSummary>(row.patterns),
                static_cast<std::uint64_t>(row.size_index) * header_.max_patterns + row.first_number);
}

void Hdf5Store::write_baseline(const RankRow& row) {
  const std::uint64_t room = header_.max_baseline - std::min(row.first_baseline, header_.max_baseline);
  const std::span<const BaselineSample> samples(row.baseline);
  write_columns(offsets_.baseline, samples.first(std::min<std::uint64_t>(room, samples.size())),
                static_cast<std::uint64_t>(row.size_index) * header_.max_baseline + row.first_baseline);
  if (samples.size() > room) {
    throw result::write_error(path(), fmt::format("it has no room for more than {} pairs alone", header_.max_baseline));
  }
}

template <typename Struct>
void Hdf5Store::write_columns(const result::hdf5::FieldOffsets<Struct>& offsets, std::span<const Struct> structs,
                              std::uint64_t first) {
  if (structs.empty()) return;
  result::hdf5::for_each_column(offsets, structs, [&](std::uint64_t table, const auto& values) {
    file_.rows().file()->write_at(table + first * sizeof values.front(), result::bytes_of(values));
  });
}

std::unique_ptr<BisectionFile> open_bisection_file(cluster::Cluster& cluster, const BisectionResult& so_far,
                                                   const BisectionFileSetup& setup) {
  return open_result_file<bisection::Hdf5Store, bisection::JsonStore, NoBisectionFile>("a bisection test", cluster,
                                                                                       so_far, setup);
}

}  // namespace leadline::bench::bisection
