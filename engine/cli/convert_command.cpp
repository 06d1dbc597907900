// SPDX-License-Identifier: Apache-2.0
// `leadline convert`: a result in the other format, a SION file in its dense form, or another benchmark's text as a
// result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/ior_text.hpp"
#include "bench/link/convert.hpp"
#include "bench/link/reader.hpp"
#include "bench/link/text_reader.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "options/values.hpp"
#include "result/file_kind.hpp"
#include "result/output_file.hpp"
#include "result/sion/container/dense_copy.hpp"

namespace leadline::cli {
namespace {

using bench::link::SionRecord;
using result::ExistingFile;
using result::FileKind;

constexpr const char* convert_description =
    "Writes a result into a new file of the format that the ending of --output says: .h5 or .hdf5, .sion. IN is HDF5 "
    "or\n"
    "SION, whatever its name, or the text that another benchmark has printed. Between HDF5 and SION nothing is lost\n"
    "that both can hold; what one cannot hold is said. SION to SION gives the dense form: one file without gaps, of\n"
    "any SION file or set (as 'siondefrag -q 1' does), in place where --output is IN. What an interrupted run left in\n"
    "SION becomes HDF5 that is marked incomplete.\n"
    "Texts: OSU (latency, bw, bibw; mbw_mr of one pair), IMB (PingPong, PingPing; Uniband, Biband of one pair),\n"
    "mpiGraph (the matrix of the senders), perftest, sendrecv_perf of nccl-tests with two ranks. A pair is that of\n"
    "ranks 0 and 1, in one direction; each number is taken as one batch. The text of IOR becomes a result of leadline\n"
    "io, as .h5: its first test, with the rate of each write and read.";

constexpr const char* convert_epilogue =
    "The new file appears when it is whole. Exit status: 0 fine, 2 the command line is wrong or IN is no result, 3 "
    "something "
    "is\n"
    "missing here, 4 IN is damaged, or the new file cannot be written.\n"
    "Examples:\n"
    "  leadline convert pingpong_results_bin.sion                  LinkTest's result for 'leadline report', as .h5\n"
    "  leadline convert result.h5 --output old.sion --plain        nothing but what LinkTest 1.2 itself writes\n"
    "  leadline convert big.sion --output big.sion --overwrite     dense, in place\n"
    "  leadline convert mpiGraph.out                               its matrix for 'leadline report' and 'diagnose'\n"
    "  leadline convert ior.out --output old.h5                    its rates for 'leadline report' and 'compare'";

struct ConvertRequest {
  std::string input;
  command::FileOutput to;
  bool plain = false;
  std::vector<std::string> host_names;
};

FileKind kind_of_name(const std::string& path) {
  if (path.ends_with(".sion")) return FileKind::sion;
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return FileKind::hdf5;
  return FileKind::other;
}

const char* name_of(FileKind kind) { return kind == FileKind::sion ? "sion" : "hdf5"; }

/// The name of the input with the ending of the other format; of a text .h5.
std::string other_name(const std::string& input, FileKind from) {
  return std::filesystem::path(input).replace_extension(from == FileKind::hdf5 ? ".sion" : ".h5").string();
}

ConvertRequest parse_convert(const std::vector<std::string>& arguments) {
  ConvertRequest request;
  command::OptionParser options("leadline convert", convert_description, convert_epilogue);
  options.argument("IN", "the result: HDF5, SION, or the text of another benchmark", request.input);
  command::declare_file_output(options, request.to, "the new file; its ending says the format",
                               "IN with the ending of the other format");
  options.flag("--plain", "SION: LinkTest 1.2's record and nothing behind it", request.plain);
  options
      .words("--host-names",
             "for texts that do not name their hosts: those of rank 0 and rank 1, of IOR those of all ranks; the "
             "result can be compared then",
             request.host_names,
             [](const std::string& option, const std::string& name) {
               if (name.empty()) throw_bad_value(option, name, "a name is empty");
             })
      .by_default("rank0,rank1; of IOR the first, as the text says, then host1, host2");
  options.parse(arguments);
  command::check_file_output(request.to);
  return request;
}

void check_kinds(const ConvertRequest& request, FileKind from) {
  const FileKind to = kind_of_name(request.to.path);
  if (to == FileKind::other) {
    throw Error(ExitStatus::bad_command_line,
                "the name of the new file " + request.to.path + " does not say its format", "",
                "End it with .h5, .hdf5 or .sion");
  }
  if (request.plain && to != FileKind::sion) {
    throw Error(ExitStatus::bad_command_line, "--plain has no effect here", "only SION has LinkTest's record",
                "Leave it out, or end the name of the new file with .sion");
  }
  if (!request.host_names.empty() && from != FileKind::other) {
    throw_no_effect("--host-names", "a result has the names of its hosts");
  }
  if (from == FileKind::hdf5 && to == FileKind::hdf5) {
    throw Error(ExitStatus::bad_command_line, "there is nothing to convert", "both files are HDF5",
                "Copy the file, or end the new name with .sion");
  }
}

/// Other tests have matrices by channel or by pattern, for which LinkTest's record has no field.
void expect_convertible(const std::string& path) {
  const std::string benchmark = result::benchmark_of(path, result::kind_of_file(path));
  if (benchmark == "link") return;
  throw Error(ExitStatus::bad_command_line, "cannot convert '" + path + "'",
              fmt::format("a result of leadline {}: only those of leadline link have another format", benchmark),
              "Use the HDF5 file as it is: 'leadline info' and 'leadline report' read it");
}

/// Ranks times slices.
std::uint64_t num_rows(const bench::link::Header& header) {
  return static_cast<std::uint64_t>(header.num_ranks) * header.repeats.size() * header.message_sizes_bytes.size();
}

void say_written(const ConvertRequest& request, FileKind to, std::optional<std::uint64_t> num_rows,
                 const bench::link::LeftOut& losses) {
  const std::string& path = request.to.path;
  if (!losses.empty() && !request.to.output.quiet)
    command::complain(fmt::format("{} does not have {}", path, fmt::join(losses, "; ")));
  command::put_written(request.to, {"convert", {request.input}, {{path, name_of(to), 0, num_rows}}, losses},
                       path + "\n");
}

/// Writes the new file under another name, and says what it does not have.
void convert(const ConvertRequest& request, FileKind from, FileKind to, command::StepLog& steps) {
  expect_convertible(request.input);
  const std::string& path = request.to.path;
  result::StagedFile staged(path, request.to.overwrite() ? ExistingFile::overwrite : ExistingFile::refuse);
  std::unique_ptr<bench::link::ResultReader> reader;
  bench::link::LeftOut losses;
  if (from == FileKind::other) {
    auto text = std::make_unique<bench::link::TextReader>(request.input, request.host_names);
    losses = text->left_out();
    reader = std::move(text);
  } else {
    reader = bench::link::ResultReader::open(request.input);
  }
  steps.done(bench::link::opened_text(*reader));
  const auto add = [&](const bench::link::LeftOut& more) { losses.insert(losses.end(), more.begin(), more.end()); };
  try {
    if (to == FileKind::hdf5) {
      add(bench::link::write_hdf5(*reader, staged.path()));
    } else {
      const SionRecord record = request.plain ? SionRecord::plain : SionRecord::extended;
      add(bench::link::write_sion(*reader, staged.path(), record, path));
    }
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
  steps.done(fmt::format("wrote '{}' as {}", path, name_of(to)));
  say_written(request, to, num_rows(reader->header()), losses);
}

/// The new file is one of the I/O test, which HDF5 alone can hold.
void convert_ior(const ConvertRequest& request, command::StepLog& steps) {
  const std::string& path = request.to.path;
  if (kind_of_name(path) == FileKind::sion) {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot convert '{}' to SION", request.input),
                "IOR measures files, and SION has results of leadline link alone",
                "End the name of the new file with .h5");
  }
  result::StagedFile staged(path, request.to.overwrite() ? ExistingFile::overwrite : ExistingFile::refuse);
  const bench::io::IorText text = bench::io::read_ior_text(request.input);
  steps.done(fmt::format("opened '{}': {}, {} phases", request.input, text.program, text.result.phases.size()));
  bench::link::LeftOut losses;
  try {
    losses = bench::io::write_hdf5(text, request.host_names, staged.path());
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
  steps.done(fmt::format("wrote '{}' as {}", path, name_of(FileKind::hdf5)));
  say_written(request, FileKind::hdf5, std::nullopt, losses);
}

}  // namespace

int convert_command(const std::vector<std::string>& arguments) {
  ConvertRequest request = parse_convert(arguments);
  command::StepLog steps("leadline convert", request.to.output.verbose);
  const FileKind from = result::kind_of_file(request.input);
  if (request.to.path.empty()) request.to.path = other_name(request.input, from);
  check_kinds(request, from);
  const FileKind to = kind_of_name(request.to.path);
  if (from == FileKind::other && bench::io::is_ior_text(request.input)) {
    convert_ior(request, steps);
    return 0;
  }
  if (from == FileKind::sion && to == FileKind::sion && !request.plain) {
    steps.tell("SION to SION: the contents are copied as they are, without gaps");
    result::sion::dense_copy(request.input, request.to.path,
                             request.to.overwrite() ? ExistingFile::overwrite : ExistingFile::refuse);
    steps.done(fmt::format("wrote '{}'", request.to.path));
    say_written(request, to, std::nullopt, {});
    return 0;
  }
  result::work_with(request.input, from, [&] { convert(request, from, to, steps); });
  return 0;
}

}  // namespace leadline::cli
