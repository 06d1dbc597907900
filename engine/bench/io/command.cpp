// SPDX-License-Identifier: Apache-2.0
// `leadline io`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/io/command.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/like.hpp"
#include "bench/io/options.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/presets.hpp"
#include "bench/io/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/buffer.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::io {
namespace {

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
    "The rate to quote: bytes / the time from a common start of all ranks to the close of the last one (with\n"
    "--sync inside, its fsync included). Contents are made ahead of the calls and checked behind them, on a second\n"
    "core where every rank has one, else between the calls.\n"
    "Metadata (--metadata): each rank makes, looks at, opens, reads and removes --objects files, and makes and\n"
    "removes as many directories, in a directory of its own (N-N), in one for all (N-1), or in M (N-M), which\n"
    "--target names. Nothing of it is left. Rates: items of all ranks / the longest I/O time of a rank.\n"
    "Files that hold anything but our own blocks are not written over without --overwrite-targets.\n";

constexpr const char* io_examples =
    "Examples:\n"
    "  leadline io --local 4 --target /scratch/t.%r                  a file for each of 4 processes\n"
    "  mpirun -n 64 leadline io --movement N-1 --target /scratch/t --collective --drop-cache\n"
    "  mpirun -n 64 leadline io --movement N-M-1 --io-ranks 4 --buffer-size 64MiB --target /scratch/t\n"
    "  mpirun -n 64 leadline io --target /scratch/t.%r --read-shift hosts:1      read what another host wrote\n"
    "  mpirun -n 64 leadline io --preset ior-hard --target /scratch/t --time-limit 60   as IO500 has it, for a minute\n"
    "  mpirun -n 64 leadline io --metadata --movement N-1 --target /scratch/d           files in one directory\n"
    "  mpirun -n 64 leadline io --like ior --target /scratch/t      as IOR does by default, in its table, too\n"
    "  leadline io --dry-run --ranks 4096 --movement N-M --files 16      who would write what where, and its cost";

using schedule::Movement;

constexpr std::uint64_t least_direct_unit_bytes = 512;

void none_of(const command::IsGiven& is_given, std::initializer_list<const char*> options, const std::string& why) {
  for (const char* option : options) {
    if (is_given(option)) throw_no_effect(option, why);
  }
}

void check_movement(const command::IsGiven& is_given, const IoRequest& request) {
  const std::string movement = fmt::format("--movement {}", name_of(request.movement));
  if (!schedule::is_funnel(request.movement)) {
    none_of(is_given, {"--io-ranks", "--io-hosts", "--buffer-size", "--no-self-send", "--no-file"},
            fmt::format("with {} every rank does its own I/O and sends nothing", movement));
  }
  if (request.movement == Movement::n_n && request.order == schedule::Order::strided) {
    throw_no_effect("--strided", fmt::format("with {} no file has objects of two ranks", movement));
  }
  if (request.movement != Movement::n_m) {
    none_of(is_given, {"--files"}, fmt::format("the number of files follows from {}", movement));
  } else if (request.num_files == 0 && request.targets_file.empty()) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} needs a number of files", movement),
                "neither --files nor --targets says how many", "Add --files M");
  }
  const bool is_ahead = schedule::is_funnel(request.movement) || request.calls == storage::FileCalls::non_blocking;
  if (!is_ahead) none_of(is_given, {"--ahead"}, "blocking calls of a rank's own objects have nothing under way");
}

void check_order(const command::IsGiven& is_given, const IoRequest& request) {
  if (request.order != schedule::Order::strided) {
    none_of(is_given, {"--block-size"}, "without --strided all objects of a rank lie side by side");
  }
  if (!schedule::is_funnel(request.movement)) return;
  none_of(is_given, {"--random", "--rate-limit"},
          fmt::format("with --movement {} I/O ranks write buffers of neighbours", name_of(request.movement)));
}

void check_io_ranks(const IoRequest& request) {
  const std::size_t num_counts = request.io_ranks.size(), num_hosts = request.io_hosts.size();
  if (num_counts > 1 && num_hosts == 0) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--io-ranks has {} numbers", num_counts),
                "a list says how many on each host, and there is no --io-hosts",
                "Add --io-hosts, or give one number for all hosts together");
  }
  if (num_counts > 1 && num_counts != num_hosts) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--io-ranks has {} numbers and --io-hosts {} names", num_counts, num_hosts),
                "each host has one number", "Give as many of both, or one number that counts for each host");
  }
}

void check_queue(const IoRequest& request) {
  if (request.queue_depth == 1) return;
  const auto is_with = [&](const std::string& other, const char* why) {
    throw_apart(fmt::format("--queue-depth {}", request.queue_depth), other, why);
  };
  if (schedule::is_funnel(request.movement)) {
    is_with(fmt::format("--movement {}", name_of(request.movement)),
            "of I/O ranks --ahead says how many are under way");
  }
  if (request.calls == storage::FileCalls::non_blocking) {
    is_with("--calls non-blocking", "of these --ahead says how many are under way");
  }
  if (request.collective) is_with("--collective", "ranks make these calls together, one after the other");
  if (request.barrier) is_with("--barrier", "before each call ranks would wait for all before");
  if (request.sync == SyncTiming::each) is_with("--sync each", "an fsync waits for what is under way");
}

void check_calls(const IoRequest& request) {
  check_queue(request);
  if (request.sync == SyncTiming::each && request.calls == storage::FileCalls::non_blocking) {
    throw_apart("--sync each", "--calls non-blocking", "an fsync waits for what is under way");
  }
  if (request.sync == SyncTiming::each && request.collective) {
    throw_apart("--sync each", "--collective", "ranks would write and sync in turn");
  }
  if (request.allow_fragile && request.calls == storage::FileCalls::blocking && !request.collective) {
    throw_no_effect("--allow-fragile", "only non-blocking and collective calls are tried out before they are made");
  }
}

/// Metadata go to the file system by the system's calls, from the rank whose items they are.
void check_metadata(const command::IsGiven& is_given, const IoRequest& request) {
  if (!request.metadata) return none_of(is_given, {"--items"}, "without --metadata objects are written and read");
  if (request.preset == Preset::ior_easy || request.preset == Preset::ior_hard) {
    throw_apart("--metadata", fmt::format("--preset {}", name_of(request.preset)), "it writes and reads objects");
  }
  none_of(is_given,
          {"--strided", "--random", "--rate-limit", "--ahead", "--calls", "--queue-depth", "--collective",
           "--allow-fragile", "--hints", "--barrier", "--overwrite-targets", "--new-files", "--delete", "--preallocate",
           "--op", "--sleep", "--direct", "--uncached", "--drop-cache"},
          "--metadata makes, looks at and removes files as a whole");
  if (schedule::is_funnel(request.movement)) {
    throw_apart("--metadata", fmt::format("--movement {}", name_of(request.movement)),
                "no rank makes files for others");
  }
  if (request.sync != SyncTiming::inside && request.sync != SyncTiming::none) {
    throw_apart("--metadata", fmt::format("--sync {}", name_of(request.sync)),
                "an fsync of each file is part of its creation, or there is none");
  }
}

void check_mix(const command::IsGiven& is_given, const IoRequest& request) {
  if (request.mix_read_share == 0) return;
  const auto is_with = [](const std::string& other, const char* why) { throw_apart("--mix", other, why); };
  if (schedule::is_funnel(request.movement)) {
    is_with(fmt::format("--movement {}", name_of(request.movement)), "ranks read and write their own objects");
  }
  if (request.metadata) is_with("--metadata", "it has neither reads nor writes of objects");
  if (request.operations == IoOperations::read) is_with("--op read", "it writes again what this run has written");
  if (request.calls == storage::FileCalls::non_blocking) is_with("--calls non-blocking", "it makes one call at a time");
  if (request.collective) is_with("--collective", "some ranks read while others write");
  if (is_given("--barrier")) is_with("--barrier", "some ranks read while others write");
}

void check_passes(const command::IsGiven& is_given, const IoRequest& request) {
  if (!request.time_based) return none_of(is_given, {"--ramp-time"}, "without --time-based a phase may be over before");
  if (request.time_limit_s <= 0) {
    throw Error(ExitStatus::bad_command_line, "--time-based needs a time", "without --time-limit it would never end",
                "Add --time-limit TIME");
  }
  if (request.metadata) throw_apart("--time-based", "--metadata", "what was made is there already");
}

void check_phases(const command::IsGiven& is_given, const IoRequest& request) {
  switch (request.operations) {
    case IoOperations::both:
      break;
    case IoOperations::write:
      none_of(is_given, {"--sleep"}, "with --op write nothing is read behind writing");
      if (request.mix_read_share > 0) break;
      none_of(is_given, {"--check", "--drop-cache", "--read-shift"}, "with --op write nothing is read");
      break;
    case IoOperations::read:
      none_of(is_given, {"--barrier", "--preallocate", "--sync", "--overwrite-targets", "--new-files", "--sleep"},
              "with --op read nothing is written");
      if (request.check == memory::Check::none) {
        none_of(is_given, {"--fill", "--touch"}, "with --op read and --check none contents are not compared");
      }
      break;
  }
}

void check_data(const command::IsGiven& is_given, const IoRequest& request) {
  if (request.file_fill == memory::BlockKind::doubles && is_given("--touch") && request.touch == memory::Touch::full) {
    throw_apart("--fill doubles", "--touch full", "its values are the same in every object but for stamps");
  }
  const std::uint64_t size_bytes = request.object_size_bytes;
  if (!request.metadata && (size_bytes == 0 || size_bytes % memory::word_size_bytes != 0)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--object-size cannot be {} B", request.object_size_bytes),
                fmt::format("contents are words of {} bytes", memory::word_size_bytes), "Choose a multiple of 8");
  }
  if (memory::allocator_named(request.allocator).location != memory::Location::host) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--allocator {} cannot be had here", request.allocator),
                "objects are made, written and compared in ordinary memory", "Choose another --allocator");
  }
}

void check_cache(const IoRequest& request) {
  if (request.cache_path != storage::CachePath::direct) return;
  if (request.between == BetweenPhases::drop) {
    throw_no_effect("--drop-cache", "with --direct reads bypass the page cache");
  }
  if (request.object_size_bytes % least_direct_unit_bytes != 0) {
    throw Error(ExitStatus::bad_command_line, "--direct and --object-size do not go together",
                fmt::format("{} is no multiple of {} B, the least that goes round the page cache",
                            format_bytes(request.object_size_bytes), least_direct_unit_bytes),
                "Choose another --object-size, for example a multiple of 4KiB");
  }
}

/// What is not given is as other metadata tests have it: empty files, no fsync, and of contents as little is new as
/// tells files apart.
void set_metadata_defaults(const command::IsGiven& is_given, IoRequest& request) {
  if (!is_given("--objects")) request.num_objects = default_num_items;
  if (!is_given("--object-size")) request.object_size_bytes = 0;
  if (!is_given("--sync")) request.sync = SyncTiming::none;
  if (!is_given("--touch")) request.touch = memory::Touch::object;
}

}  // namespace

IoRequest parse_io_command(const std::vector<std::string>& arguments) {
  IoRequest request;
  request.command_line = arguments;
  request.timeout_s = default_timeout_s;
  request.binding = Binding::none;  // threads of non-blocking calls would have to share the core
  std::optional<ResultFormat> format;

  command::OptionParser options("leadline io", io_description,
                                std::string(io_notes) + command::sizes_help + command::exit_status_help + io_examples);
  declare_options(options, request, format);
  apply_preset(options, options_set_by(arguments));

  options.parse(arguments);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  if (request.file_fill == memory::BlockKind::doubles && !is_given("--touch")) request.touch = memory::Touch::object;
  request.is_shift_optional = request.preset != Preset::none && !is_given("--read-shift");
  if (request.metadata && request.preset == Preset::none) set_metadata_defaults(is_given, request);
  // A flag that a preset sets cannot be taken back, and does nothing here.
  const bool is_of_preset = request.preset != Preset::none && !is_given("--strided");
  if (is_of_preset && request.movement == Movement::n_n) request.order = schedule::Order::segmented;
  request.message_sizes_bytes = {request.object_size_bytes};
  request.format = result::format_for(request.output, format);
  validate_options(is_given, request);
  return request;
}

void validate_options(const command::IsGiven& is_given, const IoRequest& request) {
  check_movement(is_given, request);
  check_order(is_given, request);
  check_io_ranks(request);
  check_calls(request);
  check_metadata(is_given, request);
  check_mix(is_given, request);
  check_passes(is_given, request);
  check_like(is_given, request);
  check_phases(is_given, request);
  check_data(is_given, request);
  check_cache(request);
  command::validate_run_options(is_given, request);
  command::refuse_sion(request, "a parallel file test");
}

void validate_backend_options(const IoRequest& request, const std::string& backend) {
  if (request.metadata && backend != "posix") {
    throw Error(ExitStatus::bad_command_line, fmt::format("--metadata cannot be had with --backend {}", backend),
                "MPI-IO opens files, but neither looks at them nor makes directories", "Use --backend posix");
  }
  if (request.sync == SyncTiming::each && backend != "posix") {
    throw Error(ExitStatus::bad_command_line, fmt::format("--sync each cannot be had with --backend {}", backend),
                "MPI-IO syncs a file together with all who have opened it", "Use --backend posix, or --sync inside");
  }
  if (request.mix_read_share > 0 && backend != "posix") {
    throw Error(ExitStatus::bad_command_line, fmt::format("--mix cannot be had with --backend {}", backend),
                "it opens files to read and write them at once", "Use --backend posix");
  }
  if (request.queue_depth > 1 && backend != "posix") {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--queue-depth {} cannot be had with --backend {}", request.queue_depth, backend),
                "MPI-IO knows no queue", "Use --backend posix, or --calls non-blocking with --ahead");
  }
  if (backend != "posix") return;
  if (!request.hints.empty()) throw_no_effect("--hints", "the posix backend knows none");
  if (request.allow_fragile) throw_no_effect("--allow-fragile", "calls of the posix backend are not tried out");
}

int io_command(const std::vector<std::string>& arguments) {
  IoRequest request = parse_io_command(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "io");
      return io_plan_text(request, plan(request, ranks.rank_layout(), dry_run_names(request, ranks)));
    });
  }
  const IoStart start = start_io(request);
  return command::run_ranks(request, "io",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_io(request, std::move(bootstrap), module, start, own_presentation(request));
                            });
}

}  // namespace leadline::bench::io
