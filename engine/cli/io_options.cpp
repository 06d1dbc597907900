// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline io`: every option with its help, its check and its member of the request.
#include "cli/io_options.hpp"

#include <fmt/format.h>

#include <optional>

#include "cli/arguments.hpp"
#include "cli/io_validation.hpp"
#include "cli/io_values.hpp"
#include "cli/run_options.hpp"
#include "result/link_result_file.hpp"
#include "storage/table.hpp"

namespace leadline::cli {
namespace {

constexpr std::uint64_t min_object_bytes = memory::word_size_bytes;
constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_file_bytes = (std::uint64_t{1} << 63) - 1;
constexpr std::uint64_t max_files = 1u << 26;
constexpr std::uint64_t max_ahead = 1024;
constexpr double least_threshold = 0.001;
constexpr double default_timeout_s = 300;  // an fsync of much data is silent for minutes

constexpr const char* description =
    "Writes and reads files by all ranks at once: a file each, one for all, or through ranks that do the I/O for the\n"
    "others. Every object says whose it is and where it belongs, and is checked when it is read. Beside the rates it\n"
    "says what they include: open, fsync and close, and whether reads came from the page cache. Without a launcher it\n"
    "starts local processes by itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* words =
    "Movements (N ranks, M of them or M files; numbers are the types of the MPI-IO Test):\n"
    "  N-N    1  every rank has a file of its own\n"
    "  N-1    2  all ranks share one file\n"
    "  N-M-M  3  ranks send their objects to M I/O ranks, which have a file each\n"
    "  N-M-1  4  ranks send their objects to M I/O ranks, which share one file\n"
    "  N-M    5  ranks share M files, rank r file r mod M; nothing is sent\n"
    "Rates: bytes / the I/O time of the slowest rank, from before its open to behind its close (and its fsync, with\n"
    "--sync inside); making and checking contents are left out, and have rates of their own.\n"
    "Files that hold anything but our own blocks are not written over without --overwrite-targets.\n";

constexpr const char* examples =
    "Examples:\n"
    "  leadline io --local 4 --target /scratch/t.%r                  a file for each of 4 processes\n"
    "  mpirun -n 64 leadline io --movement N-1 --target /scratch/t --collective --drop-cache\n"
    "  mpirun -n 64 leadline io --movement N-M-1 --io-ranks 4 --buffer-size 64MiB --target /scratch/t\n"
    "  mpirun -n 64 leadline io --target /scratch/t.%r --read-shift hosts:1      read what another host wrote\n"
    "  leadline io --dry-run --ranks 4096 --movement N-M --files 16      who would write what where, and its cost";

std::string backend_help() {
  std::string text = "what moves bytes between memory and files. Default: mpi-io where messages go by MPI, else posix";
  for (const storage::Entry& entry : storage::backends()) text += fmt::format("\n{} - {}", entry.name, entry.purpose);
  return text;
}

void declare_movement(OptionParser& options, IoRequest& request, bool& is_strided, bool& no_self_send) {
  options.group("How data moves");
  options.value("--movement", "NAME", "N-N, N-1, N-M-M, N-M-1, N-M, or 1 to 5; see below. Default: N-N",
                [&](const std::string& option, const std::string& text) {
                  request.movement = schedule::parse_movement(option, text);
                });
  options.flag("--strided", "object 0 of all ranks, then object 1 of all ranks ..., rather than rank by rank",
               is_strided);
  options.count("--objects", "of a rank; with --time-limit the most", 1, max_count, request.num_objects);
  options.value("--object-size", "SIZE", "of each, a multiple of 8 B: the unit of calls and messages. Default: 1MiB",
                [&](const std::string& option, const std::string& text) {
                  request.object_size_bytes = parse_size(option, text, min_object_bytes, max_object_bytes);
                });
  options.value(
      "--io-ranks", "LIST", "N-M-M, N-M-1: so many ranks do I/O; with --io-hosts so many on each host. Default: all",
      [&](const std::string& option, const std::string& text) { request.io_ranks = parse_io_ranks(option, text); });
  options.value(
      "--io-hosts", "LIST", "the hosts whose lowest ranks do I/O. Default: any",
      [&](const std::string& option, const std::string& text) { request.io_hosts = parse_hosts(option, text); });
  options.count("--files", "N-M: so many", 1, max_files, request.num_files, "as many as --targets names");
  options.value("--buffer-size", "SIZE",
                "of the buffers of an I/O rank, a multiple of the object size. Default: what fits into 64MiB, at least "
                "one object",
                [&](const std::string& option, const std::string& text) {
                  request.buffer_size_bytes = parse_size(option, text, min_object_bytes, max_object_bytes);
                });
  options.count("--ahead",
                "buffers (or objects of non-blocking calls) beside the one in use, being received or written", 0,
                max_ahead, request.num_ahead);
  options.flag("--no-self-send", "ranks that do I/O for others have no objects of their own", no_self_send);
  options.flag("--no-file", "only the messages: nothing is opened", request.no_file);
}

void declare_calls(OptionParser& options, IoRequest& request) {
  options.group("Which calls");
  options.value("--backend", "NAME", backend_help(), [&](const std::string& option, const std::string& text) {
    request.backend = parse_backend(option, text);
  });
  options.choice("--calls", "blocking or non-blocking", request.calls, {FileCalls::blocking, FileCalls::non_blocking});
  options.flag("--collective", "all ranks that share a file make their calls together", request.collective);
  options.flag("--allow-fragile",
               "make such calls also where a trial before the run has crashed, hung or returned wrong data",
               request.allow_fragile);
  options.value("--hints", "KEY=VALUE,...", "for the MPI library, when it opens files",
                [&](const std::string& option, const std::string& text) { request.hints = parse_hints(option, text); });
  options.flag("--barrier", "before every write call, among the ranks that share the file", request.barrier);
}

void declare_files(OptionParser& options, IoRequest& request) {
  options.group("Which files");
  options.text("--target", "NAME",
               "name of the file; %r is the rank that opens it (N-M: the number of the file), %h its host, %p its "
               "process, %% a percent sign. Default: leadline-io.%r, or leadline-io where it is shared",
               request.target, "it must name a file");
  options.text("--targets", "FILE", "a file with names instead, one a line; empty lines and lines with # are skipped",
               request.targets_file, "it must name a file");
  options.flag("--overwrite-targets", "overwrite also files that are not ours", request.overwrite_targets);
  options.flag("--delete", "delete the files at the end", request.delete_files);
  options.value("--preallocate", "SIZE", "of each file, before it is written",
                [&](const std::string& option, const std::string& text) {
                  request.preallocate_bytes = parse_size(option, text, 1, max_file_bytes);
                });
}

void declare_phases(OptionParser& options, IoRequest& request) {
  options.group("Which phases");
  options.choice("--op", "write, read (what an earlier run has written), or both", request.operations,
                 {IoOperations::write, IoOperations::read, IoOperations::both});
  declare_repeat(options, request);
  options.seconds("--sleep", "so long between writing and reading", 0, request.sleep_s);
  options.seconds("--time-limit", "of a phase: all ranks stop after the same object; 0 = none", 0,
                  request.time_limit_s);
}

void declare_data(OptionParser& options, IoRequest& request) {
  using memory::BlockKind, memory::Check, memory::Touch;
  options.group("What is in the files");
  options.choice("--fill",
                 "what objects consist of: blocks (a header with a checksum every 4 KiB) or doubles (those of the "
                 "MPI-IO Test)",
                 request.file_fill, {BlockKind::blocks, BlockKind::doubles});
  options.choice("--touch",
                 "how much of an object is new before it is written: never, object (its first header; for --fill "
                 "doubles the default), page (every header) or full",
                 request.touch, {Touch::never, Touch::object, Touch::page, Touch::full});
  options.choice("--check",
                 "how much of an object is compared after it was read: none, first (its first header), two or all",
                 request.check, {Check::none, Check::first, Check::two, Check::all});
  declare_memory_and_wait(options, request);
}

void declare_cache(OptionParser& options, IoRequest& request, bool& is_direct, bool& is_uncached, bool& drop_cache) {
  options.group("The page cache");
  options.flag("--direct", "go round it (O_DIRECT)", is_direct);
  options.flag("--uncached", "go through it, and leave nothing there (RWF_DONTCACHE)", is_uncached);
  options.flag("--drop-cache", "before reading drop the files' pages, and see whether they are gone", drop_cache);
  options.choice("--sync", "fsync after writing: inside the reported time, outside of it, or none", request.sync,
                 {SyncTiming::inside, SyncTiming::outside, SyncTiming::none});
  options.value("--read-shift", "KIND:K",
                "read what the rank K behind (ranks:K), or a rank K hosts behind (hosts:K), has written",
                [&](const std::string& option, const std::string& text) {
                  const Shift shift = parse_shift(option, text);
                  request.read_shift = shift.kind;
                  request.read_shift_by = shift.by;
                });
}

void declare_judgement(OptionParser& options, IoRequest& request) {
  options.group("What is slow");
  options.count("--slow-calls", "name the N slowest calls; 0 = none", 0, 100'000, request.num_slow_calls);
  options.share("--threshold", "a rank is slow that is so much slower than the median rank", least_threshold,
                request.threshold);
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-io-TIME.h5",
          "hdf5 (all ranks and all else), json (summary; without --output on standard output) or none",
          {ResultFormat::hdf5, ResultFormat::json, ResultFormat::none},
          "print which rank would write what where, and an estimate of memory and files; open nothing"};
}

/// Flags that are not members of the request.
struct Flags {
  bool is_strided = false, no_self_send = false, is_direct = false, is_uncached = false, drop_cache = false;

  void apply(IoRequest& request) const {
    if (is_strided) request.order = schedule::Order::strided;
    if (no_self_send) request.self_send = schedule::SelfSend::no;
    if (is_direct) request.cache_path = CachePath::direct;
    if (is_uncached) request.cache_path = CachePath::uncached;
    if (drop_cache) request.between = BetweenPhases::drop;
  }
};

}  // namespace

IoRequest parse_io_command(const std::vector<std::string>& arguments) {
  IoRequest request;
  request.command_line = arguments;
  request.timeout_s = default_timeout_s;
  Flags flags;
  std::optional<ResultFormat> format;

  OptionParser options("leadline io", description, std::string(words) + sizes_help + exit_status_help + examples);
  declare_who(options, request);
  declare_movement(options, request, flags.is_strided, flags.no_self_send);
  declare_calls(options, request);
  declare_files(options, request);
  declare_phases(options, request);
  declare_data(options, request);
  declare_cache(options, request, flags.is_direct, flags.is_uncached, flags.drop_cache);
  declare_judgement(options, request);
  declare_outcome(options, request, format, outcome());

  options.parse(arguments);
  flags.apply(request);
  const IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  if (request.file_fill == memory::BlockKind::doubles && !is_given("--touch")) request.touch = memory::Touch::object;
  request.message_sizes_bytes = {request.object_size_bytes};
  request.format = result::format_for(request.output, format);
  validate_options(is_given, request);
  return request;
}

}  // namespace leadline::cli
