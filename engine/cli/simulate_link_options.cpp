// SPDX-License-Identifier: Apache-2.0
// Every option of `leadline simulate link` with its help, its check and its member of the request.
#include "cli/simulate_link_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ctime>

#include "bench/run_options.hpp"
#include "cli/option_parser.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "model/request.hpp"
#include "result/link_result_file.hpp"

namespace leadline::cli {
namespace {

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
  declare_file_output(options, request.to, "the result, .h5 or .sion", "leadline-simulated-link-TIME.h5");
  options.choice("--statistics", "what an HDF5 file has of each pair", request.statistics);
}

void check_format(const std::string& path) {
  if (path.empty()) return;
  const ResultFormat format = result::format_for(path, {});
  if (format == ResultFormat::hdf5 || format == ResultFormat::sion) return;
  throw_bad_value("--output", path, "a simulated result is HDF5 or SION", "End its name with .h5 or .sion");
}

}  // namespace

SimulateLinkRequest parse_simulate_link(const std::vector<std::string>& arguments) {
  SimulateLinkRequest request;
  request.command_line = arguments;
  OptionParser options("leadline simulate link", simulate_link_description, simulate_link_examples);
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
  check_file_output(request.to);
  if (request.to.path.empty())
    request.to.path = result::default_file_name("simulated-link", ResultFormat::hdf5, std::time(nullptr));
  return request;
}

}  // namespace leadline::cli
