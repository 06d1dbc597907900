// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into the HDF5 result of a link test, and how the ranks agree on it.
#include "bench/link/hdf5_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/link/json.hpp"
#include "result/collective.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::bench::link {
namespace {

using result::hdf5::allocate;
using result::hdf5::check;
using result::hdf5::DatasetName;
using result::hdf5::Handle;
using result::hdf5::make_group;
using result::hdf5::write_attribute;

void write_linktest(const Handle& file, const Header& header, FixedOffsets& offsets) {
  const Handle group = make_group(file, "linktest");
  result::hdf5::write_facts(group, *header.linktest);
  const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
  offsets.location = allocate(group, {"location", "", "where LinkTest saw the rank: on Linux rank, 0, 0, 0"},
                              H5T_NATIVE_INT32, {num_ranks, location_size});
}

/// What the beginning of a run could only guess.
void correct_num_rounds(const Handle& file, std::int64_t num_rounds) {
  const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
  result::hdf5::remove_attribute(provenance, "num_rounds");
  write_attribute(provenance, "num_rounds", num_rounds);
}

template <typename Number>
void write_packed_table(const Handle& parent, const DatasetName& name, const std::vector<hsize_t>& shape,
                        const std::vector<Number>& numbers) {
  const Handle space = result::hdf5::make_space(shape);
  const hid_t type = result::hdf5::native_type<Number>();
  // An empty dimension cannot be cut into chunks.
  const Handle properties = numbers.empty() ? result::hdf5::without_times() : result::hdf5::packed_in(shape);
  Handle dataset(H5Dcreate2(parent.id(), name.name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Dclose);
  if (!numbers.empty()) check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()));
  describe(dataset, name);
  dataset.close();
}

/// All that says who met whom.
void write_stored_rounds(const Handle& file, const StoredRounds& stored) {
  const Handle group = make_group(file, "sampled_rounds");
  write_attribute(group, "way_of_drawing", schedule::way_of_drawing);
  write_attribute(group, "seed", stored.sample.seed);
  write_packed_table(group, {"host_of_rank", "1", "host of each rank, from 0 in the order of their lowest ranks"},
                     {stored.host_of.size()}, stored.host_of);
  const auto& levels = stored.sample.groups_of_hosts;
  const std::size_t num_hosts = *std::ranges::max_element(stored.host_of) + std::size_t{1};
  std::vector<std::uint32_t> groups;
  for (const auto& level : levels) groups.insert(groups.end(), level.begin(), level.end());
  write_packed_table(group, {"groups_of_hosts", "1", "group of each host, by level of the network, innermost first"},
                     {levels.size(), num_hosts}, groups);
}

constexpr const char* meaning_of_cells =
    "logarithmic codes of the median (16 bits from the highest) and of p99 by median (8), number of batches (8)";

RepeatOffsets allocate_repeat(const Handle& group, const Header& header) {
  const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
  const auto num_slots = static_cast<hsize_t>(header.num_all_to_all_slots);
  const hsize_t num_sizes = header.message_sizes_bytes.size();
  const std::vector<hsize_t> dimensions{num_sizes, num_ranks, num_ranks};
  RepeatOffsets offsets;
  if (header.has_rounds && !header.is_compact)
    offsets.round = allocate(group, {"round", "1", "round in which the pair meets, from 1; 0 = in none"},
                             H5T_NATIVE_INT32, {num_ranks, num_ranks});
  if (num_slots > 0) {
    offsets.all_to_all_time_ns =
        allocate(group, {"all_to_all_time_ns", "ns", "all-to-all before each round, the rank's whole exchange"},
                 H5T_NATIVE_DOUBLE, {num_sizes, num_ranks, num_slots});
  }
  if (header.stored_rounds) {
    const auto num_rounds = static_cast<hsize_t>(header.stored_rounds->sample.num_rounds);
    offsets.cells = allocate(group, {cells_of_rounds_name, "", meaning_of_cells}, H5T_NATIVE_UINT32,
                             {num_sizes, num_ranks, num_rounds});
  } else if (header.is_compact) {
    offsets.cells = allocate(group, {cells_name, "", meaning_of_cells}, H5T_NATIVE_UINT32, dimensions);
  } else {
    const auto left_out =
        header.has_later_statistics ? std::vector<std::string>() : result::hdf5::later_fields<PairRecord>();
    offsets.pairs = result::hdf5::allocate_fields<PairRecord>(group, dimensions, left_out);
  }
  return offsets;
}

template <typename Row>
void write_list(const Handle& file, const char* name, const std::optional<std::vector<Row>>& rows) {
  if (!rows) return;
  result::hdf5::remove_link(file, name);
  result::hdf5::write_fields(make_group(file, name), *rows);
}

/// A repeat takes 3.1 KB (HDF5 1.10.8, measured).
constexpr std::uint64_t room_for_repeat = 1 << 13;

Header header_for(const LinkResult& so_far, const LinkFileSetup& setup) {
  Header header = header_of(so_far, "");
  if (setup.stored_rounds) store_rounds(header, *setup.stored_rounds);
  header.has_rounds = setup.rounds && !header.is_compact;
  return header;
}

/// Adds to the file what it lacks for so many repeats.
void make_repeats(const result::OutputFile& file, const Header& header, const LinkFileSetup& setup, int num_repeats,
                  std::vector<RepeatOffsets>& made) {
  std::vector<KeptRepeat> added;
  for (int repeat = static_cast<int>(made.size()); repeat < num_repeats; ++repeat) {
    added.push_back({repeat, setup.permutation_of_repeat ? setup.permutation_of_repeat(repeat) : -1});
  }
  if (added.empty()) return;
  file.expect_room(result::room_for_structure + added.size() * room_for_repeat);
  const auto offsets = add_repeats(file.path(), header, added);
  made.insert(made.end(), offsets.begin(), offsets.end());
}

MadeOffsets made_file(const result::OutputFile& file, const Header& header, const LinkFileSetup& setup) {
  const FixedOffsets offsets = create_structure(file.path(), header);
  for (int index = 0; index < header.num_permutations; ++index) {
    const std::vector<std::int32_t> seats = setup.permutation(index);
    if (static_cast<std::int64_t>(seats.size()) != header.num_ranks) {
      throw result::write_error(file.path(), "a permutation is not one of all ranks");
    }
    file.write_at(offsets.permutations + static_cast<std::uint64_t>(index) * result::bytes_of(seats).size(),
                  result::bytes_of(seats));
  }
  MadeOffsets made{offsets, {}};
  make_repeats(file, header, setup, setup.num_repeats, made.repeats);
  return made;
}

}  // namespace

std::vector<bool> in_schedule(std::span<const std::int32_t> rounds) {
  std::vector<bool> is_met;
  for (const std::int32_t round : rounds) is_met.push_back(round != 0);
  return is_met;
}

std::vector<PairCell> cells_of(const PairRow& row, const std::vector<bool>& is_met, std::span<const PairCell> lost) {
  std::vector<PairCell> cells(row.size());
  for (std::size_t partner = 0; partner < row.size(); ++partner) {
    cells[partner] = pair_cell(row.at(partner));
    if (is_measured(cells[partner])) continue;
    const bool is_left_out = !is_met.empty() && !is_met[partner];
    if (is_left_out) {
      cells[partner] = pair_not_in_schedule;
    } else if (!lost.empty()) {
      cells[partner] = lost[partner];
    }
  }
  return cells;
}

FixedOffsets create_structure(const std::string& path, const Header& header) {
  return result::hdf5::writing(path, [&] {
    FixedOffsets offsets;
    Handle file = result::hdf5::create_file(path);
    static_cast<result::RunOffsets&>(offsets) = result::hdf5::create_run_part(file, header, "link");
    if (header.num_permutations > 0) {
      const auto num_ranks = static_cast<hsize_t>(header.num_ranks);
      const auto num_permutations = static_cast<hsize_t>(header.num_permutations);
      offsets.permutations = allocate(file, {"permutations", "", "the rank on each seat"}, H5T_NATIVE_INT32,
                                      {num_permutations, num_ranks});
    }
    if (header.linktest) write_linktest(file, header, offsets);
    if (header.stored_rounds) write_stored_rounds(file, *header.stored_rounds);
    make_group(file, "repeats").close();
    file.close();
    return offsets;
  });
}

std::vector<RepeatOffsets> add_repeats(const std::string& path, const Header& header,
                                       std::span<const KeptRepeat> repeats) {
  return result::hdf5::writing(path, [&] {
    std::vector<RepeatOffsets> offsets;
    Handle file = result::hdf5::open_file(path);
    for (const KeptRepeat& repeat : repeats) {
      const std::string name = fmt::format("repeats/{:04}", repeat.repeat);
      result::hdf5::remove_link(file, name.c_str());
      const Handle group = make_group(file, name.c_str());
      write_attribute(group, "repeat", repeat.repeat);
      write_attribute(group, "permutation", repeat.permutation);
      offsets.push_back(allocate_repeat(group, header));
    }
    file.close();
    return offsets;
  });
}

void add_end(const std::string& path, const Header& header) {
  result::hdf5::writing(path, [&] {
    Handle file = result::hdf5::open_file(path);
    write_list(file, "retest", header.retests);
    write_list(file, "second_measurements", header.second_measurements);
    if (header.num_rounds_run) correct_num_rounds(file, *header.num_rounds_run);
    result::hdf5::add_run_end(file, header);
    file.close();
  });
}

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, LinkFileSetup setup)
    : RunStore(
          cluster, header_for(so_far, setup), setup,
          [&](const result::OutputFile& file, const Header& header) { return made_file(file, header, setup); },
          json_text),
      setup_(std::move(setup)),
      draws_rounds_(is_sample(so_far.request)) {}

void Hdf5Store::reserve_repeats(int num_repeats) {
  const int num_known = static_cast<int>(repeats_.size());
  if (num_repeats <= num_known) return;
  file_.restore_name();
  const std::string places = result::text_of_root(cluster_, [&] {
    std::vector<RepeatOffsets>& made = offsets_.repeats;
    if (made.size() < repeats_.size()) made = repeats_;  // one that has become the root knows those
    make_repeats(file_.output(), header_, setup_, num_repeats, made);
    const auto until = std::span<const RepeatOffsets>(made).first(static_cast<std::size_t>(num_repeats));
    return result::as_bytes(until.subspan(repeats_.size()));
  });
  const auto offsets = result::from_bytes<RepeatOffsets>(places);
  repeats_.insert(repeats_.end(), offsets.begin(), offsets.end());
  if (!header_.has_rounds) return;
  std::optional<Error> error;
  for (int repeat = num_known; repeat < num_repeats; ++repeat) {
    const RepeatOffsets& of_repeat = repeats_[static_cast<std::size_t>(repeat)];
    put_rounds(setup_.rounds(cluster_.rank(), repeat), of_repeat, error);
    for (std::size_t i = 0; cluster_.is_root() && i < cluster_.lost_ranks().size(); ++i) {
      const int lost = cluster_.lost_ranks()[i].rank;
      file_.put_for_lost(lost, of_repeat.round, result::bytes_of(setup_.rounds(lost, repeat)), error);
    }
  }
  cluster_.agree(error ? &*error : nullptr);
}

void Hdf5Store::put_rounds(std::span<const std::int32_t> rounds, const RepeatOffsets& offsets,
                           std::optional<Error>& error) {
  const std::vector<std::int32_t> numbers(rounds.begin(), rounds.end());
  file_.put(offsets.round, result::bytes_of(numbers), error);
}

void Hdf5Store::write_rounds(int repeat, std::span<const std::int32_t> rounds) {
  if (header_.is_compact) {
    repeat_of_met_ = repeat;
    is_met_ = in_schedule(rounds);
  }
  if (!header_.has_rounds) return;
  std::optional<Error> error;
  put_rounds(rounds, repeats_.at(static_cast<std::size_t>(repeat)), error);
  if (error) throw *error;
}

void Hdf5Store::note_lost(int partner, PairCell why) {
  if (!header_.is_compact) return;
  lost_.resize(static_cast<std::size_t>(header_.num_ranks));
  lost_[static_cast<std::size_t>(partner)] = why;
}

void Hdf5Store::write_cells_of_rounds(const Slice& slice, std::span<const PairCell> cells) {
  if (!header_.stored_rounds) return;
  const std::string bytes = result::as_bytes(cells);
  const std::uint64_t table_size = bytes.size() * static_cast<std::uint64_t>(header_.num_ranks);
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  file_.put(offsets.cells + static_cast<std::uint64_t>(slice.size_index) * table_size, bytes, error);
  if (error) throw *error;
}

void Hdf5Store::write(const Slice& slice, const PairRow& row) {
  if (header_.stored_rounds) return;
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  const auto put_row = [&](std::uint64_t offset, const auto& values) {
    const std::string_view bytes = result::bytes_of(values);
    const std::uint64_t matrix_size = values.size() * bytes.size();
    file_.put(offset + static_cast<std::uint64_t>(slice.size_index) * matrix_size, bytes, error);
  };
  if (header_.is_compact) {
    find_partners(slice.repeat);
    put_row(offsets.cells, cells_of(row, is_met_, lost_));
  } else {
    auto offset = offsets.pairs.begin();
    row.for_each([&](const auto&, const auto& values) { put_row(*offset++, values); });
  }
  if (error) throw *error;
}

/// Compact form: whom this rank meets in a repeat, where that is known before its rounds.
void Hdf5Store::find_partners(int repeat) {
  if (repeat_of_met_ == repeat) return;
  repeat_of_met_ = repeat;
  is_met_.clear();
  if (setup_.rounds && !draws_rounds_) is_met_ = in_schedule(setup_.rounds(cluster_.rank(), repeat));
}

void Hdf5Store::write_all_to_all(const Slice& slice, std::span<const double> time_ns) {
  if (header_.num_all_to_all_slots == 0) return;
  std::vector<double> slots(time_ns.begin(), time_ns.end());
  slots.resize(static_cast<std::size_t>(header_.num_all_to_all_slots));
  const std::uint64_t table_size = result::bytes_of(slots).size() * static_cast<std::uint64_t>(header_.num_ranks);
  const RepeatOffsets& offsets = repeats_.at(static_cast<std::size_t>(slice.repeat));
  std::optional<Error> error;
  file_.put(offsets.all_to_all_time_ns + static_cast<std::uint64_t>(slice.size_index) * table_size,
            result::bytes_of(slots), error);
  if (error) throw *error;
}

void Hdf5Store::add_end(const LinkResult& result) {
  header_.retests = retests_of(result);
  header_.second_measurements = second_measurements_of(result);
  if (is_sample(result.request)) header_.num_rounds_run = result.num_rounds;
  link::add_end(path(), header_);
}

}  // namespace leadline::bench::link
