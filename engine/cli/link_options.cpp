// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline link`: every option with its help, its check and its member of the request.
#include "cli/link_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"
#include "cli/link_effects.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/buffer.hpp"
#include "result/result_file.hpp"

namespace leadline::cli {
namespace {

constexpr std::uint64_t max_message_size_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_count = 1'000'000'000'000;
constexpr std::uint64_t max_ranks = 1u << 26;

constexpr const char* description =
    "Measures the link between every two ranks: each rank sends to each other rank, in rounds of pairs that run at "
    "once\n"
    "(round-robin tournament), then the slowest pairs again, alone. Without a launcher it starts local processes by\n"
    "itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* epilogue =
    "Sizes: 1024, 1KiB, 16MiB (1024-based), 1MB (1000-based); 8B,1KiB,4MiB is a list, 1B-4MiB doubles each time.\n"
    "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the way.\n"
    "Examples:\n"
    "  leadline link                                     all local cores, over TCP on loopback\n"
    "  mpirun -n 64 leadline link --message-size 1MiB    every pair of 64 MPI ranks\n"
    "  leadline link --local 4 --message-size 1B-4MiB    a sweep: latency to bandwidth\n"
    "  leadline link --dry-run --ranks 4096              what a large run would do, and its cost";

/// Breaks a help text at blanks, so that it fits beside the names of the options on a screen of 110 characters.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 80;
  std::string result;
  for (std::size_t line_start = 0, at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (end - line_start > width && at > line_start) {
      result.back() = '\n';
      line_start = at;
    }
    result += text.substr(at, end - at + 1);
    if (end < text.size() && text[end] == '\n') line_start = end + 1;
    at = end + 1;
  }
  return result;
}

/// Declares options on a CLI11 application; what is typed is checked by our own parsers, so that all errors look alike.
class Declared {
 public:
  explicit Declared(CLI::App& app) : app_(app) {}

  using Take = std::function<void(const std::string& option, const std::string& text)>;

  CLI::Option* value(const std::string& name, const char* type, const std::string& help, const Take& take) {
    return app_
        .add_option_function<std::string>(
            name, [name, take](const std::string& text) { take(name, text); }, wrapped(help))
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
        ->group(group_);
  }

  CLI::Option* count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                     const std::function<void(std::uint64_t)>& take) {
    return value(name, "N", help, [=](const std::string& option, const std::string& text) {
      take(parse_count(option, text, min, max));
    });
  }

  CLI::Option* flag(const std::string& name, const std::string& help, bool& member) {
    return app_.add_flag(name, member, wrapped(help))
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
        ->group(group_);
  }

  void group(const std::string& name) { group_ = name; }

 private:
  CLI::App& app_;
  std::string group_;
};

std::string allocator_help() {
  std::string text = "where message buffers come from:";
  for (const memory::Allocator& allocator : memory::allocators()) {
    text += fmt::format("\n{} - {}", allocator.name, allocator.purpose);
  }
  return text;
}

void declare_who(Declared& options, LinkRequest& request) {
  options.group("Who takes part");
  options.value("--transport", "NAME",
                "tcp, mpi, model:FILE ...; see 'leadline transports'. Default: mpi under an MPI launcher, else tcp",
                [&](const std::string&, const std::string& text) { request.transport = text; });
  options.count("--local", "start N local processes. Default: the cores, at least 2", 1, 4096,
                [&](std::uint64_t n) { request.num_local = static_cast<int>(n); });
  options.value(
      "--interface", "NAME",
      "network between hosts for TCP: a device (ib0) or an address prefix (10.1.). Default: that of the host name",
      [&](const std::string&, const std::string& text) { request.interface = text; });
  options.value("--host-name-suffix", "TEXT",
                "network between hosts for TCP: look up the short host name with this behind it (node7 + i)",
                [&](const std::string&, const std::string& text) { request.host_name_suffix = text; });
  options.flag("--one-per-host", "only the lowest rank of each host takes part; the others wait", request.one_per_host);
  options.value(
      "--timeout", "TIME", "end the run when a rank is silent or stuck for so long. Default: 60s",
      [&](const std::string& option, const std::string& text) { request.timeout_s = parse_seconds(option, text, 1); });
}

void declare_what(Declared& options, LinkRequest& request) {
  options.group("What is measured");
  options.value("--message-size", "SIZE", "size, list or range of sizes. Default: 1KiB",
                [&](const std::string& option, const std::string& text) {
                  request.message_sizes_bytes = parse_byte_sizes(text);
                  if (request.message_sizes_bytes.back() > max_message_size_bytes) {
                    throw_bad_value(option, text, "a message may have at most 1 TiB");
                  }
                });
  options.count("--messages", "timed messages a measurement. Default: 100", 1, max_count,
                [&](std::uint64_t n) { request.num_messages = n; });
  options.count("--warmup", "untimed messages before them. Default: 10", 0, max_count,
                [&](std::uint64_t n) { request.num_warmup = n; });
  options.count("--batches",
                "timed batches that the messages of a measurement are cut into; each gives one time. Default: 20", 1,
                100'000, [&](std::uint64_t n) { request.num_batches = static_cast<std::uint32_t>(n); });
  options.value("--direction", "NAME",
                "semidirectional (ping-pong, half the round trip), unidirectional (windows of messages, acknowledged "
                "at the end) or bidirectional (both at once). Default: semidirectional",
                [&](const std::string& option, const std::string& text) {
                  request.direction = parse_choice<Direction>(option, text,
                                                              {{"semidirectional", Direction::semidirectional},
                                                               {"unidirectional", Direction::unidirectional},
                                                               {"bidirectional", Direction::bidirectional}});
                });
  options.count("--window", "messages in flight (unidirectional, bidirectional). Default: 64", 1, 65'536,
                [&](std::uint64_t n) { request.window = static_cast<std::uint32_t>(n); });
  options.count("--buffers", "buffers to send from and as many to receive into, taken in turn. Default: 1", 1, 65'536,
                [&](std::uint64_t n) { request.num_buffers = static_cast<std::uint32_t>(n); });
  options.value(
      "--fill", "NAME", "contents of messages: zero, ramp, random, or mersenne (Mersenne Twister 19937). Default: ramp",
      [&](const std::string& option, const std::string& text) {
        request.fill = parse_choice<Fill>(
            option, text,
            {{"zero", Fill::zero}, {"ramp", Fill::ramp}, {"random", Fill::random}, {"mersenne", Fill::mersenne}});
      });
  options.flag("--check-buffers", "after each measurement check what the last messages have left in the buffers",
               request.check_buffers);
  options.flag("--verify", "before each measurement send the messages once with changing contents and check every byte",
               request.verify);
  options.value("--allocator", "NAME", allocator_help(), [&](const std::string&, const std::string& text) {
    request.allocator = memory::allocator_named(text).name;
  });
  options.value("--wait", "NAME",
                "how ranks wait: auto, spin, yield or block. Default: auto (yield where a host has more ranks than "
                "cores, else spin)",
                [&](const std::string& option, const std::string& text) {
                  request.wait = parse_choice<WaitMode>(option, text,
                                                        {{"auto", WaitMode::automatic},
                                                         {"spin", WaitMode::spin},
                                                         {"yield", WaitMode::yield},
                                                         {"block", WaitMode::block}});
                });
}

void declare_pairs(Declared& options, LinkRequest& request) {
  options.group("Which pairs");
  options.flag("--bisection",
               "only pairs across the two halves of the ranks (with --between-hosts: of the hosts), and the bandwidth "
               "across the cut",
               request.bisection);
  options.flag("--between-hosts", "host against host: only pairs on different hosts", request.between_hosts);
  options.value("--all-to-all", "WHEN",
                "all ranks exchange messages with all others, too: around (before the first round and after the last) "
                "or before-each-round. Default: none",
                [&](const std::string& option, const std::string& text) {
                  request.all_to_all = parse_choice<AllToAll>(option, text,
                                                              {{"none", AllToAll::none},
                                                               {"around", AllToAll::around},
                                                               {"before-each-round", AllToAll::before_each_round}});
                });
  options.value("--all-to-all-size", "SIZE", "of each message of these exchanges. Default: the message size",
                [&](const std::string& option, const std::string& text) {
                  const auto sizes = parse_byte_sizes(text);
                  if (sizes.size() != 1 || sizes[0] == 0 || sizes[0] > max_message_size_bytes) {
                    throw_bad_value(option, text, "it must be one size from 1 B to 1 TiB");
                  }
                  request.all_to_all_size_bytes = sizes[0];
                });
}

void declare_order(Declared& options, LinkRequest& request) {
  options.group("In which order");
  options.flag("--serial", "one pair at a time", request.serial);
  options.value(
      "--rounds", "LIST", "only these rounds, in this order: 3,1,5-7. Default: all",
      [&](const std::string& option, const std::string& text) { request.rounds = parse_rounds(option, text); });
  options.flag("--shuffle-rounds", "random order of the rounds; the companions of a pair stay the same",
               request.shuffle_rounds);
  options.count("--shuffle-ranks",
                "run everything under N random permutations of the ranks, so that companions change. Default: 0", 0,
                10'000, [&](std::uint64_t n) { request.shuffle_ranks = static_cast<int>(n); });
  options.count("--seed", "of all that is random. Default: 1", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.seed = n; });
  options.count("--shuffle-rounds-seed", "of the order of the rounds. Default: --seed", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.shuffle_rounds_seed = n; });
  options.count("--shuffle-ranks-seed", "of the permutations of the ranks. Default: --seed", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.shuffle_ranks_seed = n; });
  options.count("--fill-seed", "of random contents. Default: --seed", 0, UINT64_MAX,
                [&](std::uint64_t n) { request.fill_seed = n; });
  options.count("--repeat", "run everything N times, each kept. Default: 1", 1, 100'000,
                [&](std::uint64_t n) { request.repeat = static_cast<int>(n); });
  options.value(
      "--min-time", "TIME", "repeat until so much time was spent in messages. Default: 0",
      [&](const std::string& option, const std::string& text) { request.min_time_s = parse_seconds(option, text, 0); });
  options.count("--retest-slowest", "measure the N slowest pairs again, alone. Default: 10", 0, 100'000,
                [&](std::uint64_t n) { request.retest_slowest = static_cast<int>(n); });
}

void declare_outcome(Declared& options, LinkRequest& request, std::optional<ResultFormat>& format) {
  options.group("What comes out");
  options.value("--output", "FILE",
                "result file (.h5, .sion or .json; - is standard output, as JSON). Default: leadline-link-TIME.h5",
                [&](const std::string& option, const std::string& text) {
                  if (text.empty()) throw_bad_value(option, text, "it must name a file");
                  request.output = text;
                });
  options.value("--format", "NAME",
                "hdf5 (matrices and all else), sion (the same, readable for LinkTest 1.2's analysis), json (summary; "
                "without --output on standard output) or none. Default: by the ending of --output",
                [&](const std::string& option, const std::string& text) {
                  format = parse_choice<ResultFormat>(option, text,
                                                      {{"hdf5", ResultFormat::hdf5},
                                                       {"sion", ResultFormat::sion},
                                                       {"json", ResultFormat::json},
                                                       {"none", ResultFormat::none}});
                });
  options.value("--row-path", "NAME",
                "how measurements reach the file: auto (each rank writes its own where all see the file) or funnel "
                "(through rank 0). Default: auto",
                [&](const std::string& option, const std::string& text) {
                  request.row_path =
                      parse_choice<RowPath>(option, text, {{"auto", RowPath::automatic}, {"funnel", RowPath::funnel}});
                });
  options.flag("--overwrite", "replace an older result file", request.overwrite);
  options.flag("--quiet", "no progress", request.quiet);
  options.flag("--dry-run", "print the schedule and an estimate of time and memory; measure nothing", request.dry_run);
  options.count("--ranks", "with --dry-run: for so many ranks", 1, max_ranks,
                [&](std::uint64_t n) { request.dry_run_ranks = static_cast<int>(n); });
  options.count("--ranks-per-host", "with --dry-run: so many on each host. Default: all on one", 1, max_ranks,
                [&](std::uint64_t n) { request.dry_run_ranks_per_host = static_cast<int>(n); });
}

void complete_seeds(const CLI::App& app, LinkRequest& request) {
  if (app.count("--shuffle-rounds-seed") == 0) request.shuffle_rounds_seed = request.seed;
  if (app.count("--shuffle-ranks-seed") == 0) request.shuffle_ranks_seed = request.seed;
  if (app.count("--fill-seed") == 0) request.fill_seed = request.seed;
}

}  // namespace

LinkRequest parse_link(const std::vector<std::string>& arguments) {
  LinkRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  CLI::App app(description, "leadline link");
  app.footer(epilogue);
  Declared options(app);
  declare_who(options, request);
  declare_what(options, request);
  declare_pairs(options, request);
  declare_order(options, request);
  declare_outcome(options, request, format);

  parse_command_line(app, arguments);
  complete_seeds(app, request);
  request.format = result::format_for(request.output, format);
  check_effects([&app](const char* option) { return app.count(option) > 0; }, request);
  return request;
}

}  // namespace leadline::cli
