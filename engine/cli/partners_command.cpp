// SPDX-License-Identifier: Apache-2.0
// `leadline partners`: whom each rank met in sampled rounds, which follows from what the result says of them.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/link_run.hpp"
#include "cli/main.hpp"
#include "cli/npy.hpp"
#include "cli/option_parser.hpp"
#include "core/error.hpp"
#include "result/link_result_reader.hpp"
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
    "  leadline partners result.h5 partners.npy\n"
    "  python3 -c 'import numpy; print(numpy.load(\"partners.npy\")[0])'   whom rank 0 met, by round";

void write_partners(const std::string& path, const std::string& output, result::ExistingFile existing) {
  expect_link_test(path, "tell the partners in");
  const auto reader = result::LinkResultReader::open(path);
  const result::LinkResultHeader& header = reader->header();
  if (!header.stored_rounds) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' has no table of sampled rounds", path),
                "its times are those of a matrix, in which places say who met whom", "Read the matrix");
  }
  const schedule::SampledRounds rounds(header.stored_rounds->host_of, header.stored_rounds->sample);
  const auto num_ranks = static_cast<std::size_t>(header.num_ranks);
  const auto partners = schedule::partners_by_round(rounds, num_ranks, result::num_rounds_stored(header));
  result::write_document(output, existing, npy_text(partners, {num_ranks, partners.size() / num_ranks}));
}

}  // namespace

int partners_command(const std::vector<std::string>& arguments) {
  std::string path, output;
  bool overwrite = false;
  OptionParser options("leadline partners", partners_description, partners_epilogue);
  options.argument("RESULT", "a result of the link test", path);
  options.argument("TABLE", "the file to write", output);
  options.flag("--overwrite", "replace an older TABLE", overwrite);
  options.parse(arguments);
  const auto existing = overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse;
  result::work_with(path, result::kind_of_file(path), [&] { write_partners(path, output, existing); });
  return 0;
}

}  // namespace leadline::cli
