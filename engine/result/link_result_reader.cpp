// SPDX-License-Identifier: Apache-2.0
// Tells the formats apart, and the rules that results of all formats obey.
#include "result/link_result_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "result/hdf5/hdf5_reader.hpp"
#include "result/hdf5/run_reader.hpp"
#include "result/sion/container/reader.hpp"
#include "result/sion/sion_reader.hpp"
#include "result/subprocess.hpp"

namespace leadline::result {

namespace {

constexpr const char* hdf5_signature = "\x89HDF\r\n\x1a\n";

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const sion::InputFile file(path);
  std::string head(8, '\0');
  head.resize(file.read_at(0, head));
  if (head.empty()) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "the file is empty",
                "Was the run stopped before it could write?");
  }
  if (head.starts_with("sion")) return FileKind::sion;
  if (head.starts_with("\x89HDF") && head != hdf5_signature) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "damaged: the HDF5 header is broken",
                "Copy the file again");
  }
  return head == hdf5_signature ? FileKind::hdf5 : FileKind::other;
}

std::unique_ptr<LinkResultReader> LinkResultReader::open(const std::string& path) {
  switch (kind_of_file(path)) {
    case FileKind::hdf5:
      return std::make_unique<Hdf5Reader>(path);
    case FileKind::sion:
      return std::make_unique<SionReader>(path);
    case FileKind::other:
      break;
  }
  throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'", "it is neither HDF5 nor SION",
              "A result of leadline or LinkTest is wanted");
}

std::string benchmark_of(const std::string& path, FileKind kind) {
  if (kind != FileKind::hdf5) return "link";
  const hdf5::Session quiet;
  const auto read = [&] { return hdf5::reading(path, [&] { return hdf5::read_benchmark(hdf5::Input(path), path); }); };
  hdf5::expect_readable(path, [&] { (void)read(); });
  return read();
}

MeasuredTimes LinkResultReader::measured_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
                                            PairTime time) {
  MeasuredTimes measured;
  const std::vector<double> times = times_ns(repeat_index, size_index, rank, time);
  for (std::size_t partner = 0; partner < times.size(); ++partner) {
    if (!(times[partner] > 0)) continue;
    measured.partners.push_back(static_cast<std::uint32_t>(partner));
    measured.times_ns.push_back(times[partner]);
  }
  return measured;
}

void work_with(const std::string& path, FileKind kind, const std::function<void()>& work) {
  if (kind != FileKind::hdf5) return work();
  run_in_subprocess("cannot read '" + path + "'", "damaged: the HDF5 library cannot cope with what is in it", work);
}

void throw_damaged(const std::string& path, const std::string& what) {
  throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "damaged: " + what);
}

void expect_times(const std::string& path, const std::vector<double>& times_ns, std::int64_t rank) {
  for (const double time : times_ns) {
    if (!std::isfinite(time) || time < 0) {
      throw_damaged(path, fmt::format("rank {} has the time {} ns, which no measurement gives", rank, time));
    }
  }
}

void expect_times(const std::string& path, const PairRow& row, std::int64_t rank) {
  row.for_each([&](const auto& field, const auto& values) {
    if constexpr (std::same_as<FieldValue<PairRecord, decltype(field.get)>, double>) expect_times(path, values, rank);
  });
}

void check_header(const std::string& path, const LinkResultHeader& header) {
  if (header.message_sizes_bytes.empty()) throw_damaged(path, "there is no message size");
  std::int32_t before = -1;
  for (const KeptRepeat& kept : header.repeats) {
    if (kept.repeat <= before) throw_damaged(path, fmt::format("repeat {} follows repeat {}", kept.repeat, before));
    before = kept.repeat;
  }
  const auto is_rank = [&](std::int32_t rank) { return rank >= 0 && rank < header.num_ranks; };
  const auto check = [&](const auto& again) {
    const bool is_size = again.size_index >= 0 && std::cmp_less(again.size_index, header.message_sizes_bytes.size());
    if (is_rank(again.from) && is_rank(again.to) && is_size) return;
    throw_damaged(path,
                  fmt::format("a retest of the pair {} to {} of size {}", again.from, again.to, again.size_index));
  };
  if (header.retests) std::ranges::for_each(*header.retests, check);
  if (header.second_measurements) std::ranges::for_each(*header.second_measurements, check);
}

}  // namespace leadline::result
