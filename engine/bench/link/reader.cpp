// SPDX-License-Identifier: Apache-2.0
// Tells the formats apart, and the rules that results of all formats obey.
#include "bench/link/reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bench/link/hdf5_reader.hpp"
#include "bench/link/sion_reader.hpp"
#include "core/error.hpp"
#include "result/file_kind.hpp"

namespace leadline::bench::link {

std::unique_ptr<ResultReader> ResultReader::open(const std::string& path) {
  switch (result::kind_of_file(path)) {
    case result::FileKind::hdf5:
      return std::make_unique<Hdf5Reader>(path);
    case result::FileKind::sion:
      return std::make_unique<SionReader>(path);
    case result::FileKind::other:
      break;
  }
  throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'", "it is neither HDF5 nor SION",
              "A result of leadline or LinkTest is wanted");
}

MeasuredTimes ResultReader::measured_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank,
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

void expect_times(const std::string& path, const std::vector<double>& times_ns, std::int64_t rank) {
  for (const double time : times_ns) {
    if (!std::isfinite(time) || time < 0) {
      result::throw_damaged(path, fmt::format("rank {} has the time {} ns, which no measurement gives", rank, time));
    }
  }
}

void expect_times(const std::string& path, const PairRow& row, std::int64_t rank) {
  row.for_each([&](const auto& field, const auto& values) {
    if constexpr (std::same_as<FieldValue<PairRecord, decltype(field.get)>, double>) expect_times(path, values, rank);
  });
}

void set_provenance(Header& header, const ForeignRun& run) {
  header.provenance = {{"version", ""},
                       {"commit", ""},
                       {"command_line", run.command_line},
                       {"start_utc", ""},
                       {"launcher", ""},
                       {"kernel", ""},
                       {"transport", run.transport},
                       {"transport_library", ""},
                       {"transport_device", ""},
                       {"simulated", std::int64_t{0}},
                       {"clock_source", ""},
                       {"clock_resolution_ns", 0.0},
                       {"clock_cost_ns", 0.0},
                       {"wait", ""},
                       {"control_plane_on_loopback", std::int64_t{0}},
                       {"num_ranks", header.num_ranks},
                       {"num_hosts", static_cast<std::int64_t>(run.num_hosts)},
                       {"num_rounds", run.num_rounds},
                       {"direction", name_of(run.direction)}};
}

void check_header(const std::string& path, const Header& header) {
  if (header.message_sizes_bytes.empty()) result::throw_damaged(path, "there is no message size");
  std::int32_t before = -1;
  for (const KeptRepeat& kept : header.repeats) {
    if (kept.repeat <= before)
      result::throw_damaged(path, fmt::format("repeat {} follows repeat {}", kept.repeat, before));
    before = kept.repeat;
  }
  const auto is_rank = [&](std::int32_t rank) { return rank >= 0 && rank < header.num_ranks; };
  const auto check = [&](const auto& again) {
    const bool is_size = again.size_index >= 0 && std::cmp_less(again.size_index, header.message_sizes_bytes.size());
    if (is_rank(again.from) && is_rank(again.to) && is_size) return;
    result::throw_damaged(
        path, fmt::format("a retest of the pair {} to {} of size {}", again.from, again.to, again.size_index));
  };
  if (header.retests) std::ranges::for_each(*header.retests, check);
  if (header.second_measurements) std::ranges::for_each(*header.second_measurements, check);
}

void expect_link_test(const std::string& path, const std::string& verb) {
  const std::string benchmark = result::benchmark_of(path, result::kind_of_file(path));
  if (benchmark == "link") return;
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot {} '{}'", verb, path),
              fmt::format("a result of leadline {}: only the link test measures single pairs", benchmark),
              "Choose a result of leadline link");
}

std::string opened_text(const ResultReader& reader) {
  return opened_text(reader.path(), reader.header(), reader.header().repeats.size());
}

std::string opened_text(const std::string& path, const result::RunHeader& header, std::size_t num_repeats) {
  return fmt::format("opened '{}': {}, {} in {}, {}", path,
                     output::counted(static_cast<std::uint64_t>(header.num_ranks), "rank"),
                     output::counted(header.message_sizes_bytes.size(), "message size"),
                     output::counted(num_repeats, "repeat"), header.complete ? "complete" : "not complete");
}

}  // namespace leadline::bench::link
