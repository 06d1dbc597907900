// SPDX-License-Identifier: Apache-2.0
// Every shared option with its help, its check and its member of the request.
#include "bench/run_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string_view>

#include "memory/buffer.hpp"
#include "network/hostlist.hpp"
#include "transport/table.hpp"

namespace leadline::bench {
namespace {

constexpr std::uint64_t max_ranks = 1u << 26;

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const transport::Entry& entry : transport::transports()) names.emplace_back(entry.name);
  return names;
}

void declare_allocator(OptionTable& options, RunRequest& request) {
  std::string help = "where message buffers come from:";
  std::vector<std::string> names;
  for (const memory::Allocator& allocator : memory::allocators()) {
    help += fmt::format("\n{} - {}", allocator.name, allocator.purpose);
    names.emplace_back(allocator.name);
  }
  options
      .value(
          "--allocator", "NAME", help,
          [&](const std::string&, const std::string& text) { request.allocator = memory::allocator_named(text).name; })
      .suggests(names)
      .recorded_as([&] { return request.allocator; });
}

void declare_interface(OptionTable& options, RunRequest& request) {
  options
      .value("--interface", "NAME",
             "network between hosts: a device (ib0), a subnet (10.1.0.0/16, fd00::/8) or an address prefix (10.1.); of "
             "several (ib0,ib1) each rank of a host sends over the next one, and the first carries all else",
             [&](const std::string& option, const std::string& text) {
               if (text.empty() || (',' + text + ',').find(",,") != std::string::npos) {
                 throw_bad_value(option, text, "one of its networks has no name");
               }
               request.interface = text;
             })
      .by_default("that of the host name; for messages what the transport chooses")
      .recorded_as([&] { return request.interface; });
}

/// Of --hosts: each once.
std::vector<std::string> hosts_of_list(const std::string& option, const std::string& text) {
  constexpr std::size_t most_hosts = 1 << 16;
  std::vector<std::string> hosts = network::expand_hostlist({option, 0}, text, most_hosts);
  std::set<std::string_view> seen;
  for (const std::string& host : hosts) {
    if (!seen.insert(host).second) {
      throw_bad_value(option, text, host + " is named twice", "--ranks-per-host starts more ranks on each");
    }
    const bool is_one_word = host.find_first_of(" \t\r\n") == std::string::npos;
    if (!is_one_word || host.starts_with('-')) throw_bad_value(option, text, "'" + host + "' is no name of a host");
  }
  return hosts;
}

void declare_hosts(OptionTable& options, RunRequest& request) {
  options
      .value("--hosts", "LIST",
             "start the ranks on these hosts, by ssh: node[01-04],node7. No other launcher is needed, and the same "
             "installation and the working folder have to be there on each",
             [&](const std::string& option, const std::string& text) { request.hosts = hosts_of_list(option, text); })
      .recorded_as([&] { return network::folded_hostlist(request.hosts); })
      .conflicts_with("--local", "ranks are here, or on hosts")
      .later();
  options
      .text("--launch", "COMMAND",
            "what starts a program on a host, in place of ssh: words that a host and a command line follow; its "
            "standard input has to reach the program",
            request.launch)
      .by_default("ssh, so that it never asks")
      .needs("--hosts", "nothing is started on other hosts")
      .later();
}

}  // namespace

void declare_who(OptionTable& options, RunRequest& request) {
  options.group("Who takes part");
  options
      .text("--transport", "NAME", "how bytes move: tcp, mpi, ucx, verbs:DEVICE ...; see 'leadline transports'",
            request.transport)
      .by_default("mpi under an MPI launcher, else tcp")
      .suggests(transport_names());
  options
      .list("--transport-option", "NAME=VALUE",
            "a setting of the transport, as 'leadline transports --verbose' lists them; may be given several times",
            [&](const std::string&, const std::string& text) { request.transport_options.push_back(text); })
      .recorded_as([&] { return fmt::format("{}", fmt::join(request.transport_options, " ")); });
  options.count("--local", "start N local processes", 1, 4096, request.num_local, "the cores, at least 2")
      .no_effect_with("--ranks", "--ranks says how many");
  declare_hosts(options, request);
  options
      .choice("--bind",
              "which cores of its host a rank measures on; cores that a launcher has given to single ranks stay",
              request.binding)
      .later();
  declare_interface(options, request);
  options.text("--host-name-suffix", "TEXT",
               "network between hosts: look up the short host name with this behind it (node7 + i)",
               request.host_name_suffix);
  options.seconds("--timeout",
                  "end the run when a rank is silent, or stuck in an exchange or in one file call, for so long", 1,
                  request.timeout_s);
  options
      .seconds("--start-timeout",
               "how long to wait for hosts of --hosts and for ranks that were started one by one (LEADLINE_RANK); "
               "later ones are left out, where the transport can go on",
               1, request.start_timeout_s)
      .by_default("as --timeout");
  options.flag(
      "--strict-ranks",
      "end the run with status 4 where two ranks do not reach each other, or a rank is lost or does not come, instead "
      "of leaving that out",
      request.strict_ranks);
}

void declare_message_size(OptionTable& options, RunRequest& request, std::uint64_t least_bytes) {
  options.sizes("--message-size", "size, list or range of sizes", least_bytes, max_message_size_bytes,
                request.message_sizes_bytes);
}

void declare_fill(OptionTable& options, RunRequest& request) {
  options.choice("--fill", "contents of messages", request.fill);
}

void declare_fill_seed(OptionTable& options, RunRequest& request, const std::string& default_text) {
  options.count("--fill-seed", "seed of random contents", 0, UINT64_MAX, request.fill_seed, default_text);
}

void declare_repeat(OptionTable& options, RunRequest& request) {
  options.count("--repeat", "run everything N times, each kept", 1, 100'000, request.repeat);
}

void declare_memory_and_wait(OptionTable& options, RunRequest& request) {
  declare_allocator(options, request);
  options.choice("--wait", "how ranks wait", request.wait);
}

void declare_outcome(OptionTable& options, RunRequest& request, std::optional<ResultFormat>& format,
                     const Outcome& outcome) {
  const std::string says_both = "--json says both what is written and where";
  options.group("What comes out");
  options
      .file("-o,--output", fmt::format("result file ({}; - is standard output, as JSON)", outcome.endings),
            request.output)
      .by_default(outcome.default_file);
  options.choice("--format", "what the file is", format, outcome.formats)
      .by_default("by the ending of --output")
      .recorded_as([&] { return name_of(request.format); });
  options
      .optional_value("--json", "FILE",
                      "the summary as JSON, on standard output instead of text or into FILE: as --format json and "
                      "--output FILE",
                      [&](const std::string&, const std::string& text) {
                        format = ResultFormat::json;
                        request.output = text.empty() ? "-" : text;
                      })
      .as_file()
      .conflicts_with("--output", says_both)
      .conflicts_with("--format", says_both);
  options.choice("--row-path", "how measurements reach the file", request.row_path);
  options.flag("--overwrite", "replace an older result file", request.overwrite);
  options.quiet_and_verbose(request.quiet, request.verbose, {}, outcome.verbose_help);
  declare_dry_run(options, request, outcome.dry_run_help);
}

void declare_dry_run(OptionTable& options, RunRequest& request, const std::string& help) {
  options.flag("--dry-run", help, request.dry_run);
  options.count("--ranks", "with --dry-run: for so many ranks", 1, max_ranks, request.dry_run_ranks, "as --local")
      .needs("--dry-run", "only --dry-run simulates ranks")
      .no_effect_with("--hosts", "--hosts says where ranks are");
  options.count("--ranks-per-host", "with --hosts or --dry-run: so many on each host", 1, max_ranks,
                request.ranks_per_host, "1 with --hosts, else all on one");
}

OptionEntry& declare_topology(OptionTable& options, std::string& topology) {
  return options
      .text("--topology", "WORD",
            "the physical network: a file (Slurm's topology.conf, ibnetdiscover, cables), a formula "
            "(fat-tree:32x16), pattern:REGEX over the names of hosts, or none",
            topology)
      .by_default("nothing is known")
      .as_file();
}

OptionEntry& declare_routes(OptionTable& options, std::string& path) {
  return options
      .text("--routes", "FILE",
            "of an InfiniBand fabric: the forwarding tables of its switches, as dump_lfts.sh or ibroute print them, so "
            "that single cables and switches without hosts can be named",
            path)
      .needs("--topology", "the tables are read with --topology, the output of ibnetdiscover")
      .as_file();
}

OptionEntry& declare_profile(OptionTable& options, std::string& path) {
  return options
      .text("--profile", "PROFILE", "judge classes of pairs by what 'leadline profile' has learnt from good runs", path)
      .as_file();
}

VerdictOptions declare_verdict(OptionTable& options, std::string& topology, DiagnosisSettings& settings) {
  constexpr double least_threshold = 0.001, least_rate = 1e-6;
  OptionEntry& network = declare_topology(options, topology);
  OptionEntry& threshold = options.share("--threshold", "the least share of time that counts as a fault",
                                         least_threshold, settings.threshold);
  OptionEntry& rate = options.share("--false-discovery-rate", "so many findings of a kind may be chance", least_rate,
                                    settings.false_discovery_rate);
  return {network, threshold, rate};
}

}  // namespace leadline::bench
