// SPDX-License-Identifier: Apache-2.0
// `leadline simulate link`: a machine described by options and files, and its result in a file.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/link/plan.hpp"
#include "cli/main.hpp"
#include "cli/reporting.hpp"
#include "cli/simulate_link_options.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "network/formula.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"
#include "output/table.hpp"
#include "result/convert.hpp"
#include "result/output_file.hpp"
#include "synthetic/fault_file.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/result.hpp"
#include "synthetic/scenario.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::cli {
namespace {

using synthetic::Machine;

network::Network network_of(const std::string& word) {
  if (word.starts_with("pattern:")) {
    throw Error(ExitStatus::bad_command_line, "--topology cannot be '" + word + "'",
                "hosts of a simulated machine have no names of their own", "Take " + network::formula_forms());
  }
  return network::is_formula(word) ? network::formula(word) : network::read_topology(word);
}

/// The hosts that the ranks need, the first ones of the network; groups without any are gone.
network::Network first_hosts(const network::Network& network, const Machine& machine) {
  std::vector<std::string> names;
  for (std::uint32_t host = 0; host < synthetic::num_hosts(machine); ++host) {
    const bool has_name = host < network.hosts.size() && !network.hosts[host].empty();
    names.push_back(has_name ? network.hosts[host] : fmt::format("host{}", host));
  }
  return network::for_hosts(network, names);
}

Machine machine_of(const SimulateLinkRequest& request) {
  Machine machine;
  machine.ranks_per_host = request.ranks_per_host;
  machine.sockets_per_host = request.sockets_per_host;
  machine.direction = request.direction;
  machine.message_size_bytes = request.message_size_bytes;
  machine.seed = request.seed;
  machine.network = network_of(request.topology);
  const std::uint64_t most = machine.network.hosts.size() * std::uint64_t{machine.ranks_per_host};
  const std::uint64_t ranks = request.ranks == 0 ? most : request.ranks;
  if (ranks > most || ranks > UINT32_MAX) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} ranks do not fit into {}", ranks, request.topology),
                fmt::format("it has {} hosts, which hold {} ranks", machine.network.hosts.size(), most),
                "Choose fewer --ranks, or more --ranks-per-host");
  }
  machine.num_ranks = static_cast<std::uint32_t>(ranks);
  synthetic::check(machine);
  machine.network = first_hosts(machine.network, machine);
  if (!request.faults.empty()) synthetic::load_faults(request.faults, machine);
  if (request.random_faults > 0) {
    synthetic::ScenarioSettings settings;
    settings.num_faults = request.random_faults;
    settings.factor_low = request.effect_low;
    settings.factor_high = request.effect_high;
    const auto faults = synthetic::random_scenario(machine, request.seed, settings);
    machine.faults.insert(machine.faults.end(), faults.begin(), faults.end());
  }
  return machine;
}

/// Before anything is computed: a result of many ranks may be larger than the disk.
void expect_room(const std::string& path, std::uint64_t size_bytes) {
  std::error_code none;
  const auto folder = std::filesystem::path(path).parent_path();
  const auto space = std::filesystem::space(folder.empty() ? "." : folder, none);
  if (none || space.available >= size_bytes) return;
  throw result::write_error(
      path, fmt::format("it would have {:.1f} GiB, and there are {:.1f} GiB left",
                        static_cast<double>(size_bytes) / 0x1p30, static_cast<double>(space.available) / 0x1p30));
}

std::string machine_text(const Machine& machine) {
  std::string text =
      fmt::format("{} ranks on {} hosts of {}, {} a host; messages of {}, {}; seed {}\n", machine.num_ranks,
                  synthetic::num_hosts(machine), machine.network.source, machine.ranks_per_host,
                  format_bytes(machine.message_size_bytes), name_of(machine.direction), machine.seed);
  for (const synthetic::PlantedFault& fault : machine.faults) text += "fault: " + words_of(machine, fault) + "\n";
  return machine.faults.empty() ? text + "no faults\n" : text;
}

std::string result_text(const LinkResult& result, const std::string& path) {
  const SliceSummary& slice = result.slices.front();
  std::string text = "median";
  const auto add = [&](const char* name, const PairSummary& summary) {
    if (summary.num_pairs > 0) text += fmt::format(" {} {},", name, format_time_ns(summary.time_ns_median));
  };
  add("inside hosts", slice.same_host);
  add("between hosts", slice.between_hosts);
  text.back() = '\n';
  return text + fmt::format("{}: {} ordered pairs, simulated\n", path, slice.all.num_pairs);
}

}  // namespace

int simulate_link_command(const std::vector<std::string>& arguments) {
  const SimulateLinkRequest request = parse_simulate_link(arguments);
  const std::string& path = request.to.path;
  const bool is_sion = path.ends_with(".sion");
  StepLog steps("leadline simulate link", request.to.output.verbose);
  result::StagedFile staged(path,
                            request.to.overwrite() ? result::ExistingFile::overwrite : result::ExistingFile::refuse);
  const Machine machine = machine_of(request);
  steps.done(fmt::format("made a machine of {} with {}", output::counted(machine.num_ranks, "rank"),
                         output::counted(machine.faults.size(), "planted fault")));
  bench::link::FileShape shape;
  shape.num_ranks = machine.num_ranks;
  shape.num_hosts = synthetic::num_hosts(machine);
  shape.num_retests = static_cast<std::uint64_t>(request.retest);
  shape.statistics = request.statistics;
  if (is_sion) shape.statistics = PairStatistics::full;
  if (shape.statistics == PairStatistics::automatic) shape.statistics = bench::link::usual_statistics(shape);
  shape.num_stored_rounds = bench::link::num_stored_rounds(shape.statistics, request.rounds, shape.num_ranks);
  expect_room(path, bench::link::file_bytes(shape));
  const synthetic::Simulator simulator(machine);
  const LinkResult result = synthetic::link_result(
      simulator, {request.command_line, version, commit, shape.statistics, request.rounds}, request.retest);
  steps.done("simulated its link test");
  synthetic::Reader reader(simulator, result);
  result::Losses losses;
  try {
    if (is_sion) {
      losses = result::write_sion(reader, staged.path(), result::SionRecord::extended, path);
    } else {
      losses = result::write_hdf5(reader, staged.path());
    }
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
  steps.done(fmt::format("wrote '{}' with {} statistics of each pair", path, name_of(shape.statistics)));
  std::vector<std::string> read;
  if (!network::is_formula(request.topology)) read.push_back(request.topology);
  if (!request.faults.empty()) read.push_back(request.faults);
  put_written(request.to, {"simulate link", read, {{path, is_sion ? "sion" : "hdf5", 0, machine.num_ranks}}, losses},
              machine_text(machine) + result_text(result, path));
  return 0;
}

}  // namespace leadline::cli
