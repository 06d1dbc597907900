// SPDX-License-Identifier: Apache-2.0
// `leadline diagnose`: what a result says about hosts, ports, links and switches.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/observed.hpp"
#include "bench/io/hdf5_reader.hpp"
#include "bench/io/observed.hpp"
#include "bench/link/matrix_rows.hpp"
#include "bench/link/profiled_file.hpp"
#include "bench/link/reader.hpp"
#include "bench/run_options.hpp"
#include "bench/topology/hdf5_reader.hpp"
#include "bench/topology/observed.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/fault_groups.hpp"
#include "diagnosis/line_rate.hpp"
#include "diagnosis/observations.hpp"
#include "diagnosis/profile.hpp"
#include "network/routes.hpp"
#include "network/stored_network.hpp"
#include "output/diagnosis_text.hpp"
#include "output/table.hpp"
#include "result/diagnosis_json.hpp"
#include "result/file_kind.hpp"

namespace leadline::cli {
namespace {

constexpr const char* diagnose_description =
    "Says which hosts, ports, links, ranks, switches or storage targets of a result are slower than comparable ones, "
    "how\n"
    "sure that is, what was ruled out and what to do. Reads HDF5 and SION, also of runs that broke off.";

constexpr const char* diagnose_epilogue =
    "Exit status: 0 fine, 1 with --strict where a fault is found, 2 the command line is wrong or RESULT is no "
    "result,\n"
    "3 something is missing here, 4 RESULT is damaged.";

constexpr const char* no_means_note =
    "unsteady components were not looked for: the result is compact and has no means of the pairs";

struct DiagnoseRequest {
  std::string path, topology, routes_path, profile_path;
  std::optional<std::uint64_t> size_bytes;
  std::optional<int> repeat;
  DiagnosisSettings settings;
  bool strict = false;
  command::CommandOutput output;
};

DiagnoseRequest parse_diagnose(const std::vector<std::string>& arguments) {
  DiagnoseRequest request;
  command::OptionParser options("leadline diagnose", diagnose_description, diagnose_epilogue);
  options.argument("RESULT", "a result of any benchmark", request.path);
  options
      .value("--message-size", "SIZE", "only this message size",
             [&](const std::string&, const std::string& text) { request.size_bytes = parse_bytes(text); })
      .by_default("all");
  options
      .count("--repeat", "only this repeat, from 1", 1, 1'000'000,
             [&](std::uint64_t n) { request.repeat = static_cast<int>(n) - 1; })
      .by_default("all");
  bench::declare_verdict(options, request.topology, request.settings)
      .topology.by_default("that of the run, as RESULT has it");
  bench::declare_routes(options, request.routes_path);
  bench::declare_profile(options, request.profile_path);
  options.flag("--strict", "end with status 1 where a fault is found", request.strict);
  command::declare_output(options, request.output);
  options.parse(arguments);
  command::check_output(request.output);
  return request;
}

[[noreturn]] void throw_no_such_slice(const DiagnoseRequest& request, const result::RunHeader& header,
                                      std::size_t num_repeats) {
  std::string sizes;
  for (const std::uint64_t size : header.message_sizes_bytes) sizes += (sizes.empty() ? "" : ", ") + format_bytes(size);
  throw Error(ExitStatus::bad_command_line, fmt::format("'{}' has no such size or repeat", request.path),
              fmt::format("sizes {}, {} repeats", sizes, num_repeats), "Leave out --message-size or --repeat");
}

using Chosen = std::pair<std::size_t, std::size_t>;  // repeat, size: positions in the header's lists

std::vector<Chosen> chosen_slices(const DiagnoseRequest& request, const bench::link::Header& header) {
  std::vector<Chosen> chosen;
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    if (request.repeat && header.repeats[repeat].repeat != *request.repeat) continue;
    for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
      if (request.size_bytes && header.message_sizes_bytes[size] != *request.size_bytes) continue;
      chosen.emplace_back(repeat, size);
    }
  }
  if (chosen.empty()) throw_no_such_slice(request, header, header.repeats.size());
  return chosen;
}

/// Ordered pairs that a whole test has; a file does not count them.
std::uint64_t pairs_to_measure(const bench::link::Header& header) {
  const auto num_ranks = static_cast<std::uint64_t>(header.num_ranks);
  return num_ranks * (num_ranks - 1);
}

diagnosis::Layout layout_of(const DiagnoseRequest& request, std::int64_t num_ranks, auto& reader,
                            command::StepLog& steps) {
  diagnosis::Layout layout =
      bench::link::layout_of(num_ranks, [&](std::int64_t rank) { return reader.placement(rank); });
  layout.network = bench::link::network_for(request.topology, reader, layout.host_names);
  if (!request.routes_path.empty()) {
    layout.routes = network::read_routes(request.routes_path, request.topology, layout.host_names);
    steps.tell(fmt::format("the ways of pairs are known from {}: {} cables and switches", request.routes_path,
                           layout.routes.parts.size()));
  }
  steps.tell(layout.network.levels.empty() ? "nothing is known of the network: no --topology, and none in the result"
                                           : "the network is known from " + layout.network.source);
  return layout;
}

std::vector<DiagnosedSlice> diagnosed(const DiagnoseRequest& request, bench::link::ResultReader& reader,
                                      command::StepLog& steps) {
  const bench::link::Header& header = reader.header();
  const std::vector<Chosen> chosen = chosen_slices(request, header);
  const diagnosis::Layout layout = layout_of(request, header.num_ranks, reader, steps);
  std::vector<DiagnosedSlice> slices;
  const diagnosis::SiteProfile site = bench::link::read_profile(request.profile_path, conditions_of(header, layout));
  const bool has_means = !header.linktest && !header.is_compact;
  const bool is_serial = result::option_text(header, "serial") == "true";
  const bool is_round_trip = result::option_text(header, "direction") == name_of(Direction::semidirectional);
  for (const Chosen& one : chosen) {
    const std::size_t repeat = one.first, size = one.second;
    bench::link::SliceRows of_slice(reader, repeat, size, bench::link::workers_on_file);
    const LineRate line_rate = result::line_rate(header);
    const auto rows_of = [&](Symptom symptom) -> const diagnosis::Rows& { return of_slice.of(symptom); };
    diagnosis::Recorded recorded = bench::link::recorded_retests(reader, repeat, size);
    const diagnosis::Question question{.rows = rows_of,
                                       .layout = layout,
                                       .settings = request.settings,
                                       .num_pairs = pairs_to_measure(header),
                                       .has_means = has_means,
                                       .retest = recorded.retest,
                                       .retested = std::move(recorded.pairs),
                                       .load = is_serial ? diagnosis::Load::alone : diagnosis::Load::concurrent,
                                       .is_round_trip = is_round_trip};
    slices.push_back({header.repeats[repeat].repeat, static_cast<int>(size), header.message_sizes_bytes[size], "",
                      diagnosis::diagnose(question)});
    Diagnosis& found = slices.back().diagnosis;
    diagnosis::compare_with_line_rate(line_rate, of_slice.of(Symptom::slow), layout, recorded.retest,
                                      header.message_sizes_bytes[size], found);
    diagnosis::judge_by(site, of_slice.of(Symptom::slow), layout, header.message_sizes_bytes[size], found);
    if (header.is_compact) slices.back().diagnosis.notes.emplace_back(no_means_note);
    steps.done(fmt::format("diagnosed {}, repeat {}: {} of {} pairs measured, {}",
                           format_bytes(header.message_sizes_bytes[size]), header.repeats[repeat].repeat + 1,
                           found.num_measured, found.num_pairs, output::counted(found.faults.size(), "finding")));
  }
  return slices;
}

std::vector<DiagnosedSlice> diagnosed(const DiagnoseRequest& request, const bench::bisection::Hdf5Reader& reader,
                                      command::StepLog& steps) {
  const auto& header = reader.header();
  const diagnosis::Layout layout = layout_of(request, header.num_ranks, reader, steps);
  std::vector<DiagnosedSlice> slices;
  for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
    if (request.size_bytes && header.message_sizes_bytes[size] != *request.size_bytes) continue;
    const diagnosis::ObservedSlice observed = bench::bisection::read_observed(reader, size);
    if (!observed.observations.empty()) slices.push_back(diagnosis::diagnosed(observed, layout, request.settings));
  }
  if (slices.empty() && request.size_bytes) throw_no_such_slice(request, header, 1);
  return slices;
}

std::vector<DiagnosedSlice> diagnosed(const DiagnoseRequest& request, const bench::topology::Hdf5Reader& reader,
                                      command::StepLog& steps) {
  const auto& header = reader.header();
  const auto& sizes = header.message_sizes_bytes;
  if (request.size_bytes && std::ranges::find(sizes, *request.size_bytes) == sizes.end()) {
    throw_no_such_slice(request, header, static_cast<std::size_t>(header.num_repeats));
  }
  const diagnosis::Layout layout = layout_of(request, header.num_ranks, reader, steps);
  std::vector<DiagnosedSlice> slices;
  for (std::size_t topology = 0; topology < header.topologies.size(); ++topology) {
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      if (request.size_bytes && sizes[size] != *request.size_bytes) continue;
      auto told = bench::topology::diagnosed(reader, topology, size, layout, request.settings);
      if (told) slices.push_back(std::move(*told));
    }
  }
  return slices;
}

std::vector<DiagnosedSlice> diagnosed(const DiagnoseRequest& request, const bench::io::Hdf5Reader& reader,
                                      command::StepLog& steps) {
  const diagnosis::Layout layout = layout_of(request, reader.header().num_ranks, reader, steps);
  return bench::io::diagnosed(reader, layout, request.settings);
}

/// As many as the list of all slices has.
std::size_t num_faults(const std::vector<DiagnosedSlice>& slices) {
  std::size_t num = 0;
  for (const DiagnosedSlice& one : slices) num += num_slower_than_profile(one.diagnosis);
  for (const diagnosis::FaultGroup& one : diagnosis::fault_groups(diagnosis::seen_faults(slices))) {
    num += counts(one.fault) ? 1 : 0;
  }
  return num;
}

void tell(const DiagnoseRequest& request, const result::RunHeader& header, std::vector<DiagnosedSlice> slices) {
  if (request.output.is_json) {
    command::put_output(request.output, result::diagnosis_document(request.path, header.complete, slices));
  } else {
    std::string text;
    for (DiagnosedSlice& one : slices) {
      if (request.output.quiet) one.diagnosis.notes.clear();
    }
    if (!header.complete && !request.output.quiet) {
      text = fmt::format("the result is not complete: {}\n", printable(header.incomplete_reason, LineEnds::replaced));
    }
    text += output::diagnoses_text(slices);
    const bool uses_stored = request.topology.empty() && !header.network.empty();
    if (uses_stored && !request.output.quiet) {
      text += fmt::format("note: network, as the run was told: {}\n", network::words_of_stored(header.network));
    }
    command::put_output(request.output, text);
  }
  if (const std::size_t num = num_faults(slices); request.strict && num > 0) {
    throw Error(ExitStatus::below_threshold,
                fmt::format("{} found in '{}'", output::counted(num, "fault"), request.path));
  }
}

void diagnose(const DiagnoseRequest& request) {
  command::StepLog steps("leadline diagnose", request.output.verbose);
  const std::string benchmark = result::benchmark_of(request.path, result::kind_of_file(request.path));
  if (benchmark == "bisection") {
    if (!request.profile_path.empty()) throw_no_effect("--profile", "a site profile is of link tests");
    if (!request.routes_path.empty()) throw_no_effect("--routes", "they are used for link tests");
    if (request.repeat) throw_no_effect("--repeat", "a bisection test is diagnosed over all its patterns");
    const bench::bisection::Hdf5Reader reader(request.path);
    steps.done(bench::link::opened_text(request.path, reader.header(), 1));
    return tell(request, reader.header(), diagnosed(request, reader, steps));
  }
  if (benchmark == "topology") {
    if (!request.profile_path.empty()) throw_no_effect("--profile", "a site profile is of link tests");
    if (!request.routes_path.empty()) throw_no_effect("--routes", "they are used for link tests");
    if (request.repeat) throw_no_effect("--repeat", "a topology test is diagnosed over all its repeats");
    const bench::topology::Hdf5Reader reader(request.path);
    if (reader.header().has_load) {
      throw Error(ExitStatus::bad_command_line, fmt::format("'{}' says nothing about hosts", request.path),
                  "it is of a load (--duration), in which no message is timed by itself");
    }
    steps.done(bench::link::opened_text(request.path, reader.header(), 1));
    return tell(request, reader.header(), diagnosed(request, reader, steps));
  }
  if (benchmark == "io") {
    if (!request.profile_path.empty()) throw_no_effect("--profile", "a site profile is of link tests");
    if (!request.routes_path.empty()) throw_no_effect("--routes", "they are used for link tests");
    if (request.repeat) throw_no_effect("--repeat", "a file test is diagnosed over all its phases");
    if (request.size_bytes) throw_no_effect("--message-size", "a file test has one size of objects");
    const bench::io::Hdf5Reader reader(request.path);
    steps.done(bench::link::opened_text(request.path, reader.header(), reader.header().num_phases));
    return tell(request, reader.header(), diagnosed(request, reader, steps));
  }
  bench::link::expect_link_test(request.path, "diagnose");
  const auto reader = bench::link::ResultReader::open(request.path);
  steps.done(bench::link::opened_text(*reader));
  tell(request, reader->header(), diagnosed(request, *reader, steps));
}

}  // namespace

int diagnose_command(const std::vector<std::string>& arguments) {
  const DiagnoseRequest request = parse_diagnose(arguments);
  result::work_with(request.path, result::kind_of_file(request.path), [&] { diagnose(request); });
  return 0;
}

}  // namespace leadline::cli
