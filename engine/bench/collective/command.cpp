// SPDX-License-Identifier: Apache-2.0
// `leadline collective`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/collective/command.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/collective/plan.hpp"
#include "bench/collective/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "command/run_validation.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::collective {
namespace {

constexpr const char* collective_description =
    "Measures collective operations of single-precision numbers: allreduce, allgather, reduce-scatter, alltoall. They\n"
    "are those of the MPI library or of NCCL, or our own over any transport. It says the time of an operation, and\n"
    "bandwidths as nccl-tests define them. Without a launcher it starts local processes by itself; under mpirun, "
    "mpiexec\n"
    "or srun it measures the ranks they started.";

constexpr const char* collective_notes =
    "The time of an operation is that of a batch by its operations, of the slowest rank. A size S is the larger "
    "buffer\n"
    "of a rank: of an allreduce both, of allgather what is received, of reduce-scatter what is sent. With n ranks\n"
    "algbw = S / time; busbw = algbw * 2(n-1)/n of an allreduce, algbw * (n-1)/n of all others.\n";

constexpr const char* collective_examples =
    "Examples:\n"
    "  leadline collective --local 4                        4 processes over TCP on loopback\n"
    "  mpirun -n 64 leadline collective                     the MPI library's own operations\n"
    "  mpirun -n 64 leadline collective --algorithm ring --message-size 1KiB-64MiB*4\n"
    "  srun leadline collective --transport nccl --operation allreduce --message-size 1MiB-1GiB*4\n"
    "  mpirun -n 64 leadline collective --group-hosts 4 --rounds 12     in random groups of 4 hosts\n"
    "  leadline collective --dry-run --ranks 256 --ranks-per-host 4";

}  // namespace

CollectiveRequest parse_collective_command(const std::vector<std::string>& arguments) {
  CollectiveRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  command::OptionParser options(
      "leadline collective", collective_description,
      std::string(collective_notes) + command::sizes_help + command::exit_status_help + collective_examples);
  declare_options(options, request, format);

  options.parse(arguments);
  request.format = result::format_for(request.output, format);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  command::settle_allocator(is_given, request);
  if (request.algorithm == Algorithm::ring) check_memory_of_ring(request);
  command::validate_run_options(is_given, request);
  command::refuse_sion(request, "a collective test");
  return request;
}

int collective_command(const std::vector<std::string>& arguments) {
  CollectiveRequest request = parse_collective_command(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "collective");
      const std::vector<bool> is_absent(ranks.host_of.size(), false);
      return collective_plan_text(request, plan(request, ranks.rank_layout(), is_absent));
    });
  }
  return command::run_ranks(request, "collective",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_collective(request, std::move(bootstrap), module);
                            });
}

}  // namespace leadline::bench::collective
