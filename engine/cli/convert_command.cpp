// SPDX-License-Identifier: Apache-2.0
// `leadline convert`: a result in the other format, or a SION file in its dense form.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "cli/main.hpp"
#include "cli/option_parser.hpp"
#include "cli/reporting.hpp"
#include "core/error.hpp"
#include "result/convert.hpp"
#include "result/link_result_reader.hpp"
#include "result/output_file.hpp"
#include "result/sion/container/dense_copy.hpp"

namespace leadline::cli {
namespace {

using result::ExistingFile;
using result::FileKind;
using result::SionRecord;

constexpr const char* convert_description =
    "Writes a result into a new file of the format that the ending of OUT says: .h5 or .hdf5, .sion. IN is HDF5 or "
    "SION,\n"
    "whatever its name. Between the two nothing is lost that both can hold; what one cannot hold is said. SION to "
    "SION\n"
    "gives the dense form: one file without gaps, of any SION file or set (as 'siondefrag -q 1' does), in place where "
    "OUT\n"
    "is IN. What an interrupted run left in SION becomes HDF5 that is marked incomplete.";

constexpr const char* convert_epilogue =
    "OUT appears when it is whole. Exit status: 0 fine, 2 the command line is wrong or IN is no result, 3 something "
    "is\n"
    "missing here, 4 IN is damaged, or OUT cannot be written.\n"
    "Examples:\n"
    "  leadline convert pingpong_results_bin.sion result.h5    LinkTest's result for 'leadline report'\n"
    "  leadline convert result.h5 result.sion                  and back\n"
    "  leadline convert result.h5 old.sion --plain             nothing but what LinkTest 1.2 itself writes\n"
    "  leadline convert big.sion big.sion --overwrite          dense, in place";

struct Request {
  std::string input, output;
  bool overwrite = false;
  bool plain = false;
};

FileKind kind_of_name(const std::string& path) {
  if (path.ends_with(".sion")) return FileKind::sion;
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return FileKind::hdf5;
  return FileKind::other;
}

Request parse(const std::vector<std::string>& arguments) {
  Request request;
  OptionParser options("leadline convert", convert_description, convert_epilogue);
  options.argument("IN", "the result: HDF5 or SION", request.input);
  options.argument("OUT", "the new file; its ending says the format", request.output);
  options.flag("--overwrite", "replace an older file", request.overwrite);
  options.flag("--plain", "SION: LinkTest 1.2's record and nothing behind it", request.plain);
  options.parse(arguments);
  if (kind_of_name(request.output) == FileKind::other) {
    throw Error(ExitStatus::bad_command_line, "the name of the new file " + request.output + " does not say its format",
                "", "End it with .h5, .hdf5 or .sion");
  }
  if (request.plain && kind_of_name(request.output) != FileKind::sion) {
    throw Error(ExitStatus::bad_command_line, "--plain has no effect here", "only SION has LinkTest's record",
                "Leave it out, or end the name of the new file with .sion");
  }
  return request;
}

/// Other tests have matrices by channel or by pattern, for which LinkTest's record has no field.
void expect_convertible(const std::string& path) {
  const std::string benchmark = result::benchmark_of(path, result::kind_of_file(path));
  if (benchmark == "link") return;
  throw Error(ExitStatus::bad_command_line, "cannot convert '" + path + "'",
              fmt::format("a result of leadline {}: only those of leadline link have another format", benchmark),
              "Use the HDF5 file as it is: 'leadline info' and 'leadline report' read it");
}

/// Writes the new file under another name, and says what it does not have.
void write(const Request& request, const std::string& path) {
  expect_convertible(request.input);
  const auto reader = result::LinkResultReader::open(request.input);
  result::Losses losses;
  if (kind_of_name(request.output) == FileKind::hdf5) {
    losses = result::write_hdf5(*reader, path);
  } else {
    const SionRecord record = request.plain ? SionRecord::plain : SionRecord::extended;
    losses = result::write_sion(*reader, path, record, request.output);
  }
  if (!losses.empty()) complain(fmt::format("{} does not have {}", request.output, fmt::join(losses, "; ")));
}

void convert(const Request& request, FileKind from, ExistingFile existing) {
  result::StagedFile staged(request.output, existing);
  try {
    result::work_with(request.input, from, [&] { write(request, staged.path()); });
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
}

}  // namespace

int convert_command(const std::vector<std::string>& arguments) {
  const Request request = parse(arguments);
  const ExistingFile existing = request.overwrite ? ExistingFile::overwrite : ExistingFile::refuse;
  const FileKind from = result::kind_of_file(request.input), to = kind_of_name(request.output);
  if (from == FileKind::sion && to == FileKind::sion && !request.plain) {
    result::sion::dense_copy(request.input, request.output, existing);
    return 0;
  }
  if (from == FileKind::hdf5 && to == FileKind::hdf5) {
    throw Error(ExitStatus::bad_command_line, "there is nothing to convert", "both files are HDF5",
                "Copy the file, or end the new name with .sion");
  }
  convert(request, from, existing);
  return 0;
}

}  // namespace leadline::cli
