// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into the HDF5 result of a link test, and how the ranks agree on it.
#include "result/hdf5/hdf5_store.hpp"

#include <utility>

#include "result/collective.hpp"
#include "result/json.hpp"

namespace leadline::result {

namespace {

/// A repeat takes 3.1 KB (HDF5 1.10.8, measured).
constexpr std::uint64_t room_for_repeat = 1 << 13;

LinkResultHeader header_for(const LinkResult& so_far, const LinkResultFileSetup& setup) {
  LinkResultHeader header = header_of(so_far, "");
  header.has_rounds = static_cast<bool>(setup.rounds);
  return header;
}

}  // namespace

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, LinkResultFileSetup setup)
    : cluster_(cluster),
      setup_(std::move(setup)),
      header_(header_for(so_far, setup_)),
      file_(cluster, header_, {setup_.path, setup_.existing, setup_.row_path, setup_.place},
            [this](const OutputFile& file) { return create(file); }) {}

FixedOffsets Hdf5Store::create(const OutputFile& file) const {
  const FixedOffsets offsets = create_structure(file.path(), header_);
  for (int index = 0; index < header_.num_permutations; ++index) {
    const std::vector<std::int32_t> seats = setup_.permutation(index);
    if (static_cast<std::int64_t>(seats.size()) != header_.num_ranks) {
      throw write_error(file.path(), "a permutation is not one of all ranks");
    }
    file.write_at(offsets.permutations + static_cast<std::uint64_t>(index) * bytes_of(seats).size(), bytes_of(seats));
  }
  return offsets;
}

void Hdf5Store::reserve_repeats(int num_repeats) {
  const int num_known = static_cast<int>(repeats_.size());
  if (num_repeats <= num_known) return;
  std::vector<KeptRepeat> added;
  for (int repeat = num_known; repeat < num_repeats; ++repeat) added.push_back({repeat, -1});
  const std::string places = text_of_rank_0(cluster_, [&] {
    if (setup_.permutation_of_repeat) {
      for (KeptRepeat& its : added) its.permutation = setup_.permutation_of_repeat(its.repeat);
    }
    file_.expect_room(room_for_structure + added.size() * room_for_repeat);
    const auto offsets = add_repeats(path(), header_, added);
    return as_bytes<RepeatOffsets>(offsets);
  });
  const auto offsets = from_bytes<RepeatOffsets>(places);
  repeats_.insert(repeats_.end(), offsets.begin(), offsets.end());
  if (!header_.has_rounds) return;
  std::optional<Error> error;
  for (std::size_t index = 0; index < added.size(); ++index)
    put_rounds(setup_.rounds(added[index].repeat), offsets[index], error);
  cluster_.agree(error ? &*error : nullptr);
}

void Hdf5Store::put_rounds(std::span<const std::int32_t> rounds, const RepeatOffsets& offsets,
                           std::optional<Error>& error) {
  const std::vector<std::int32_t> numbers(rounds.begin(), rounds.end());
  file_.put(offsets.round, bytes_of(numbers), error);
}

void Hdf5Store::write_rounds(int repeat, std::span<const std::int32_t> rounds) {
  if (!header_.has_rounds) return;
  std::optional<Error> error;
  put_rounds(rounds, repeats_.at(static_cast<std::size_t>(repeat)), error);
  if (error) throw *error;
}

void Hdf5Store::write(const Slice& slice, const PairRow& row) {
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  const auto put_row = [&](std::uint64_t matrices, const auto& values) {
    const std::string_view bytes = bytes_of(values);
    const std::uint64_t matrix_size = values.size() * bytes.size();
    file_.put(matrices + static_cast<std::uint64_t>(slice.size_index) * matrix_size, bytes, error);
  };
  put_row(offsets.count, row.count);
  put_row(offsets.time_ns_min, row.time_ns_min);
  put_row(offsets.time_ns_median, row.time_ns_median);
  put_row(offsets.time_ns_mean, row.time_ns_mean);
  put_row(offsets.time_ns_p99, row.time_ns_p99);
  put_row(offsets.time_ns_max, row.time_ns_max);
  if (error) throw *error;
}

void Hdf5Store::write_all_to_all(const Slice& slice, std::span<const double> time_ns) {
  if (header_.num_all_to_all_slots == 0) return;
  std::vector<double> slots(time_ns.begin(), time_ns.end());
  slots.resize(static_cast<std::size_t>(header_.num_all_to_all_slots));
  const std::uint64_t table_size = bytes_of(slots).size() * static_cast<std::uint64_t>(header_.num_ranks);
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  file_.put(offsets.all_to_all_time_ns + static_cast<std::uint64_t>(slice.size_index) * table_size, bytes_of(slots),
            error);
  if (error) throw *error;
}

void Hdf5Store::finish(const LinkResult& result) {
  file_.finish(
      result, header_, [&] { return json_text(result); },
      [&] {
        header_.retests = retests_of(result);
        if (is_sample(result.request)) header_.num_rounds_run = result.num_rounds;
        add_end(path(), header_);
      });
}

}  // namespace leadline::result
