// SPDX-License-Identifier: Apache-2.0
// `leadline partners`: whom each rank met in sampled rounds, which follows from what the result says of them.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/link/reader.hpp"
#include "cli/main.hpp"
#include "cli/npy.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "output/table.hpp"
#include "result/file_kind.hpp"
#include "result/output_file.hpp"
#include "schedule/sampled_rounds.hpp"

namespace leadline::cli {
namespace {

constexpr const char* partners_description =
    "Writes whom each rank met in each round of a result that has randomly sampled rounds in the compact form, where\n"
    "only times are stored: a table of ranks x rounds as NumPy's .npy, 32-bit numbers, -1 = the rank rested.";

constexpr const char* partners_epilogue =
    "Exit status: 0 fine, 2 the command line is wrong or RESULT has no such rounds, 3 something is missing here,\n"
    "4 RESULT is damaged.\n"
    "Examples:\n"
    "  leadline partners result.h5 --output partners.npy\n"
    "  python3 -c 'import numpy; print(numpy.load(\"partners.npy\")[0])'   whom rank 0 met, by round";

struct PartnersRequest {
  std::string path;
  command::FileOutput to;
};

void write_partners(const PartnersRequest& request) {
  command::StepLog steps("leadline partners", request.to.output.verbose);
  bench::link::expect_link_test(request.path, "tell the partners in");
  const auto reader = bench::link::ResultReader::open(request.path);
  const bench::link::Header& header = reader->header();
  if (!header.stored_rounds) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' has no table of sampled rounds", request.path),
                "its times are those of a matrix, in which places say who met whom", "Read the matrix");
  }
  steps.done(bench::link::opened_text(*reader));
  const schedule::SampledRounds rounds(header.stored_rounds->host_of, header.stored_rounds->sample);
  const auto num_rounds = bench::link::num_rounds_stored(header);
  const auto num_ranks = static_cast<std::size_t>(header.num_ranks);
  const auto partners = schedule::partners_by_round(rounds, num_ranks, num_rounds);
  steps.done(fmt::format("found out from the seed who met whom in {}",
                         output::counted(static_cast<std::uint64_t>(num_rounds), "round")));
  result::write_document(request.to.path,
                         request.to.overwrite() ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         npy_text(partners, {num_ranks, partners.size() / num_ranks}));
  steps.done(fmt::format("wrote '{}'", request.to.path));
  command::put_written(request.to, {"partners", {request.path}, {{request.to.path, "npy", 0, num_ranks}}, {}},
                       request.to.path + "\n");
}

}  // namespace

int partners_command(const std::vector<std::string>& arguments) {
  PartnersRequest request;
  command::OptionParser options("leadline partners", partners_description, partners_epilogue);
  options.argument("RESULT", "a result of the link test", request.path);
  command::declare_file_output(options, request.to, "the table", "RESULT with .partners.npy");
  options.parse(arguments);
  command::check_file_output(request.to);
  if (request.to.path.empty()) {
    request.to.path = std::filesystem::path(request.path).replace_extension(".partners.npy").string();
  }
  result::work_with(request.path, result::kind_of_file(request.path), [&] { write_partners(request); });
  return 0;
}

}  // namespace leadline::cli
