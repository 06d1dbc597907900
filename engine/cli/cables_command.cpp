// SPDX-License-Identifier: Apache-2.0
// `leadline cables`: a file with a physical network as a list of its cables.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "network/cables.hpp"
#include "result/output_file.hpp"

namespace leadline::cli {
namespace {

constexpr const char* cables_description =
    "Writes the cables of a physical network, one a line: two nodes and a capacity, behind a line 'hosts:' with those\n"
    "nodes that are hosts. TOPOLOGY is Slurm's topology.conf, the output of ibnetdiscover, or such a list already.";

constexpr const char* cables_epilogue =
    "A topology.conf does not tell how many cables lead up: here a switch has one for each host below it. Lower the\n"
    "capacities where there are fewer.\n"
    "Exit status: 0 fine, 2 the command line is wrong or TOPOLOGY is no network.\n"
    "Example:\n"
    "  leadline cables /etc/slurm/topology.conf --output network.cables";

}  // namespace

int cables_command(const std::vector<std::string>& arguments) {
  std::string topology;
  command::FileOutput to;
  command::OptionParser options("leadline cables", cables_description, cables_epilogue);
  options.argument("TOPOLOGY", "a file with a physical network", topology);
  command::declare_file_output(options, to, "the list", "TOPOLOGY with .cables");
  options.parse(arguments);
  command::check_file_output(to);
  if (to.path.empty()) to.path = std::filesystem::path(topology).replace_extension(".cables").string();
  command::StepLog steps("leadline cables", to.output.verbose);
  const std::string text = network::cables_of_file(topology);
  steps.done(fmt::format("read '{}'", topology));
  result::write_document(to.path, to.overwrite() ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         text);
  steps.done(fmt::format("wrote '{}'", to.path));
  command::put_written(to, {"cables", {topology}, {{to.path, "cables", 0, {}}}, {}}, to.path + "\n");
  return 0;
}

}  // namespace leadline::cli
