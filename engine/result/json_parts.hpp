// SPDX-License-Identifier: Apache-2.0
// The parts of a JSON document that all benchmarks share; docs/formats/json.md.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bench/run_options.hpp"
#include "core/json.hpp"
#include "model/result.hpp"
#include "network/hostlist.hpp"
#include "options/option_table.hpp"
#include "result/described_json.hpp"

namespace leadline::result {

/// A number of a document that is read, NaN for null.
double number_or_nan(const Json& json);

/// As text for people and files, with a line end. Text that is no UTF-8 is replaced where it is wrong.
std::string text_of(const Json& document);

/// The same in one line, without its end.
std::string line_of(const Json& document);

/// The options of a run, whatever they are: the table of its request says it.
template <typename Request>
struct RunOptions {
  std::vector<Option> options;
};

template <typename Request>
struct JsonType<RunOptions<Request>> {
  static Json json(const RunOptions<Request>& from) {
    Json json = Json::object();
    for (const Option& option : from.options) {
      std::visit([&](const auto& value) { json[json_name(option)] = value; }, option.value);
    }
    return json;
  }
  static Json schema() { return bench::options_schema<Request>(); }
};

/// Where a result comes from, with the words that made it.
struct RunProvenance : Provenance {
  std::vector<std::string> command_line;
};

/// How the document of each benchmark begins.
template <FixedText benchmark, typename Result>
constexpr auto beginning_of_document() {
  return std::tuple{
      field(
          "benchmark", [](const Result& /*any*/) { return Constant<benchmark>(); }, "", "which test this is"),
      field(
          "format_version", [](const Result& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
      field("complete", &RunResult::complete, "", "true when the run ended well"),
      field(
          "incomplete_reason", [](const Result& result) { return result.complete ? "" : result.incomplete_reason; }, "",
          "why it did not; empty if it did"),
      field(
          "options",
          [](const Result& result) { return RunOptions<decltype(Result::request)>{bench::options_of(result.request)}; },
          "", "every option of the command line, whether given or not; the unit, if any, ends the name"),
      field(
          "provenance",
          [](const Result& result) {
            return RunProvenance{result.provenance, result.request.command_line};
          },
          "", "where the result comes from"),
      field("connections", &RunResult::connections, "",
            "what opening links has cost, outside of all measured times; null where the run did not come that far"),
  };
}

/// What else all of them have.
inline constexpr auto run_fields = std::tuple{
    field("verified_bytes", &RunResult::verified_bytes, "bytes",
          "received from other ranks or read from files, and compared, over all ranks; 0 = no verification"),
    field("hosts", &RunResult::hosts, "", "hosts in order of their first rank"),
    field("findings", &RunResult::findings, "", "what a person should look at"),
};

}  // namespace leadline::result

namespace leadline {

constexpr auto fields_of(Type<TransportInfo> /*any*/) {
  return std::tuple{
      field("name", &TransportInfo::name, "", "its name in --transport"),
      field("library", &TransportInfo::library, "", "library and version"),
      field("device", &TransportInfo::device, "", "network device; empty where the library chooses"),
      field("simulated", &TransportInfo::simulated, "", "times come from a model, not from hardware"),
  };
}

constexpr auto fields_of(Type<ClockInfo> /*any*/) {
  return std::tuple{
      field("source", &ClockInfo::source, "", "name of the clock"),
      field("resolution_ns", &ClockInfo::resolution_ns, "ns", "smallest step seen"),
      field("cost_ns", &ClockInfo::cost_ns, "ns", "mean time of one reading"),
  };
}

constexpr auto fields_of(Type<LineRate> /*any*/) {
  return std::tuple{
      field("adapter", result::or_null(&LineRate::adapter), "",
            "name and link; null = the kernel does not tell, or all ranks are on one host"),
      field("bytes_per_s", result::as<result::KnownNumber>(&LineRate::bytes_per_s), "B/s",
            "one way, by its link or its PCIe slot, whichever is less; null = not known"),
  };
}

}  // namespace leadline

namespace leadline::result {

constexpr auto fields_of(Type<RunProvenance> /*any*/) {
  return std::tuple{
      field("version", &Provenance::version, "", "version of the program"),
      field("commit", &Provenance::commit, "", "commit it was built from"),
      field("command_line", &RunProvenance::command_line, "", "the words of the command line"),
      field("start_utc", &Provenance::start_utc, "", "ISO 8601, as 2026-01-31T23:59:59Z"),
      field("end_utc", &Provenance::end_utc, "", "the same; empty while not ended"),
      field("launcher", &Provenance::launcher, "", "what started the ranks"),
      field("kernel", &Provenance::kernel, "", "operating system, release and machine of rank 0"),
      field("transport", &Provenance::transport, "", "what moved the messages"),
      field("line_rate", &Provenance::line_rate, "", "what the network adapters of most ranks carry",
            Since::later_version),
      field("memory_copy_bytes_per_s",
            result::as<result::KnownNumber>(result::through(&Provenance::memory_copy, &MemoryCopy::bytes_per_s)), "B/s",
            "what one rank of a host copies from memory to memory, median over the hosts; null = not measured",
            Since::later_version),
      field("clock", &Provenance::clock, "", "what measured the time"),
      field("wait", &Provenance::wait, "", "how ranks waited; auto only in a result that ended before that was known"),
      field("binding", &Provenance::binding, "",
            "which cores ranks had: core (one each) or numa (a NUMA node's), by --bind; launcher: it gave ranks of a "
            "host different ones; none: nothing was done; empty = not known",
            Since::later_version),
      field("control_plane_on_loopback", &Provenance::control_plane_on_loopback, "", "no port was open to other hosts"),
      field("num_ranks", &Provenance::num_ranks, "1", "ranks that took part"),
      field("num_hosts", &Provenance::num_hosts, "1", "hosts that took part"),
  };
}

}  // namespace leadline::result

namespace leadline {

constexpr auto fields_of(Type<Connections> /*any*/) {
  return std::tuple{
      field("num_opened", &Connections::num_opened, "1", "links opened, over all ranks; each end counts its own"),
      field("total_s_max", result::as<result::KnownNumber>(&Connections::total_s_max), "s",
            "time of the rank that spent most on it"),
      field("longest_s", result::as<result::KnownNumber>(&Connections::longest_s), "s", "the longest single one"),
      field("longest_rank", result::or_null(&Connections::longest_rank), "",
            "which rank that was; null = no link was opened"),
      field("longest_partner", result::or_null(&Connections::longest_partner), "", "and to whom"),
  };
}

constexpr auto fields_of(Type<HostRanks> /*any*/) {
  return std::tuple{
      field("host", &HostRanks::host, "", "name of the host"),
      field("ranks", &HostRanks::ranks, "", "its ranks, as 0-3,8"),
  };
}

constexpr auto fields_of(Type<FoundAdapter> /*any*/) {
  return std::tuple{
      field("name", &FoundAdapter::name, "", "as the kernel calls it on the first of its hosts: mlx5_0"),
      field("link", &FoundAdapter::link, "", "rate and kind of its link; empty = not known"),
      field("slot", &FoundAdapter::slot, "", "its PCIe slot; empty = it has none, or not known"),
      field("possible_slot", &FoundAdapter::possible_slot, "",
            "what slot and adapter could; empty unless that is more"),
      field("bytes_per_s", result::as<result::KnownNumber>(&FoundAdapter::bytes_per_s), "B/s",
            "one way, by its link or its slot, whichever is less"),
      field("host_names", &FoundAdapter::host_names, "", "the hosts that have it"),
  };
}

constexpr auto fields_of(Type<FoundNumber> /*any*/) {
  return std::tuple{
      field("name", &FoundNumber::name, "", "what it is"),
      field("host_name", result::or_null(&FoundNumber::host_name), "",
            "the host it was measured on; null = of no single host"),
      field("unit", &FoundNumber::unit, "", "its unit; 1 = a number of something, or a share"),
      field("value", &FoundNumber::value, "", "the number"),
      field("ranks", &FoundNumber::ranks, "",
            "the ranks concerned, of a message the sender first; empty = no single ones"),
  };
}

constexpr auto fields_of(Type<Finding> /*any*/) {
  return std::tuple{
      field("id", &Finding::id, "", "stable name of the kind of finding"),
      field("severity", &Finding::severity, "", "a warning makes numbers doubtful"),
      field("message", &Finding::message, "", "one sentence"),
      field("evidence", &Finding::evidence, "", "the numbers behind it"),
      field("advice", &Finding::advice, "", "what to do"),
      field("host_names", &Finding::host_names, "", "the hosts concerned; empty = all, or none in particular",
            Since::later_version),
      field(
          "host_list", [](const Finding& finding) { return network::folded_hostlist(finding.host_names); }, "",
          "host_names in short, as Slurm takes it: node[24-31]", Since::later_version),
      field("ranks", &Finding::ranks, "", "the ranks concerned; empty = all, or none in particular",
            Since::later_version),
      field("adapters", &Finding::adapters, "", "of slower_adapters and narrow_slots: the adapters",
            Since::later_version),
      field("numbers", &Finding::numbers, "", "the numbers behind it", Since::later_version),
      field("time_share", result::positive_or_null(&Finding::time_share), "1",
            "of the time of the run that it costs; null = unknown", Since::later_version),
      field(
          "list", &Finding::list, "",
          "the list of a diagnosis that it would be told in: persistent where it needs action; null where it is about "
          "the measurement rather than a component",
          Since::later_version),
  };
}

}  // namespace leadline
