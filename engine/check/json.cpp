// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a check says.
#include "check/json.hpp"

#include <tuple>

#include "bench/congestion/json_fields.hpp"
#include "network/hostlist.hpp"
#include "result/json_parts.hpp"

namespace leadline::check {

constexpr const char* about_of(Type<CheckResult> /*any*/) {
  return "What leadline check writes with --json and into its folder. Base units only: bytes, nanoseconds, seconds, "
         "bytes per second. null = not measured.";
}
constexpr const char* about_of(Type<Number> /*any*/) {
  return "What one kind of pairs, or of calls, reaches: medians; of the bisection the mean.";
}
constexpr const char* about_of(Type<CheckFinding> /*any*/) {
  return "Something wrong; places of hosts that show the same are one.";
}

constexpr const char* about_of(Type<Sample> /*any*/) {
  return "The hosts of --sample: that of rank 0, and others chosen at random; options.seed makes the same choice "
         "again.";
}

constexpr auto fields_of(Type<Sample> /*any*/) {
  return std::tuple{
      field("num_hosts_started", &Sample::num_started, "1", "hosts whose ranks were started and came"),
      field("host_names", &Sample::host_names, "", "those that took part"),
      field(
          "host_list", [](const Sample& one) { return network::folded_hostlist(one.host_names); }, "",
          "the same in short"),
      field("not_tested", &Sample::not_tested, "", "the others, of which nothing is known"),
      field(
          "not_tested_list", [](const Sample& one) { return network::folded_hostlist(one.not_tested); }, "",
          "the same in short"),
  };
}

constexpr auto fields_of(Type<Part> /*any*/) {
  return std::tuple{
      field("name", &Part::name, "",
            "latency, bandwidth, gpu (bandwidth between GPUs), bisection, congestion or files"),
      field("benchmark", &Part::benchmark, "", "the command that measures the same: link, bisection, congestion or io"),
      field("path", result::or_null(&Part::path), "", "its result file; null = none is kept"),
      field("why_not", result::or_null(&Part::why_not), "", "why it was not measured; null = it was"),
      field("elapsed_s", &Part::elapsed_s, "s", "time that it took"),
  };
}

constexpr auto fields_of(Type<Number> /*any*/) {
  return std::tuple{
      field("name", &Number::name, "",
            "the kind of pairs (same socket, same host, between hosts, or a distance of the network), gpu to gpu, "
            "bisection, memory copy, write or read with the file system, or a test of congestion with its quantile "
            "and load"),
      field("time_ns", &Number::time_ns, "ns", "of a message of the small size"),
      field("bytes_per_s", &Number::bytes_per_s, "bytes/s",
            "of messages of the large size; of the bisection the effective bisection bandwidth; of files that of all "
            "ranks together"),
      field("yardstick", result::or_null(&Number::yardstick), "",
            "what says how much it should be: profile (the site profile), line rate (of the network adapters), pairs "
            "alone, or alone (without the load); null = nothing does"),
      field("share", &Number::share, "1", "of the speed that it should have; of time and bandwidth the lesser one"),
      field("impact", &Number::impact, "", "of congestion: times as long under load as alone; null = another number",
            Since::later_version),
  };
}

constexpr auto fields_of(Type<CheckFinding> /*any*/) {
  return std::tuple{
      field("grade", &CheckFinding::grade, "",
            "bad: needs action; warning: should be looked at; untested: may be bad; note: all else"),
      field("kind", &CheckFinding::kind, "",
            "kind of component as in a diagnosis, gpu (one of them, a pair, or what they share), class (all pairs of a "
            "kind, beside the site profile), congestion, or the id of a finding about the machine"),
      field("name", &CheckFinding::name, "", "the component, or components, in words"),
      field("ratio", result::positive_or_null(&CheckFinding::ratio), "",
            "times as long as it should take; of several components the least; null = unknown"),
      field("ratio_most", result::positive_or_null(&CheckFinding::ratio_most), "",
            "of several components the greatest; null = unknown"),
      field("num_pairs", &CheckFinding::num_pairs, "1", "ordered pairs that show it; of files ranks in phases"),
      field("seen", &CheckFinding::seen, "", "the evidence in words"),
      field("advice", &CheckFinding::advice, "", "what to do"),
      field("part", &CheckFinding::part, "", "the part that shows it most clearly"),
      field("host_names", &CheckFinding::host_names, "", "the hosts concerned"),
      field(
          "host_list", [](const CheckFinding& one) { return network::folded_hostlist(one.host_names); }, "",
          "the same in short, as Slurm takes it: node[24-31]"),
      field("other_host_names", &CheckFinding::other_host_names, "", "of link, pair and cable: those of the other end"),
      field("ranks", &CheckFinding::ranks, "", "the ranks concerned"),
      field("adapters", &CheckFinding::adapters, "", "names of the network adapters concerned"),
  };
}

constexpr auto fields_of(Type<CheckResult> /*any*/) {
  return std::tuple_cat(
      result::beginning_of_document<"check", CheckResult>(),
      std::tuple{
          field("state", &CheckResult::state, "", "the answer: good, warning, bad, or untested"),
          field("why", &CheckResult::why, "", "the answer in a sentence"),
          field(
              "exit_status", [](const CheckResult& result) { return exit_status(result.state); }, "",
              "0 = good or with a warning, 1 = bad, 3 = could not be tested"),
          field("elapsed_s", &CheckResult::elapsed_s, "s", "from its start to this document"),
          field("parts", &CheckResult::parts, "", "what was measured, in this order"),
          field("numbers", &CheckResult::numbers, "", "what the machine reaches"),
          field("problems", &CheckResult::problems, "", "what is wrong, the gravest first"),
          field("drain", &CheckResult::drain, "", "hosts to take out of service"),
          field(
              "drain_list", [](const CheckResult& result) { return network::folded_hostlist(result.drain); }, "",
              "the same in short"),
          field("hosts", &RunResult::hosts, "", "hosts in order of their first rank"),
          field("sample", &CheckResult::sample, "", "the hosts of --sample; null = all took part",
                Since::later_version),
      });
}

std::string json_text(const CheckResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<CheckResult>("check-result", "Answer of a check"); }

}  // namespace leadline::check
