// SPDX-License-Identifier: Apache-2.0
// `leadline patterns`: whom each rank sends to in patterns of the bisection test.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/bisection/plan.hpp"
#include "cli/main.hpp"
#include "cli/npy.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "command/text_file.hpp"
#include "core/error.hpp"
#include "result/output_file.hpp"
#include "schedule/pattern.hpp"

namespace leadline::cli {
namespace {

constexpr const char* patterns_description =
    "Writes whom each rank sends to in patterns of the bisection test: a table of patterns x ranks as NumPy's .npy,\n"
    "32-bit numbers, -1 = the rank rests. The named patterns come first, as asked for, then the random ones. HOSTS "
    "has\n"
    "the name of each rank's host, one a line.";

constexpr const char* patterns_epilogue =
    "Exit status: 0 fine, 2 the command line is wrong or so many ranks have no such pattern.\n"
    "Example:\n"
    "  leadline patterns hosts.txt --output patterns.npy --pattern halves,random --rounds 10 --seed 7";

std::vector<std::uint32_t> hosts_in(const std::string& path) {
  std::unordered_map<std::string, std::uint32_t> number_of;
  std::vector<std::uint32_t> host_of;
  std::istringstream lines(command::read_text_file("HOSTS", path, "Name a file with the host of a rank in each line"));
  for (std::string line; std::getline(lines, line);) {
    host_of.push_back(number_of.try_emplace(line, static_cast<std::uint32_t>(number_of.size())).first->second);
  }
  return host_of;
}

/// Of the plan: all named patterns, then random ones from this index on.
std::vector<std::int32_t> table_of(const bench::bisection::Plan& plan,
                                   const bench::bisection::BisectionRequest& request, std::uint64_t first) {
  std::vector<std::int32_t> table;
  const auto add = [&](const schedule::Pattern& pattern) {
    table.insert(table.end(), pattern.send_to.begin(), pattern.send_to.end());
  };
  for (const schedule::PatternSpec& spec : plan.named) {
    add(schedule::named_pattern(spec, plan.rank_layout.num_ranks, plan.ranks));
  }
  for (std::uint64_t index = first; plan.has_random && index < first + request.rounds; ++index) {
    add(schedule::random_pattern(plan.participants, plan.ranks, request.seed, index));
  }
  return table;
}

}  // namespace

int patterns_command(const std::vector<std::string>& arguments) {
  std::string hosts;
  command::FileOutput to;
  std::uint64_t first = 0;
  bench::bisection::BisectionRequest request;
  request.rounds = 1;
  command::OptionParser options("leadline patterns", patterns_description, patterns_epilogue);
  options.argument("HOSTS", "a list of hosts, by rank", hosts);
  options.words("--pattern", "names as leadline bisection takes them", request.patterns,
                [](const std::string&, const std::string&) {});
  options.count("--first", "index of the first random pattern", 0, UINT64_MAX / 2, first);
  options.count("--rounds", "so many random patterns", 0, 10'000'000, request.rounds);
  options.count("--seed", "seed of random patterns", 0, UINT64_MAX, request.seed);
  options.count("--active-ranks-per-host", "only so many ranks of each host take part, the lowest", 0, 1u << 26,
                request.active_ranks_per_host, "all");
  options.flag("--within-hosts", "random pairs may lie on one host, too", request.within_hosts);
  command::declare_file_output(options, to, "the table", "HOSTS with .patterns.npy");
  options.parse(arguments);
  command::check_file_output(to);
  if (to.path.empty()) to.path = std::filesystem::path(hosts).replace_extension(".patterns.npy").string();

  command::StepLog steps("leadline patterns", to.output.verbose);
  const std::vector<std::uint32_t> host_of = hosts_in(hosts);
  bench::RankLayout layout;
  layout.num_ranks = static_cast<int>(host_of.size());
  layout.host_of = host_of;
  const bench::bisection::Plan plan = bench::bisection::plan(request, layout);
  steps.done(fmt::format("of {} ranks {} take part", host_of.size(), plan.ranks.size()));
  const std::vector<std::int32_t> table = table_of(plan, request, first);
  const std::size_t num_rows = table.size() / host_of.size();
  result::write_document(to.path, to.overwrite() ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         npy_text(table, {num_rows, host_of.size()}));
  steps.done(fmt::format("wrote '{}'", to.path));
  command::Written written{"patterns", {hosts}, {{to.path, "npy", 0, num_rows}}, {}, {}, plan.ranks.size()};
  for (const schedule::PatternSpec& spec : plan.named) written.patterns.push_back(spec.name);
  if (plan.has_random) written.patterns.emplace_back("random");
  command::put_written(to, std::move(written), to.path + "\n");
  return 0;
}

}  // namespace leadline::cli
