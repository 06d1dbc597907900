// SPDX-License-Identifier: Apache-2.0
// `leadline simulate link`: a machine described by options and files, and its result in a file.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/link/convert.hpp"
#include "bench/link/file.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/request.hpp"
#include "bench/run_options.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "command/version.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "model/request.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"
#include "output/table.hpp"
#include "result/output_file.hpp"
#include "synthetic/faults.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/result.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::cli {
namespace {

using synthetic::Machine;

/// One member per option, same names.
struct SimulateLinkRequest {
  std::vector<std::string> command_line;
  std::string topology;
  std::uint32_t ranks = 0;  ///< 0 = on all hosts
  std::uint32_t ranks_per_host = 1, sockets_per_host = 1;
  std::string faults;
  std::uint32_t random_faults = 0;
  double effect_low = 1.2, effect_high = 1.2;
  std::uint64_t message_size_bytes = 1024;
  Direction direction = Direction::unidirectional;
  std::uint64_t seed = 1;
  int retest = 10;
  std::int64_t rounds = 0;  ///< 0 = all
  command::FileOutput to;   ///< whose path is never empty
  bench::link::PairStatistics statistics = bench::link::PairStatistics::automatic;
};

constexpr const char* simulate_link_description =
    "Writes what a link test of a simulated machine would have measured: any network, any faults, noise as of a\n"
    "real machine. The file is as one of 'leadline link' and says that it is simulated: for learning what faults look\n"
    "like, for demonstrations and for tests. The same options give the same numbers.";

constexpr const char* simulate_link_examples =
    "Exit status: 0 fine, 2 the command line, the topology or the faults file is wrong, 3 there is not the memory, 4 "
    "the\n"
    "file cannot be written.\n"
    "Examples:\n"
    "  leadline simulate link --topology fat-tree:32x16 --ranks-per-host 8 --random-faults 3 --output test.h5\n"
    "  leadline simulate link --topology topology.conf --faults faults.json --output test.h5\n"
    "  leadline report test.h5                           what they look like";

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20;
constexpr double most_effect = 1e6;

double parse_factor(const std::string& option, const std::string& text, const std::string& part) {
  double factor = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), factor);
  if (error != std::errc() || end != part.data() + part.size() || !(factor >= 1 && factor <= most_effect))
    throw_bad_value(option, text, "it must be a factor from 1 to 1e6, or two of them with - between",
                    "Write for example 1.2 or 1.1-3");
  return factor;
}

void declare_machine(OptionTable& options, SimulateLinkRequest& request) {
  options.group("The machine");
  options
      .text("--topology", "WORD",
            "the physical network: fat-tree:HOSTSxLEAVES[xPODS], dragonfly:H, torus:XxYx..., or a file (Slurm's "
            "topology.conf, the output of ibnetdiscover, a list of cables). Needed",
            request.topology, "it is empty")
      .as_file();
  options.count("--ranks", "ranks; host after host is filled", 2, most_ranks, request.ranks,
                "as many as the network's hosts hold");
  options.count("--ranks-per-host", "ranks on each host", 1, 65'536, request.ranks_per_host);
  options.count("--sockets-per-host",
                "sockets that the ranks of a host are split among; the network adapter is at the first", 1, 65'536,
                request.sockets_per_host);
}

void declare_faults(OptionTable& options, SimulateLinkRequest& request) {
  options.group("What is wrong with it");
  options
      .text("--faults", "FILE", "JSON with faults, speeds and noise: docs/formats/simulated-faults.md", request.faults,
            "it is empty")
      .as_file();
  options.count("--random-faults", "as many faults of random kinds in random components, no two on one host", 0,
                100'000, request.random_faults);
  options
      .value("--effect", "FACTOR", "how many times as long random faults make a message, or a range: 1.1-3",
             [&](const std::string& option, const std::string& text) {
               const std::size_t dash = text.find('-');
               request.effect_low = request.effect_high = parse_factor(option, text, text.substr(0, dash));
               if (dash != std::string::npos) request.effect_high = parse_factor(option, text, text.substr(dash + 1));
               if (request.effect_high < request.effect_low) throw_bad_value(option, text, "it descends");
             })
      .by_default(fmt::format("{:g}", request.effect_low));
}

void declare_test(OptionTable& options, SimulateLinkRequest& request) {
  options.group("The test");
  options.size("--message-size", "one size", 0, bench::max_message_size_bytes, request.message_size_bytes);
  options.choice("--direction",
                 "what a pair exchanges; a fault of one way shows in that way (unidirectional), by half in both "
                 "(semidirectional), or in the slower way, which counts (bidirectional)",
                 request.direction);
  options.count("--rounds", "so many randomly sampled rounds of hosts instead of all", 1, 1'000'000, request.rounds,
                "all rounds");
  options.count("--retest", "the N slowest pairs are measured again, alone", 0, 100'000, request.retest);
  options.count("--seed", "seed of noise and random faults", 0, UINT64_MAX, request.seed);
}

void declare_simulated_file(OptionTable& options, SimulateLinkRequest& request) {
  options.group("The result");
  command::declare_file_output(options, request.to, "the result, .h5 or .sion", "leadline-simulated-link-TIME.h5");
  options.choice("--statistics", "what an HDF5 file has of each pair", request.statistics);
}

void check_format(const std::string& path) {
  if (path.empty()) return;
  const ResultFormat format = result::format_for(path, {});
  if (format == ResultFormat::hdf5 || format == ResultFormat::sion) return;
  throw_bad_value("--output", path, "a simulated result is HDF5 or SION", "End its name with .h5 or .sion");
}

SimulateLinkRequest parse_simulate_link(const std::vector<std::string>& arguments) {
  SimulateLinkRequest request;
  request.command_line = arguments;
  command::OptionParser options("leadline simulate link", simulate_link_description, simulate_link_examples);
  declare_machine(options, request);
  declare_faults(options, request);
  declare_test(options, request);
  declare_simulated_file(options, request);
  options.parse(arguments, 3);
  check_format(request.to.path);
  if (request.topology.empty())
    throw Error(ExitStatus::bad_command_line, "leadline simulate link needs a topology", "",
                "Try: --topology fat-tree:32x16");
  if (request.random_faults == 0 && options.is_given("--effect"))
    throw Error(ExitStatus::bad_command_line, "--effect has no effect here", "there are no random faults",
                "Add --random-faults, or leave it out");
  if (options.is_given("--statistics") && request.to.path.ends_with(".sion"))
    throw Error(ExitStatus::bad_command_line, "--statistics has no effect here", "a result as sion has one form",
                "End the name of --output with .h5, or leave it out");
  command::check_file_output(request.to);
  if (request.to.path.empty())
    request.to.path = result::default_file_name("simulated-link", ResultFormat::hdf5, std::time(nullptr));
  return request;
}

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

std::string result_text(const bench::link::LinkResult& result, const std::string& path) {
  const bench::link::SliceSummary& slice = result.slices.front();
  std::string text = "median";
  const auto add = [&](const char* name, const bench::link::PairSummary& summary) {
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
  command::StepLog steps("leadline simulate link", request.to.output.verbose);
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
  if (is_sion) shape.statistics = bench::link::PairStatistics::full;
  if (shape.statistics == bench::link::PairStatistics::automatic)
    shape.statistics = bench::link::usual_statistics(shape);
  shape.num_stored_rounds = bench::link::num_stored_rounds(shape.statistics, request.rounds, shape.num_ranks);
  expect_room(path, bench::link::file_bytes(shape));
  const synthetic::Simulator simulator(machine);
  const bench::link::LinkResult result = synthetic::link_result(
      simulator, {request.command_line, command::version, command::commit, shape.statistics, request.rounds},
      request.retest);
  steps.done("simulated its link test");
  synthetic::Reader reader(simulator, result);
  bench::link::LeftOut losses;
  try {
    if (is_sion) {
      losses = bench::link::write_sion(reader, staged.path(), bench::link::SionRecord::extended, path);
    } else {
      losses = bench::link::write_hdf5(reader, staged.path());
    }
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
  steps.done(fmt::format("wrote '{}' with {} statistics of each pair", path, name_of(shape.statistics)));
  std::vector<std::string> read;
  if (!network::is_formula(request.topology)) read.push_back(request.topology);
  if (!request.faults.empty()) read.push_back(request.faults);
  command::put_written(request.to,
                       {"simulate link", read, {{path, is_sion ? "sion" : "hdf5", 0, machine.num_ranks}}, losses},
                       machine_text(machine) + result_text(result, path));
  return 0;
}

}  // namespace leadline::cli
