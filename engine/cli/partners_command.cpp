// SPDX-License-Identifier: Apache-2.0
// `leadline partners`: whom each rank met in each round, which follows from what a compact result says of its schedule.
#include <fmt/format.h>

#include <algorithm>
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
    "Writes whom each rank met in each round: a table of ranks x rounds as NumPy's .npy, 32-bit numbers, -1 = the "
    "rank\n"
    "rested. Results in the compact form store times alone, since this follows from their options, or from what they "
    "say\n"
    "of their sampled rounds. Rounds have the numbers of a test of all pairs, many at once, which exports show, too.";

constexpr const char* partners_epilogue =
    "Exit status: 0 fine, 2 the command line is wrong or RESULT does not say who met whom, 3 something is missing "
    "here,\n"
    "4 RESULT is damaged.\n"
    "Examples:\n"
    "  leadline partners result.h5 --output partners.npy\n"
    "  python3 -c 'import numpy; print(numpy.load(\"partners.npy\")[0])'   whom rank 0 met, by round";

struct PartnersRequest {
  std::string path;
  std::int64_t first = 0, num_ranks = 0;
  std::int64_t repeat = 1;
  command::FileOutput to;
};

/// Of some ranks, by rank and round.
struct Partners {
  std::int64_t num_rounds = 0;
  std::vector<std::int32_t> table;
};

Partners partners_in_sample(const bench::link::Header& header, std::int64_t first, std::int64_t end) {
  const schedule::SampledRounds rounds(header.stored_rounds->host_of, header.stored_rounds->sample);
  Partners partners{bench::link::num_rounds_stored(header), {}};
  partners.table = schedule::partners_by_round(rounds, static_cast<std::size_t>(header.num_ranks), partners.num_rounds);
  const auto begin = partners.table.begin();
  partners.table = {begin + first * partners.num_rounds, begin + end * partners.num_rounds};
  return partners;
}

Partners partners_in_rounds(bench::link::ResultReader& reader, std::size_t repeat_index, std::int64_t first,
                            std::int64_t end) {
  Partners partners;
  std::vector<std::vector<std::int32_t>> rounds_of;
  for (std::int64_t rank = first; rank < end; ++rank) {
    rounds_of.push_back(reader.rounds(repeat_index, rank));
    partners.num_rounds = std::max<std::int64_t>(partners.num_rounds, std::ranges::max(rounds_of.back()));
  }
  for (const auto& rounds : rounds_of) {
    std::vector<std::int32_t> row(static_cast<std::size_t>(partners.num_rounds), -1);
    for (std::size_t partner = 0; partner < rounds.size(); ++partner) {
      if (rounds[partner] > 0) row[static_cast<std::size_t>(rounds[partner] - 1)] = static_cast<std::int32_t>(partner);
    }
    partners.table.insert(partners.table.end(), row.begin(), row.end());
  }
  return partners;
}

std::size_t repeat_index(const bench::link::ResultReader& reader, std::int64_t repeat) {
  const auto& repeats = reader.header().repeats;
  const auto found = std::ranges::find(repeats, repeat - 1, &bench::link::KeptRepeat::repeat);
  if (found != repeats.end()) return static_cast<std::size_t>(found - repeats.begin());
  throw Error(ExitStatus::bad_command_line, fmt::format("'{}' has no repeat {}", reader.path(), repeat), "",
              "'leadline info' tells how many there are");
}

void write_partners(const PartnersRequest& request) {
  command::StepLog steps("leadline partners", request.to.output.verbose);
  bench::link::expect_link_test(request.path, "tell the partners in");
  const auto reader = bench::link::ResultReader::open(request.path);
  const bench::link::Header& header = reader->header();
  if (!header.has_rounds) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("'{}' does not say who met whom in which round", request.path),
                "it has a matrix of the times of randomly sampled rounds", "Read the matrix");
  }
  steps.done(bench::link::opened_text(*reader));
  const std::size_t index = repeat_index(*reader, request.repeat);
  const std::int64_t first = std::min(request.first, header.num_ranks);
  const std::int64_t end =
      request.num_ranks > 0 ? std::min(first + request.num_ranks, header.num_ranks) : header.num_ranks;
  const Partners partners =
      header.stored_rounds ? partners_in_sample(header, first, end) : partners_in_rounds(*reader, index, first, end);
  steps.done(fmt::format("found out who met whom in {}",
                         output::counted(static_cast<std::uint64_t>(partners.num_rounds), "round")));
  const auto num_rows = static_cast<std::size_t>(end - first);
  result::write_document(request.to.path,
                         request.to.overwrite() ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         npy_text(partners.table, {num_rows, static_cast<std::size_t>(partners.num_rounds)}));
  steps.done(fmt::format("wrote '{}'", request.to.path));
  command::put_written(request.to, {"partners", {request.path}, {{request.to.path, "npy", 0, num_rows}}, {}},
                       request.to.path + "\n");
}

}  // namespace

int partners_command(const std::vector<std::string>& arguments) {
  PartnersRequest request;
  command::OptionParser options("leadline partners", partners_description, partners_epilogue);
  options.argument("RESULT", "a result of the link test", request.path);
  options.count("--first", "the first of the ranks", 0, INT32_MAX, request.first);
  options.count("--ranks", "of so many ranks", 1, INT32_MAX, request.num_ranks, "all");
  options.count("--repeat", "of this repeat; the first is 1", 1, INT32_MAX, request.repeat);
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
