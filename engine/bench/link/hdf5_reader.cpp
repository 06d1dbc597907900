// SPDX-License-Identifier: Apache-2.0
// Finds a result's parts in an HDF5 file, checking shapes and types before anything is read.
#include "bench/link/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "bench/link/hdf5_store.hpp"
#include "bench/link/request.hpp"
#include "bench/plan.hpp"
#include "core/error.hpp"
#include "result/hdf5/described_structs.hpp"

namespace leadline::bench::link {

namespace {

using result::hdf5::Box;
using result::hdf5::reading;
using result::hdf5::Shape;

constexpr hsize_t max_retests = 1 << 28;
constexpr hsize_t max_levels = 64;  // of a network

// What is read at once of what lies rank by rank.
constexpr std::int64_t cells_at_once = 1 << 20;

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  RunReader::open(
      "link", header_, [this] { read_header(); }, [this] { touch_tables(); });
  check_header(this->path(), header_);
}

/// Reads something of every table, whatever is wrong with those before, so that all headers have been looked at.
void Hdf5Reader::touch_tables() {
  const auto touch = [](const auto& read) {
    try {
      (void)read();
    } catch (const Error&) {
      // To be thrown again when it is read in earnest.
    }
  };
  touch([&] { return location(0); });
  touch([&] { return ranks_on_seat(0); });
  for (std::size_t repeat = 0; repeat < header_.repeats.size(); ++repeat) {
    touch([&] { return rounds(repeat, 0); });
    // A row wants to know who met whom, which takes a while.
    touch([&] { return header_.stored_rounds ? cells_of_rounds(repeat, 0, 0).size() : row(repeat, 0, 0).size(); });
    touch([&] { return all_to_all_ns(repeat, 0, 0); });
  }
}

void Hdf5Reader::read_header() {
  if (file().has("permutations")) {
    const Shape shape = file().shape_of("permutations");
    const bool is_of_all_ranks = shape.size() == 2 && std::cmp_equal(shape[1], header_.num_ranks);
    if (!is_of_all_ranks || shape[0] > file().size_bytes()) file().fail("/permutations has another shape");
    header_.num_permutations = static_cast<std::int32_t>(shape[0]);
  }
  if (file().has("linktest")) result::hdf5::read_facts(file(), "linktest", header_.linktest.emplace());
  read_repeats();
  read_list("retest", header_.retests);
  read_list("second_measurements", header_.second_measurements);
}

void Hdf5Reader::read_repeats() {
  for (const std::string& name : file().member_names("/repeats")) {
    std::int32_t number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const std::string group = "/repeats/" + name;
    if (error != std::errc{} || end != name.data() + name.size()) file().fail(group + " is no repeat");
    if (file().whole_attribute(group, "repeat") != number) file().fail(group + " says that it is another repeat");
    header_.repeats.push_back({number, static_cast<std::int32_t>(file().whole_attribute(group, "permutation"))});
  }
  // By name 10000 comes before 9999.
  std::sort(header_.repeats.begin(), header_.repeats.end(),
            [](const KeptRepeat& left, const KeptRepeat& right) { return left.repeat < right.repeat; });
  if (header_.repeats.empty()) return;
  if (file().has(group_of(0) + cells_of_rounds_name)) read_stored_rounds();
  header_.is_compact = header_.stored_rounds || file().has(group_of(0) + cells_name);
  if (header_.is_compact && !header_.stored_rounds) {
    try {
      LinkRequest request = schedule_request(header_.options);
      if (!is_sample(request)) schedule_request_ = std::move(request);
    } catch (const Error&) {
      // As a later version may say it: its rounds are not known here.
    }
  }
  header_.has_rounds = header_.stored_rounds || schedule_request_ || file().has(group_of(0) + "round");
  header_.has_later_statistics =
      std::ranges::any_of(result::hdf5::later_fields<PairRecord>(),
                          [&](const std::string& name) { return file().has(group_of(0) + name); });
  const std::string all_to_all = group_of(0) + "all_to_all_time_ns";
  if (!file().has(all_to_all)) return;
  const Shape shape = file().shape_of(all_to_all);
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  if (shape.size() != 3 || shape[2] > 2 * num_ranks) file().fail("/" + all_to_all + " has another shape");
  header_.num_all_to_all_slots = static_cast<std::int64_t>(shape[2]);
}

/// Of all repeats: they have the same rounds.
void Hdf5Reader::read_stored_rounds() {
  const auto number = file().whole_attribute("/sampled_rounds", "way_of_drawing");
  if (number != schedule::way_of_drawing) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path() + "'",
                fmt::format("its sampled rounds follow from the seed in way {}; this program knows {}", number,
                            schedule::way_of_drawing),
                "Use a newer leadline");
  }
  StoredRounds stored;
  stored.sample.seed = file().unsigned_attribute("/sampled_rounds", "seed");
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  const Shape cells = file().shape_of(group_of(0) + cells_of_rounds_name);
  if (cells.size() != 3 || cells[2] == 0 || cells[2] >= num_ranks) {
    file().fail(fmt::format("/{}{} has another shape", group_of(0), cells_of_rounds_name));
  }
  stored.sample.num_rounds = static_cast<std::int64_t>(cells[2]);
  stored.host_of = file().numbers<std::uint32_t>("sampled_rounds/host_of_rank", {num_ranks}, {{0}, {num_ranks}});
  std::uint32_t num_hosts = 0;
  for (const std::uint32_t host : stored.host_of) {
    if (host > num_hosts) file().fail("/sampled_rounds/host_of_rank does not number the hosts in their order");
    num_hosts = std::max(num_hosts, host + 1);
  }
  const Shape groups = file().shape_of("sampled_rounds/groups_of_hosts");
  if (groups.size() != 2 || groups[0] > max_levels || groups[1] != num_hosts) {
    file().fail("/sampled_rounds/groups_of_hosts has another shape");
  }
  for (hsize_t level = 0; level < groups[0]; ++level) {
    stored.sample.groups_of_hosts.push_back(
        file().numbers<std::uint32_t>("sampled_rounds/groups_of_hosts", groups, {{level, 0}, {1, groups[1]}}));
  }
  header_.stored_rounds = std::move(stored);
}

template <typename Row>
void Hdf5Reader::read_list(const std::string& name, std::optional<std::vector<Row>>& rows) {
  const std::string column = name + "/from";
  if (!file().has(column)) return;
  const Shape shape = file().shape_of(column);
  if (shape.size() != 1 || shape[0] > max_retests) file().fail(fmt::format("/{} is no list", column));
  rows = result::hdf5::read_fields<Row>(file(), name, shape[0]);
}

std::string Hdf5Reader::group_of(std::size_t repeat_index) const {
  return fmt::format("repeats/{:04}/", header_.repeats.at(repeat_index).repeat);
}

Shape Hdf5Reader::matrices() const {
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  return {header_.message_sizes_bytes.size(), num_ranks, num_ranks};
}

std::vector<PairCell> Hdf5Reader::read_cells(const std::string& name, const Shape& shape, const Box& box) {
  auto cells = reading(path(), [&] { return file().numbers<PairCell>(name, shape, box); });
  for (const PairCell cell : cells) {
    const bool has_no_batch = is_measured(cell) && (cell & 0xffU) == 0;
    if (has_no_batch) file().fail(fmt::format("/{} has the value {:#x}, a time of no batch", name, cell));
  }
  return cells;
}

std::vector<PairCell> Hdf5Reader::cells_of_rounds(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_rounds = static_cast<std::size_t>(header_.stored_rounds->sample.num_rounds);
  CellsOfRounds& read = rounds_read_;
  const bool is_there = read.repeat_index == repeat_index && read.size_index == size_index;
  if (!is_there || rank < read.first || rank >= read.end) {
    const std::int64_t num_at_once = std::max<std::int64_t>(cells_at_once / static_cast<std::int64_t>(num_rounds), 1);
    const std::int64_t first = rank - rank % num_at_once, end = std::min(first + num_at_once, header_.num_ranks);
    const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
    read.end = read.first;  // nothing, where reading throws
    read.cells = read_cells(
        group_of(repeat_index) + cells_of_rounds_name, {header_.message_sizes_bytes.size(), num_ranks, num_rounds},
        {{size_index, static_cast<hsize_t>(first), 0}, {1, static_cast<hsize_t>(end - first), num_rounds}});
    read.repeat_index = repeat_index, read.size_index = size_index;
    read.first = first, read.end = end;
  }
  const auto begin = read.cells.begin() + (rank - read.first) * static_cast<std::ptrdiff_t>(num_rounds);
  return {begin, begin + static_cast<std::ptrdiff_t>(num_rounds)};
}

std::span<const std::int32_t> Hdf5Reader::partners_of(std::int64_t rank) {
  const StoredRounds& stored = *header_.stored_rounds;
  const auto num_rounds = static_cast<std::size_t>(num_rounds_stored(header_));
  if (partners_.empty()) {
    partners_ = schedule::partners_by_round(schedule::SampledRounds(stored.host_of, stored.sample),
                                            static_cast<std::size_t>(header_.num_ranks), num_rounds_stored(header_));
  }
  return std::span(partners_).subspan(static_cast<std::size_t>(rank) * num_rounds, num_rounds);
}

std::vector<Hdf5Reader::MeasuredCell> Hdf5Reader::measured_cells(std::size_t repeat_index, std::size_t size_index,
                                                                 std::int64_t rank) {
  const std::vector<PairCell> cells = cells_of_rounds(repeat_index, size_index, rank);
  const auto partners = partners_of(rank);
  std::vector<MeasuredCell> measured;
  for (std::size_t round = partners.size(); round-- > 0;) {
    if (partners[round] >= 0 && is_measured(cells[round]))
      measured.push_back({static_cast<std::uint32_t>(partners[round]), cells[round]});
  }
  std::ranges::stable_sort(measured, {}, &MeasuredCell::partner);
  const auto is_same = [](const MeasuredCell& one, const MeasuredCell& other) { return one.partner == other.partner; };
  measured.erase(std::unique(measured.begin(), measured.end(), is_same), measured.end());
  return measured;
}

PairRow Hdf5Reader::row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, num_ranks}};
  PairRow row(num_ranks);
  if (header_.stored_rounds) {
    for (const auto& [partner, cell] : measured_cells(repeat_index, size_index, rank))
      row.set(partner, record_of(cell));
    return row;
  }
  if (header_.is_compact) {
    const std::vector<PairCell> cells = read_cells(group_of(repeat_index) + cells_name, matrices(), box);
    for (std::size_t partner = 0; partner < num_ranks; ++partner) row.set(partner, record_of(cells[partner]));
    return row;
  }
  reading(path(), [&] {
    row.for_each([&](const auto& field, auto& values) {
      using Value = FieldValue<PairRecord, decltype(field.get)>;
      const std::string table = group_of(repeat_index) + field.name;
      if (!is_absent(file(), table, field)) values = file().numbers<Value>(table, matrices(), box);
    });
  });
  expect_times(path(), row, rank);
  return row;
}

std::vector<double> Hdf5Reader::times_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                                         PairTime time) {
  if (header_.stored_rounds) return row(repeat_index, size_index, rank)[time];
  const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, static_cast<hsize_t>(header_.num_ranks)}};
  if (header_.is_compact) {
    std::vector<double> times_ns;
    for (const PairCell cell : read_cells(group_of(repeat_index) + cells_name, matrices(), box))
      times_ns.push_back(record_of(cell).*time);
    return times_ns;
  }
  const std::string table = group_of(repeat_index) + name_of_field(time);
  auto times_ns = reading(path(), [&] {
    // One that the file does not have was not measured.
    return file().has(table) ? file().numbers<double>(table, matrices(), box)
                             : std::vector<double>(static_cast<std::size_t>(header_.num_ranks));
  });
  expect_times(path(), times_ns, rank);
  return times_ns;
}

MeasuredTimes Hdf5Reader::measured_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                                      PairTime time) {
  if (!header_.stored_rounds) return ResultReader::measured_ns(repeat_index, size_index, rank, time);
  MeasuredTimes measured;
  for (const auto& [partner, cell] : measured_cells(repeat_index, size_index, rank)) {
    const double time_ns = record_of(cell).*time;
    if (!(time_ns > 0)) continue;
    measured.partners.push_back(partner);
    measured.times_ns.push_back(time_ns);
  }
  return measured;
}

std::vector<double> Hdf5Reader::all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_slots = static_cast<hsize_t>(header_.num_all_to_all_slots);
  if (num_slots == 0) return {};
  return reading(path(), [&] {
    const Shape shape{header_.message_sizes_bytes.size(), static_cast<hsize_t>(header_.num_ranks), num_slots};
    const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, num_slots}};
    return file().numbers<double>(group_of(repeat_index) + "all_to_all_time_ns", shape, box);
  });
}

const MeetingRounds& Hdf5Reader::meeting_rounds(std::size_t repeat_index) {
  if (meeting_rounds_ && repeat_of_meeting_rounds_ == repeat_index) return *meeting_rounds_;
  std::vector<std::uint32_t> host_of;
  std::map<std::string, std::uint32_t> number_of;
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) {
    const auto next = static_cast<std::uint32_t>(number_of.size());
    host_of.push_back(number_of.try_emplace(placement(rank).host, next).first->second);
  }
  bench::RankLayout layout;
  layout.num_ranks = static_cast<int>(header_.num_ranks);
  layout.host_of = host_of;
  try {
    meeting_rounds_.emplace(*schedule_request_, layout, header_.repeats.at(repeat_index).repeat);
  } catch (const Error& error) {
    file().fail(std::string("/options are of no run: ") + error.what());
  }
  repeat_of_meeting_rounds_ = repeat_index;
  return *meeting_rounds_;
}

std::vector<std::int32_t> Hdf5Reader::rounds(std::size_t repeat_index, std::int64_t rank) {
  if (!header_.has_rounds) return {};
  if (schedule_request_) return meeting_rounds(repeat_index).of(static_cast<int>(rank));
  if (header_.stored_rounds) {
    std::vector<std::int32_t> rounds(static_cast<std::size_t>(header_.num_ranks));
    std::int32_t number = 0;
    for (const std::int32_t partner : partners_of(rank)) {
      ++number;
      if (partner >= 0) rounds[static_cast<std::size_t>(partner)] = number;
    }
    return rounds;
  }
  return reading(path(), [&] {
    const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
    return file().numbers<std::int32_t>(group_of(repeat_index) + "round", {num_ranks, num_ranks},
                                        {{static_cast<hsize_t>(rank), 0}, {1, num_ranks}});
  });
}

std::vector<std::int32_t> Hdf5Reader::ranks_on_seat(std::int64_t seat) {
  if (header_.num_permutations == 0) return {};
  return reading(path(), [&] {
    const auto num_permutations = static_cast<hsize_t>(header_.num_permutations);
    return file().numbers<std::int32_t>("permutations", {num_permutations, static_cast<hsize_t>(header_.num_ranks)},
                                        {{0, static_cast<hsize_t>(seat)}, {num_permutations, 1}});
  });
}

std::array<std::int32_t, 4> Hdf5Reader::location(std::int64_t rank) {
  if (!header_.linktest) return {static_cast<std::int32_t>(rank), 0, 0, 0};
  return reading(path(), [&]() -> std::array<std::int32_t, 4> {
    const auto all = file().numbers<std::int32_t>("linktest/location", {static_cast<hsize_t>(header_.num_ranks), 4},
                                                  {{static_cast<hsize_t>(rank), 0}, {1, 4}});
    return {all[0], all[1], all[2], all[3]};
  });
}

}  // namespace leadline::bench::link
