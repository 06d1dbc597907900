// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline io`: what the help says, and what follows from several options together.
#include "cli/io_options.hpp"

#include <optional>

#include "bench/io/options.hpp"
#include "cli/help_texts.hpp"
#include "cli/io_validation.hpp"
#include "result/link_result_file.hpp"

namespace leadline::cli {
namespace {

constexpr double default_timeout_s = 300;  // an fsync of much data is silent for minutes

constexpr const char* io_description =
    "Writes and reads files by all ranks at once: a file each, one for all, or through ranks that do the I/O for the\n"
    "others. Every object says whose it is and where it belongs, and is checked when it is read. Beside the rates it\n"
    "says what they include: open, fsync and close, and whether reads came from the page cache. Without a launcher it\n"
    "starts local processes by itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* io_notes =
    "Movements (N ranks, M of them or M files; numbers are the types of the MPI-IO Test):\n"
    "  N-N    1  every rank has a file of its own\n"
    "  N-1    2  all ranks share one file\n"
    "  N-M-M  3  ranks send their objects to M I/O ranks, which have a file each\n"
    "  N-M-1  4  ranks send their objects to M I/O ranks, which share one file\n"
    "  N-M    5  ranks share M files, rank r file r mod M; nothing is sent\n"
    "Rates: bytes / the I/O time of the slowest rank, from before its open to behind its close (and its fsync, with\n"
    "--sync inside); making and checking contents are left out, and have rates of their own.\n"
    "Files that hold anything but our own blocks are not written over without --overwrite-targets.\n";

constexpr const char* io_examples =
    "Examples:\n"
    "  leadline io --local 4 --target /scratch/t.%r                  a file for each of 4 processes\n"
    "  mpirun -n 64 leadline io --movement N-1 --target /scratch/t --collective --drop-cache\n"
    "  mpirun -n 64 leadline io --movement N-M-1 --io-ranks 4 --buffer-size 64MiB --target /scratch/t\n"
    "  mpirun -n 64 leadline io --target /scratch/t.%r --read-shift hosts:1      read what another host wrote\n"
    "  leadline io --dry-run --ranks 4096 --movement N-M --files 16      who would write what where, and its cost";

}  // namespace

IoRequest parse_io_command(const std::vector<std::string>& arguments) {
  IoRequest request;
  request.command_line = arguments;
  request.timeout_s = default_timeout_s;
  std::optional<ResultFormat> format;

  OptionParser options("leadline io", io_description,
                       std::string(io_notes) + sizes_help + exit_status_help + io_examples);
  bench::io::declare_options(options, request, format);

  options.parse(arguments);
  const IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  if (request.file_fill == memory::BlockKind::doubles && !is_given("--touch")) request.touch = memory::Touch::object;
  request.message_sizes_bytes = {request.object_size_bytes};
  request.format = result::format_for(request.output, format);
  validate_options(is_given, request);
  return request;
}

}  // namespace leadline::cli
