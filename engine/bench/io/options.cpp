// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline io`.
#include "bench/io/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/run_options.hpp"
#include "options/values.hpp"
#include "storage/table.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::uint64_t min_object_bytes = memory::word_size_bytes;
constexpr std::uint64_t min_item_bytes = 0;  // where that is too few, check_data() in command.cpp says so
constexpr std::uint64_t max_object_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_file_bytes = (std::uint64_t{1} << 63) - 1;
constexpr std::uint64_t max_files = 1u << 26;
constexpr std::uint64_t max_ahead = 1024;
constexpr std::uint64_t max_queue_depth = 4096;

constexpr Named<Like> other_benchmarks[] = {
    {Like::none, "none"},
    {Like::ior, "ior", "bytes over the time from the first open to the last close"},
};

/// "none", "ranks:2", "hosts:1".
std::string read_shift_text(const IoRequest& request) {
  if (request.read_shift == ReadShift::none) return name_of(request.read_shift);
  return fmt::format("{}:{}", name_of(request.read_shift), request.read_shift_by);
}

/// "key=value,key=value".
std::string hints_text(const IoRequest& request) {
  std::vector<std::string> hints;
  for (const auto& [key, value] : request.hints) hints.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(hints, ","));
}

void declare_movement(OptionTable& options, IoRequest& request) {
  options.group("How data moves");
  options
      .choice("--preset", "the parameters of a well-known test; other options change them, --dry-run shows them",
              request.preset)
      .later();
  options
      .value("--movement", "NAME", "N-N, N-1, N-M-M, N-M-1, N-M, or 1 to 5; see below",
             [&](const std::string& option, const std::string& text) {
               request.movement = schedule::parse_movement(option, text);
             })
      .by_default(name_of(request.movement))
      .suggests({"N-N", "N-1", "N-M-M", "N-M-1", "N-M"})
      .recorded_as([&] { return name_of(request.movement); });
  options.flag("--strided", "object 0 of all ranks, then object 1 of all ranks ..., rather than rank by rank",
               request.order, schedule::Order::strided);
  options
      .size("--block-size", "with --strided: so much of a rank in each turn, a multiple of the object size",
            min_object_bytes, max_file_bytes, request.block_size_bytes, "one object")
      .later();
  options
      .optional_value("--random", "SEED", "take objects in a random order, each once; without SEED that of 1",
                      [&](const std::string& option, const std::string& text) {
                        request.random_seed = text.empty() ? 1 : parse_count(option, text, 1, max_count);
                      })
      .by_default("as they lie")
      .recorded_as([&] { return request.random_seed; })
      .later();
  options.count("--objects", "objects of a rank; with --time-limit the most", 1, max_count, request.num_objects,
                fmt::format("{}; with --metadata {}", request.num_objects, default_num_items));
  options.size("--object-size",
               "size of each object, a multiple of 8 B: the unit of calls and messages; with --metadata of each file",
               min_item_bytes, max_object_bytes, request.object_size_bytes, "1MiB; with --metadata none");
  options
      .value(
          "--io-ranks", "LIST", "N-M-M, N-M-1: so many ranks do I/O; with --io-hosts so many on each host",
          [&](const std::string& option, const std::string& text) { request.io_ranks = parse_io_ranks(option, text); })
      .by_default("all")
      .recorded_as([&] { return request.io_ranks; });
  options
      .value("--io-hosts", "LIST", "the hosts whose lowest ranks do I/O",
             [&](const std::string& option, const std::string& text) { request.io_hosts = parse_hosts(option, text); })
      .by_default("any")
      .recorded_as([&] { return fmt::format("{}", fmt::join(request.io_hosts, ",")); });
  options.count("--files", "N-M: so many", 1, max_files, request.num_files, "as many as --targets names");
  options.size("--buffer-size", "size of the buffers of an I/O rank, a multiple of the object size", min_object_bytes,
               max_object_bytes, request.buffer_size_bytes, "what fits into 64MiB, at least one object");
  options.count("--ahead",
                "buffers (or objects of non-blocking calls) beside the one in use, being received or written", 0,
                max_ahead, request.num_ahead);
  options.flag("--no-self-send", "ranks that do I/O for others have no objects of their own", request.self_send,
               schedule::SelfSend::no);
  options.flag("--no-file", "only the messages: nothing is opened", request.no_file);
}

void declare_backend(OptionTable& options, IoRequest& request) {
  std::string help = "who moves bytes between memory and files:";
  std::vector<std::string> names;
  for (const storage::Entry& entry : storage::backends()) {
    help += fmt::format("\n{} - {}", entry.name, entry.purpose);
    names.emplace_back(entry.name);
  }
  options
      .value("--backend", "NAME", help,
             [&](const std::string& option, const std::string& text) { request.backend = parse_backend(option, text); })
      .by_default("mpi-io where messages go by MPI, else posix")
      .suggests(names)
      .recorded_as([&] { return request.backend; });
}

void declare_calls(OptionTable& options, IoRequest& request) {
  options.group("Which calls");
  declare_backend(options, request);
  options.choice("--calls", "whether calls wait for their bytes", request.calls);
  options
      .count("--queue-depth", "so many calls of a rank under way at once, in any order; above 1 by io_uring (posix)", 1,
             max_queue_depth, request.queue_depth)
      .later();
  options.flag("--collective", "all ranks that share a file make their calls together", request.collective);
  options.flag("--allow-fragile", "make such calls also where a trial before the run has crashed, hung or lied",
               request.allow_fragile);
  options
      .value("--hints", "KEY=VALUE,...", "for the MPI library, when it opens files",
             [&](const std::string& option, const std::string& text) { request.hints = parse_hints(option, text); })
      .recorded_as([&] { return hints_text(request); });
  options.flag("--barrier", "before every write call, among the ranks that share the file", request.barrier);
}

void declare_files(OptionTable& options, IoRequest& request) {
  options.group("Which files");
  options
      .text("--target", "NAME",
            "name of the file, with --metadata of the directory; %r is the rank that opens it (N-M: the number of the "
            "file), %h its host, %p its "
            "process, %% a percent sign",
            request.target, "it must name a file")
      .by_default("leadline-io.%r, or leadline-io where it is shared")
      .as_file();
  options
      .file("--targets", "a file with names instead, one a line; empty lines and lines with # are skipped",
            request.targets_file)
      .conflicts_with("--target", "each says what files are named");
  options.flag("--overwrite-targets", "write over files that do not look like ours", request.overwrite_targets);
  options
      .flag("--new-files",
            "remove files that were there before the run, too, so that writing makes them anew; without it they are "
            "emptied",
            request.new_files)
      .later();
  options.flag("--delete", "delete the files at the end", request.delete_files);
  options.size("--preallocate", "so much of each file is set aside before it is written", 1, max_file_bytes,
               request.preallocate_bytes, "none");
}

void declare_phases(OptionTable& options, IoRequest& request) {
  options.group("Which phases");
  options.choice("--op", "what is done", request.operations);
  options
      .flag(
          "--metadata",
          "make, look at, open, read and remove files and directories instead; a file of the movement is a directory, "
          "an object is an item in it",
          request.metadata)
      .later();
  options.choice("--items", "with --metadata: items of a rank", request.items).later();
  options
      .value(
          "--mix", "R:W", "behind writing, read R of R + W objects and write the others again, at random",
          [&](const std::string& option, const std::string& text) { request.mix_read_share = parse_mix(option, text); })
      .by_default("no such phase")
      .recorded_as([&] { return request.mix_read_share; })
      .later();
  declare_repeat(options, request);
  options.seconds("--sleep", "so long between writing and reading", 0, request.sleep_s);
  options
      .size("--rate-limit", "each rank moves at most so much a second; waiting is no I/O time", 1, max_file_bytes,
            request.rate_limit_bytes, "none")
      .later();
  options.seconds("--time-limit", "time of a phase, at whose end all ranks stop behind the same object; 0 = none", 0,
                  request.time_limit_s);
  options
      .flag("--time-based", "a rank that is through with its objects begins again, until the time limit",
            request.time_based)
      .later();
  options
      .seconds("--ramp-time", "with --time-based: so long before the time of --time-limit, which no rate counts", 0,
               request.ramp_time_s)
      .later();
}

void declare_data(OptionTable& options, IoRequest& request) {
  options.group("What is in the files");
  options.choice("--fill", "what objects consist of", request.file_fill);
  options.choice("--touch", "how much of an object is new before it is written", request.touch);
  options.choice("--check", "how much of an object is compared after it was read", request.check);
  declare_memory_and_wait(options, request);
}

void declare_cache(OptionTable& options, IoRequest& request) {
  options.group("The page cache");
  options.flag("--direct", "go round it (O_DIRECT)", request.cache_path, storage::CachePath::direct);
  options
      .flag("--uncached", "go through it, and leave nothing there (RWF_DONTCACHE)", request.cache_path,
            storage::CachePath::uncached)
      .conflicts_with("--direct", "the one goes round the page cache, the other through it");
  options.flag("--drop-cache", "before reading drop the files' pages, and see whether they are gone", request.between,
               BetweenPhases::drop);
  options.choice("--sync", "whether fsync behind writing is part of the reported time", request.sync);
  options
      .value("--read-shift", "KIND:K",
             "read what the rank K behind (ranks:K), or a rank K hosts behind (hosts:K), has written; none takes back "
             "that "
             "of a preset",
             [&](const std::string& option, const std::string& text) {
               const Shift shift = parse_shift(option, text);
               request.read_shift = shift.kind;
               request.read_shift_by = shift.by;
             })
      .recorded_as([&] { return read_shift_text(request); });
}

void declare_judgement(OptionTable& options, IoRequest& request) {
  options.group("What is said about it");
  options
      .choice("--like",
              "measure as another benchmark does, unless --preset or other options say otherwise, and print its "
              "numbers, too, in its columns",
              request.like)
      .later();
  options.count("--slow-calls", "name the N slowest calls; 0 = none", 0, 100'000, request.num_slow_calls);
  const VerdictOptions verdict = declare_verdict(options, request.topology, request.diagnosis);
  for (OptionEntry* entry : {&verdict.topology, &verdict.false_discovery_rate}) entry->later();
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-io-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "all ranks and all else"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print who would write what where, and an estimate of memory and files; open nothing"};
}

constexpr std::uint64_t max_ranks = 1u << 26;
constexpr std::uint64_t max_shift = max_ranks;
constexpr std::uint64_t max_mix_part = 1'000'000;

bool is_there(const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); }

}  // namespace

std::span<const Named<Like>> names_of(Like /*any*/) { return other_benchmarks; }

const char* name_of(Like like) { return name_in(other_benchmarks, like); }

void declare_options(OptionTable& options, IoRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  declare_movement(options, request);
  declare_calls(options, request);
  declare_files(options, request);
  declare_phases(options, request);
  declare_data(options, request);
  declare_cache(options, request);
  declare_judgement(options, request);
  declare_outcome(options, request, format, outcome());
  options.no_effect_with("--no-file",
                         {"--mix",           "--topology",  "--threshold",         "--false-discovery-rate",
                          "--backend",       "--calls",     "--queue-depth",       "--collective",
                          "--allow-fragile", "--hints",     "--barrier",           "--preallocate",
                          "--target",        "--targets",   "--overwrite-targets", "--new-files",
                          "--delete",        "--direct",    "--uncached",          "--drop-cache",
                          "--sync",          "--read-shift"},
                         "with --no-file nothing is opened");
}

std::vector<std::int64_t> parse_io_ranks(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> list;
  for (const std::string& word : words_of(text)) {
    list.push_back(static_cast<std::int64_t>(parse_count(option, word, 1, max_ranks)));
  }
  return list;
}

std::vector<std::string> parse_hosts(const std::string& option, const std::string& text) {
  std::vector<std::string> list;
  for (const std::string& word : words_of(text)) {
    if (word.empty() || word.find_first_of(" \t") != std::string::npos) {
      throw_bad_value(option, text, fmt::format("'{}' is no name of a host", word), "Write for example node1,node7");
    }
    if (is_there(list, word)) throw_bad_value(option, text, fmt::format("{} stands twice", word));
    list.push_back(word);
  }
  return list;
}

std::vector<std::pair<std::string, std::string>> parse_hints(const std::string& option, const std::string& text) {
  std::vector<std::pair<std::string, std::string>> hints;
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && !hints.empty() && !word.empty()) {
      hints.back().second += "," + word;
      continue;
    }
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw_bad_value(option, text, fmt::format("'{}' is no KEY=VALUE", word),
                      "Write for example cb_nodes=2,striping_factor=4");
    }
    const std::string key = word.substr(0, equals);
    if (std::any_of(hints.begin(), hints.end(), [&](const auto& hint) { return hint.first == key; })) {
      throw_bad_value(option, text, fmt::format("{} stands twice", key));
    }
    hints.emplace_back(key, word.substr(equals + 1));
  }
  return hints;
}

std::string parse_backend(const std::string& option, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  std::string names;
  for (const storage::Entry& entry : storage::backends()) {
    if (entry.name == name) return text;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  throw_bad_value(option, text, "it must be one of " + names);
}

double parse_mix(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw_bad_value(option, text, "it must be R:W, shares of reads and writes", "Write for example 70:30");
  }
  const auto part = [&](const std::string& number) {
    return static_cast<double>(parse_count(option, number, 1, max_mix_part));
  };
  const double reads = part(text.substr(0, colon)), writes = part(text.substr(colon + 1));
  return reads / (reads + writes);
}

Shift parse_shift(const std::string& option, const std::string& text) {
  if (text == name_of(ReadShift::none)) return {};
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "ranks" && kind != "hosts")) {
    throw_bad_value(option, text, "it must be none, ranks:K or hosts:K", "Write for example hosts:1");
  }
  return {kind == "ranks" ? ReadShift::ranks : ReadShift::hosts,
          static_cast<std::int64_t>(parse_count(option, text.substr(colon + 1), 1, max_shift))};
}

}  // namespace leadline::bench::io
