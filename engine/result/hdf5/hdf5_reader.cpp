// SPDX-License-Identifier: Apache-2.0
// Finds a result's parts in an HDF5 file, checking shapes and types before anything is read.
#include "result/hdf5/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "result/hdf5/described_tables.hpp"
#include "result/hdf5/hdf5_store.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::result {

namespace {

using hdf5::Box;
using hdf5::reading;
using hdf5::Shape;

constexpr hsize_t max_retests = 1 << 28;

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : path_(std::move(path)) {
  hdf5::expect_readable(path_, [&] {
    open_and_read_header();
    touch_tables();
    file_.reset();
  });
  open_and_read_header();
  check_header(path_, header_);
}

void Hdf5Reader::open_and_read_header() {
  reading(path_, [&] {
    file_.emplace(path_);
    read_header();
  });
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
  touch([&] { return placement(0); });
  touch([&] { return location(0); });
  touch([&] { return ranks_on_seat(0); });
  for (std::size_t repeat = 0; repeat < header_.repeats.size(); ++repeat) {
    touch([&] { return rounds(repeat, 0); });
    touch([&] { return row(repeat, 0, 0); });
    touch([&] { return all_to_all_ns(repeat, 0, 0); });
  }
}

void Hdf5Reader::read_header() {
  if (const std::string benchmark = hdf5::read_benchmark(*file_, path_); benchmark != "link") {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path_ + "'",
                fmt::format("a result of leadline {}, not of leadline link", benchmark),
                "Use 'leadline info' or 'leadline report' for it");
  }
  hdf5::read_run_part(*file_, path_, header_);
  if (file_->has("permutations")) {
    std::error_code ignored;
    const Shape shape = file_->shape_of("permutations");
    const bool is_of_all_ranks = shape.size() == 2 && std::cmp_equal(shape[1], header_.num_ranks);
    if (!is_of_all_ranks || shape[0] > std::filesystem::file_size(path_, ignored)) {
      throw_damaged(path_, "/permutations has another shape");
    }
    header_.num_permutations = static_cast<std::int32_t>(shape[0]);
  }
  if (file_->has("linktest")) read_linktest();
  read_repeats();
  read_retests();
}

void Hdf5Reader::read_linktest() {
  LinkTestOrigin origin;
  const auto whole = [&](const char* name) {
    return static_cast<std::int32_t>(file_->whole_attribute("/linktest", name));
  };
  const auto times = [&](const std::string& name) -> std::array<double, 3> {
    return {file_->real_attribute("/linktest", name + "_min"), file_->real_attribute("/linktest", name + "_max"),
            file_->real_attribute("/linktest", name + "_mean")};
  };
  origin.num_iterations = whole("num_iterations");
  origin.message_size_bytes = whole("message_size_bytes");
  origin.has_all_to_all = whole("has_all_to_all") != 0;
  origin.is_serial = whole("is_serial") != 0;
  origin.is_permuted = whole("is_permuted") != 0;
  origin.times_s = times("time_s");
  origin.all_to_all_times_s = times("all_to_all_time_s");
  header_.linktest = origin;
}

void Hdf5Reader::read_repeats() {
  for (const std::string& name : file_->member_names("/repeats")) {
    std::int32_t number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const std::string group = "/repeats/" + name;
    if (error != std::errc{} || end != name.data() + name.size()) throw_damaged(path_, group + " is no repeat");
    if (file_->whole_attribute(group, "repeat") != number)
      throw_damaged(path_, group + " says that it is another repeat");
    header_.repeats.push_back({number, static_cast<std::int32_t>(file_->whole_attribute(group, "permutation"))});
  }
  // By name 10000 comes before 9999.
  std::sort(header_.repeats.begin(), header_.repeats.end(),
            [](const KeptRepeat& left, const KeptRepeat& right) { return left.repeat < right.repeat; });
  if (header_.repeats.empty()) return;
  header_.has_rounds = file_->has(group_of(0) + "round");
  header_.is_compact = file_->has(group_of(0) + cells_name);
  const std::string all_to_all = group_of(0) + "all_to_all_time_ns";
  if (!file_->has(all_to_all)) return;
  const Shape shape = file_->shape_of(all_to_all);
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  if (shape.size() != 3 || shape[2] > 2 * num_ranks) throw_damaged(path_, "/" + all_to_all + " has another shape");
  header_.num_all_to_all_slots = static_cast<std::int64_t>(shape[2]);
}

void Hdf5Reader::read_retests() {
  if (!file_->has("retest/from")) return;
  const Shape shape = file_->shape_of("retest/from");
  if (shape.size() != 1 || shape[0] > max_retests) throw_damaged(path_, "/retest/from is no list");
  header_.retests = hdf5::read_fields<Retest>(*file_, "retest", shape[0]);
}

std::string Hdf5Reader::group_of(std::size_t repeat_index) const {
  return fmt::format("repeats/{:04}/", header_.repeats.at(repeat_index).repeat);
}

Shape Hdf5Reader::matrices() const {
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  return {header_.message_sizes_bytes.size(), num_ranks, num_ranks};
}

std::vector<PairCell> Hdf5Reader::read_cells(std::size_t repeat_index, const Box& box) {
  const std::string name = group_of(repeat_index) + cells_name;
  auto cells = reading(path_, [&] { return file_->numbers<PairCell>(name, matrices(), box); });
  for (const PairCell cell : cells) {
    const bool has_no_batch = is_measured(cell) && (cell & 0xffU) == 0;
    if (has_no_batch) throw_damaged(path_, fmt::format("/{} has the value {:#x}, a time of no batch", name, cell));
  }
  return cells;
}

PairRow Hdf5Reader::row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
  const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, num_ranks}};
  PairRow row(num_ranks);
  if (header_.is_compact) {
    const std::vector<PairCell> cells = read_cells(repeat_index, box);
    for (std::size_t partner = 0; partner < num_ranks; ++partner) row.set(partner, record_of(cells[partner]));
    return row;
  }
  reading(path_, [&] {
    row.for_each([&](const auto& field, auto& values) {
      using Value = FieldValue<PairRecord, decltype(field.get)>;
      values = file_->numbers<Value>(group_of(repeat_index) + field.name, matrices(), box);
    });
  });
  expect_times(path_, row, rank);
  return row;
}

std::vector<double> Hdf5Reader::times_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                                         PairTime time) {
  const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, static_cast<hsize_t>(header_.num_ranks)}};
  if (header_.is_compact) {
    std::vector<double> times_ns;
    for (const PairCell cell : read_cells(repeat_index, box)) times_ns.push_back(record_of(cell).*time);
    return times_ns;
  }
  auto times_ns = reading(
      path_, [&] { return file_->numbers<double>(group_of(repeat_index) + name_of_field(time), matrices(), box); });
  expect_times(path_, times_ns, rank);
  return times_ns;
}

std::vector<double> Hdf5Reader::all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_slots = static_cast<hsize_t>(header_.num_all_to_all_slots);
  if (num_slots == 0) return {};
  return reading(path_, [&] {
    const Shape shape{header_.message_sizes_bytes.size(), static_cast<hsize_t>(header_.num_ranks), num_slots};
    const Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, num_slots}};
    return file_->numbers<double>(group_of(repeat_index) + "all_to_all_time_ns", shape, box);
  });
}

std::vector<std::int32_t> Hdf5Reader::rounds(std::size_t repeat_index, std::int64_t rank) {
  if (!header_.has_rounds) return {};
  return reading(path_, [&] {
    const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
    return file_->numbers<std::int32_t>(group_of(repeat_index) + "round", {num_ranks, num_ranks},
                                        {{static_cast<hsize_t>(rank), 0}, {1, num_ranks}});
  });
}

std::vector<std::int32_t> Hdf5Reader::ranks_on_seat(std::int64_t seat) {
  if (header_.num_permutations == 0) return {};
  return reading(path_, [&] {
    const auto num_permutations = static_cast<hsize_t>(header_.num_permutations);
    return file_->numbers<std::int32_t>("permutations", {num_permutations, static_cast<hsize_t>(header_.num_ranks)},
                                        {{0, static_cast<hsize_t>(seat)}, {num_permutations, 1}});
  });
}

RankPlacement Hdf5Reader::placement(std::int64_t rank) {
  return reading(path_, [&] { return hdf5::read_place(*file_, header_.num_ranks, rank); });
}

std::array<std::int32_t, 4> Hdf5Reader::location(std::int64_t rank) {
  if (!header_.linktest) return {static_cast<std::int32_t>(rank), 0, 0, 0};
  return reading(path_, [&]() -> std::array<std::int32_t, 4> {
    const auto all = file_->numbers<std::int32_t>("linktest/location", {static_cast<hsize_t>(header_.num_ranks), 4},
                                                  {{static_cast<hsize_t>(rank), 0}, {1, 4}});
    return {all[0], all[1], all[2], all[3]};
  });
}

}  // namespace leadline::result
