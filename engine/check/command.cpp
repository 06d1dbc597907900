// SPDX-License-Identifier: Apache-2.0
// What the help of `leadline check` says, which combinations of options are refused, and what then runs.
#include "check/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "bench/io/command.hpp"
#include "check/run.hpp"
#include "check/sample.hpp"
#include "check/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "command/run_validation.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "options/values.hpp"
#include "output/table.hpp"
#include "result/result_file.hpp"
#include "transport/table.hpp"

namespace leadline::check {
namespace {

constexpr const char* description =
    "Says in a minute whether these hosts are good, and which of them are to be taken out of service: latency and\n"
    "bandwidth between random pairs, between the GPUs of a host, bandwidth of all at once, memory, with\n"
    "--congestion what load does to others, and with --target a file system, judged by a site profile\n"
    "(--profile), by the line rate of the adapters and by one another. Without a launcher it starts local\n"
    "processes by itself; under mpirun, mpiexec or srun it checks the hosts of the ranks they started.";

constexpr const char* epilogue =
    "Exit status: 0 good, or with warnings only; 1 bad; 2 the command line is wrong; 3 it could not be tested, or\n"
    "something is missing here; 4 the run failed on the way. With --format nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3\n"
    "UNKNOWN.\n"
    "Examples:\n"
    "  srun leadline check                                    all hosts of a job, within a minute\n"
    "  srun leadline check --budget 15s --no-files --format hostlist    in a prolog: the hosts to drain\n"
    "  srun leadline check --sample 5%                        a part of the hosts, another one each time\n"
    "  mpirun leadline check --target /scratch --profile june.json\n"
    "  mpirun leadline check --congestion --fail-above 20     bad where an incast makes others 20 times as slow\n"
    "  leadline check --local 4 --prom /var/lib/node_exporter/leadline.prom";

void check_sizes(const CheckRequest& request) {
  if (request.latency_size_bytes < request.bandwidth_size_bytes) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("--latency-size {} is not less than --bandwidth-size {}",
                          format_bytes(request.latency_size_bytes), format_bytes(request.bandwidth_size_bytes)),
              "one shows the time of the way, the other one that of the bytes", "Choose two sizes far apart");
}

void check_limits(const command::IsGiven& is_given, CheckRequest& request) {
  if (!is_given("--warn")) request.warn = std::max(request.warn, request.fail);
  if (request.warn >= request.fail) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("--warn {:g} is less than --fail {:g}", request.warn, request.fail),
              "what is bad would have no warning before", "Choose a --warn that is not less");
}

void check_congestion(const CheckRequest& request) {
  if (request.congestion && transport::parse_choice(request.transport).name == "model") {
    throw_no_effect("--congestion", "messages of a simulated fabric do not wait for each other");
  }
  if (request.fail_above == 0 || request.warn_above <= request.fail_above) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("--warn-above {:g} is more than --fail-above {:g}", request.warn_above, request.fail_above),
              "what is bad would have no warning before", "Choose a --warn-above that is not more");
}

void check_status(const CheckRequest& request) {
  if (!request.status_of_host || request.form != Form::nagios) return;
  throw Error(ExitStatus::bad_command_line, "--status-of-host has no effect with --format nagios",
              "the status of a plugin is about all hosts", "Leave one of them out");
}

std::string plan_text(const CheckRequest& request) {
  const command::DryRunRanks ranks = command::dry_run_ranks(request, "check");
  const auto num_ranks = static_cast<std::uint64_t>(ranks.host_of.size());
  double all = 0;
  const auto parts = planned_parts(request);
  for (const PlannedPart& one : parts) all += one.share;
  output::Table table({{"part", output::Align::left}, {"as", output::Align::left}, {"at most"}});
  for (const PlannedPart& one : parts) {
    table.add_row({one.name, "leadline " + one.benchmark, output::format_duration(request.budget_s * one.share / all)});
  }
  std::string sample;
  if (!request.sample.empty()) {
    const std::uint64_t num_hosts = ranks.host_of.back() + 1;
    sample = fmt::format(" on {} of {}", sample_size(request.sample, num_hosts), output::counted(num_hosts, "host"));
  }
  return fmt::format(
      "{}, {} a host{}: {} in all; what a part does not need, the others get\n{}"
      "where ranks have GPUs, leadline link measures between them, too\n",
      output::counted(num_ranks, "rank"), ranks.max_ranks_per_host, sample, output::format_duration(request.budget_s),
      table.text());
}

}  // namespace

CheckRequest parse_check(const std::vector<std::string>& arguments) {
  CheckRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;
  command::OptionParser options("leadline check", description, std::string(command::sizes_help) + epilogue);
  declare_options(options, request, format);
  options.parse(arguments);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  check_sizes(request);
  check_limits(is_given, request);
  check_congestion(request);
  check_status(request);
  if (!request.sample.empty()) {
    sample_size(request.sample, 2);
    if (!is_given("--seed")) request.seed = static_cast<std::uint64_t>(std::time(nullptr));
  }
  command::settle_allocator(is_given, request);
  command::validate_run_options(is_given, request);
  return request;
}

namespace {

CheckRequest parsed(const std::vector<std::string>& arguments) {
  try {
    return parse_check(arguments);
  } catch (const Error& error) {
    const bool is_nagios = std::ranges::find(arguments, "nagios") != arguments.end() ||
                           std::ranges::find(arguments, "--format=nagios") != arguments.end();
    if (is_nagios) throw nagios_error(error);
    throw;
  }
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  CheckRequest request = parsed(arguments);
  if (request.dry_run) return command::say_plan([&] { return plan_text(request); });
  if (request.output.empty()) {
    const std::string name = result::default_file_name("check", ResultFormat::hdf5, std::time(nullptr));
    request.output = name.substr(0, name.rfind('.'));
  }
  std::optional<bench::io::IoStart> io_start;
  if (!request.target.empty()) {
    bench::io::IoRequest files = files_request(request, request.budget_s, 1);
    io_start = bench::io::start_io(files);
  }
  return command::run_ranks(request, "check",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_check(request, std::move(bootstrap), module, io_start ? &*io_start : nullptr);
                            });
}

}  // namespace leadline::check
