// SPDX-License-Identifier: Apache-2.0
// Every shared option with its help, its check and its member of the request.
#include "cli/run_options.hpp"

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "core/units.hpp"
#include "memory/buffer.hpp"

namespace leadline::cli {
namespace {

constexpr std::uint64_t max_ranks = 1u << 26;

std::string allocator_help() {
  std::string text = "where message buffers come from:";
  for (const memory::Allocator& allocator : memory::allocators()) {
    text += fmt::format("\n{} - {}", allocator.name, allocator.purpose);
  }
  return text;
}

}  // namespace

const char* const sizes_help =
    "Sizes: 1024, 1KiB, 16MiB (1024-based), 1MB (1000-based); 8B,1KiB,4MiB is a list, 1B-4MiB doubles each time,\n"
    "1KiB-1MiB*4 multiplies by 4, 100B-1000B+100B adds 100 B.\n";

const char* const exit_status_help =
    "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the way.\n";

void declare_who(OptionParser& options, RunRequest& request) {
  options.group("Who takes part");
  options.value(
      "--transport", "NAME",
      "tcp, mpi, ucx, verbs:DEVICE ...; see 'leadline transports'. Default: mpi under an MPI launcher, else tcp",
      [&](const std::string&, const std::string& text) { request.transport = text; });
  options.list("--transport-option", "NAME=VALUE",
               "a setting of the transport, as 'leadline transports --verbose' lists them; may be given several times",
               [&](const std::string&, const std::string& text) { request.transport_options.push_back(text); });
  options.count("--local", "start N local processes", 1, 4096, request.num_local, "the cores, at least 2");
  options.value(
      "--interface", "NAME",
      "network between hosts: a device (ib0), a subnet (10.1.0.0/16, fd00::/8) or an address prefix (10.1.); of\n"
      "several (ib0,ib1) each rank of a host uses the next for its messages, and the first for everything else.\n"
      "Default: that of the host name; for messages what the transport chooses",
      [&](const std::string& option, const std::string& text) {
        if (text.empty() || (',' + text + ',').find(",,") != std::string::npos) {
          throw_bad_value(option, text, "one of its networks has no name");
        }
        request.interface = text;
      });
  options.value("--host-name-suffix", "TEXT",
                "network between hosts: look up the short host name with this appended (node7 + i)",
                [&](const std::string&, const std::string& text) { request.host_name_suffix = text; });
  options.seconds("--timeout", "end the run when a rank is silent or stuck for so long", 1, request.timeout_s);
}

void declare_message_size(OptionParser& options, RunRequest& request, std::uint64_t least_bytes,
                          const std::string& default_text) {
  options.value("--message-size", "SIZE", "size, list or range of sizes. Default: " + default_text,
                [&request, least_bytes](const std::string& option, const std::string& text) {
                  request.message_sizes_bytes = parse_byte_sizes(text);
                  if (request.message_sizes_bytes.front() < least_bytes) {
                    throw_bad_value(option, text, fmt::format("a message must have at least {} B", least_bytes));
                  }
                  if (request.message_sizes_bytes.back() > max_message_size_bytes) {
                    throw_bad_value(option, text, "a message may have at most 1 TiB");
                  }
                });
}

void declare_fill(OptionParser& options, RunRequest& request) {
  options.choice("--fill", "contents of messages: zero, ramp, random, or mersenne (Mersenne Twister 19937)",
                 request.fill, {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne});
}

void declare_fill_seed(OptionParser& options, RunRequest& request, const std::string& default_text) {
  options.count("--fill-seed", "of random contents", 0, UINT64_MAX, request.fill_seed, default_text);
}

void declare_repeat(OptionParser& options, RunRequest& request) {
  options.count("--repeat", "run everything N times, each kept", 1, 100'000, request.repeat);
}

void declare_memory_and_wait(OptionParser& options, RunRequest& request) {
  options.value("--allocator", "NAME", allocator_help(), [&](const std::string&, const std::string& text) {
    request.allocator = memory::allocator_named(text).name;
  });
  options.choice("--wait",
                 "how ranks wait: auto (yield where a host has more ranks than cores, else spin), spin, yield or block",
                 request.wait, {WaitMode::automatic, WaitMode::spin, WaitMode::yield, WaitMode::block});
}

void declare_outcome(OptionParser& options, RunRequest& request, std::optional<ResultFormat>& format,
                     const Outcome& outcome) {
  options.group("What comes out");
  options.text("-o,--output", "FILE",
               fmt::format("result file ({}; - is standard output, as JSON). Default: {}", outcome.endings,
                           outcome.default_file),
               request.output, "it must name a file");
  options.choice("--format", outcome.formats_help + ". Default: by the ending of --output", format, outcome.formats);
  options.optional_value("--json", "FILE",
                         "the summary as JSON, on standard output instead of text or into FILE: as --format json and "
                         "--output FILE",
                         [&](const std::string&, const std::string& text) {
                           format = ResultFormat::json;
                           request.output = text.empty() ? "-" : text;
                         });
  options.choice("--row-path",
                 "how measurements reach the file: auto (each rank writes its own where all see the file) or funnel "
                 "(through rank 0)",
                 request.row_path, {RowPath::automatic, RowPath::funnel});
  options.flag("--overwrite", "replace an older result file", request.overwrite);
  options.flag("-q,--quiet", "no progress", request.quiet);
  options.flag("--dry-run", outcome.dry_run_help, request.dry_run);
  options.count("--ranks", "with --dry-run: for so many ranks", 1, max_ranks, request.dry_run_ranks, "as --local");
  options.count("--ranks-per-host", "with --dry-run: so many on each host", 1, max_ranks,
                request.dry_run_ranks_per_host, "all on one");
}

}  // namespace leadline::cli
