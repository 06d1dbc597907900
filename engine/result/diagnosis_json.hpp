// SPDX-License-Identifier: Apache-2.0
// Diagnoses, comparisons and site profiles in JSON; a profile is read again, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/diagnosis.hpp"
#include "network/hostlist.hpp"
#include "result/json_parts.hpp"

namespace leadline::result {

/// The document of `leadline diagnose`, with a line end.
std::string diagnosis_document(const std::string& result_path, bool is_complete,
                               const std::vector<DiagnosedSlice>& slices);

/// Which files are compared, as they were named.
struct ComparedFacts {
  std::string benchmark;
  std::vector<std::string> before;  ///< at least one
  std::string after;
};

/// The documents of `leadline compare`, with a line end: of the link test one comparison for each message size; of the
/// others their numbers.
std::string comparison_document(const ComparedFacts& files, const std::vector<Comparison>& sizes);
std::string comparison_document(const ComparedFacts& files, const ComparedRuns& runs);

Json diagnosis_schema();
Json comparison_schema();

/// A fault of all slices of a document: where it is told in full, and what identifies it.
struct JoinedFault {
  std::string name;
  ComponentKind kind = ComponentKind::host;
  FindingList list = FindingList::persistent;
  double ratio = 1;
  DiagnosedSlice slice;   ///< without its diagnosis
  std::size_t index = 0;  ///< among the faults of that slice
  std::size_t num_found = 0, num_slices = 0;
  std::size_t group_index = 0;
  std::string group_name;
};

/// Faults of a diagnosis that texts tell as one.
struct AlikeFaults {
  std::string name;
  std::vector<std::size_t> fault_indices;
};

/// Those groups of diagnosis::fault_groups that have several faults.
std::vector<AlikeFaults> alike_faults(const Diagnosis& diagnosis);

/// What diagnosis::seen_faults says of these slices, in its order.
std::vector<JoinedFault> joined_faults(std::span<const DiagnosedSlice> slices);

/// A component with the hosts below it.
struct ComponentOfFault : Component {
  std::vector<std::int32_t> hosts, other_hosts;
};

}  // namespace leadline::result

namespace leadline {

constexpr const char* about_of(Type<DiagnosedSlice> /*any*/) {
  return "One message size of a result, and what is said about it.";
}

constexpr const char* about_of(Type<result::JoinedFault> /*any*/) {
  return "A fault of all slices, where it costs most.";
}

constexpr const char* about_of(Type<result::AlikeFaults> /*any*/) {
  return "Places of hosts that show the same, which texts tell as one.";
}

constexpr const char* about_of(Type<Diagnosis> /*any*/) { return "What was found out about one matrix."; }

constexpr const char* about_of(Type<PhaseEvidence> /*any*/) {
  return "What a host, rank, target or uplink shows in the phases of a file test.";
}

constexpr auto fields_of(Type<ShownPair> /*any*/) {
  return std::tuple{
      field("from", &ShownPair::from, "", "the rank that sends"),
      field("to", &ShownPair::to, "", "the rank that receives"),
      field("measured", result::as<result::Ratio>(&ShownPair::measured), "",
            "its median in ns; of an unsteady component mean over median; in a comparison what became of its median: "
            "after "
            "over before, of a component that became faster before over after"),
      field("expected", result::as<result::Ratio>(&ShownPair::expected), "",
            "the same without the fault; in a comparison, had it changed as its class did"),
  };
}

}  // namespace leadline

namespace leadline::result {

constexpr auto fields_of(Type<ComponentOfFault> /*any*/) {
  return std::tuple{
      field(
          "level", or_null(&Component::level), "",
          "of switch, uplink and cable: level of the network, 0 = next to the hosts; null where forwarding tables tell "
          "it"),
      field("first", or_null(&Component::first), "",
            "number of the switch, slot (of a rail), host, rank or target; null = all hosts, or a switch or cable that "
            "forwarding tables tell. Hosts count by their first rank"),
      field("second", or_null(&Component::second), "",
            "of cable, link and pair: the other end, which has the greater number"),
      field("socket", or_null(&Component::socket), "", "of a socket: its NUMA node"),
      field("hosts", &ComponentOfFault::hosts, "",
            "of switch, uplink and cable: numbers of the hosts below the (first) switch; else empty"),
      field("other_hosts", &ComponentOfFault::other_hosts, "",
            "of cable: numbers of the hosts below the other switch; else empty"),
  };
}

}  // namespace leadline::result

namespace leadline {

constexpr auto fields_of(Type<PhaseEvidence> /*any*/) {
  return std::tuple{
      field("operation", &PhaseEvidence::operation, "", "write, read, or one on files as a whole"),
      field("num_phases", &PhaseEvidence::num_phases, "1", "phases that were judged"),
      field("num_slow", &PhaseEvidence::num_slow, "1", "those in which it is slow"),
      field(
          "bytes_per_s", &PhaseEvidence::bytes_per_s, "bytes/s",
          "of one of its ranks while it is in calls; median over its ranks and the phases. Of operations on files as a "
          "whole: so many a second"),
      field("usual_bytes_per_s", &PhaseEvidence::usual_bytes_per_s, "bytes/s", "the same without the fault"),
      field("where", &PhaseEvidence::where, "", "on which targets, or from which hosts; empty = nothing to tell"),
  };
}

constexpr auto fields_of(Type<Fault> /*any*/) {
  return std::tuple{
      field("kind", result::through(&Fault::component, &Component::kind), "", "what kind of component it is"),
      field("name", &Fault::name, "", "the component in words"),
      field("symptom", &Fault::symptom, "",
            "what is long: the medians of a slow one, only the means of an unsteady one"),
      field("direction", &Fault::direction, "",
            "which way is concerned. Of two ends: out = from the first to the second. Else: out = what it sends"),
      field(
          "component",
          [](const Fault& fault) {
            result::ComponentOfFault told{fault.component, fault.hosts, fault.other_hosts};
            if (is_of_routes(told)) told.first = -1;  // its names say which one
            return told;
          },
          "", "the component in numbers; which of them count follows from the kind"),
      field("host_names", &Fault::host_names, "", "names of the hosts concerned; empty = all hosts, or a group unnamed",
            Since::later_version),
      field("other_host_names", &Fault::other_host_names, "", "of cable, link and pair: those of the other end",
            Since::later_version),
      field(
          "host_list", [](const Fault& fault) { return network::folded_hostlist(fault.host_names); }, "",
          "host_names in short, as Slurm takes it: node[24-31]", Since::later_version),
      field(
          "other_host_list", [](const Fault& fault) { return network::folded_hostlist(fault.other_host_names); }, "",
          "other_host_names in short", Since::later_version),
      field("ranks", &Fault::ranks, "",
            "ranks concerned, of a link those on its first host; empty for rail, switch, uplink and cable",
            Since::later_version),
      field("other_ranks", &Fault::other_ranks, "", "of link and pair: those of the other end", Since::later_version),
      field("switch_name", result::or_null(&Fault::switch_name), "",
            "of switch, uplink and cable: name of the switch or group; else null", Since::later_version),
      field("other_switch_name", result::or_null(&Fault::other_switch_name), "", "of cable: that of the other end",
            Since::later_version),
      field("target_name", result::or_null(&Fault::target_name), "",
            "of target: the folder or the file that it stands for; else null", Since::later_version),
      field("adapters", &Fault::adapters, "",
            "of port and rail: names of the network adapters of its ranks; empty = not known", Since::later_version),
      field("ratio", result::as<result::Ratio>(&Fault::ratio), "",
            "time over what is expected without the fault; of an unsteady component mean over median, by what is "
            "usual; in "
            "a comparison of its pairs after over before, divided by that of their class, of a component that became "
            "faster before over after"),
      field(
          "ratio_interval",
          [](const Fault& fault) {
            return std::array{result::Ratio{fault.ratio_low}, result::Ratio{fault.ratio_high}};
          },
          "", "its 95 % interval"),
      field("p_value", result::as<result::Probability>(&Fault::p_value), "",
            "probability that a sound component shows so much"),
      field("share", &Fault::share, "1", "of its pairs that are slow; less than 1: one of several parallel cables",
            Since::later_version),
      field(
          "time_share", result::positive_or_null(&Fault::time_share), "1",
          "of the time of all measured pairs together that it costs, by the medians of classes; of a file test of the "
          "time of its phases, in which others wait for it; null = unknown",
          Since::later_version),
      field("phases", &Fault::phases, "", "of a file test: in which phases it is slow; else null",
            Since::later_version),
      field("num_pairs", &Fault::num_pairs, "1",
            "ordered pairs that belong to it and were measured; of a file test ranks, each once for each phase"),
      field("pairs", &Fault::pairs, "", "some of them, at most eight, as evidence"),
      field("ruled_out", &Fault::ruled_out, "", "other components that were suspected, and why it is none of them"),
      field("advice", &Fault::advice, "", "what to do"),
      field("persistence", &Fault::persistence, "",
            "what second measurements of its pairs say: alone, then under load"),
      field("ratio_alone", result::positive_or_null(&Fault::ratio_alone), "",
            "ratio of that measurement; null = there is none"),
      field("ratio_concurrent", result::positive_or_null(&Fault::ratio_concurrent), "",
            "the same measured again while all other ranks measured, too; null = there is none"),
      field(
          "list", [](const Fault& fault) { return list_of(fault); }, "",
          "the list that it is told in: persistent ones need action, and only these make --strict end with status 1",
          Since::later_version),
      field(
          "severity", [](const Fault& fault) { return counts(fault) ? Severity::warning : Severity::note; }, "",
          "warning: needs action; note: all else", Since::later_version),
      field("is_note", &Fault::is_note, "", "how the machine is built rather than a fault; --strict does not count it"),
  };
}

constexpr auto fields_of(Type<DiagnosedClass> /*any*/) {
  return std::tuple{
      field("name", &DiagnosedClass::name, "",
            "kind of pairs: same socket, same host, between hosts, or a distance of the network"),
      field("num_pairs", &DiagnosedClass::num_pairs, "1", "ordered pairs measured"),
      field("time_ns_median", &DiagnosedClass::time_ns_median, "ns", "median of their times a message"),
      field("error", &DiagnosedClass::error, "",
            "standard error of the natural logarithm of that median; each host counts as one"),
      field("spread", &DiagnosedClass::spread, "",
            "robust standard deviation of what class and ends leave unexplained of the natural logarithm: 0.02 = about "
            "2 %"),
  };
}

constexpr auto fields_of(Type<DiagnosisSettings> /*any*/) {
  return std::tuple{
      field("threshold", result::as<result::Share>(&DiagnosisSettings::threshold), "",
            "the least share of time that counts as a fault, or as a change: 0.1 = 10 % longer"),
      field("false_discovery_rate", result::as<result::Share>(&DiagnosisSettings::false_discovery_rate), "",
            "the share of the findings of one kind of component that may be chance"),
  };
}

constexpr auto fields_of(Type<ComparedClass> /*any*/) {
  return std::tuple{
      field("name", &ComparedClass::name, "",
            "kind of pairs: same socket, same host, between hosts, or a distance of the network"),
      field("num_pairs", &ComparedClass::num_pairs, "1",
            "ordered pairs that both have; beside a site profile those of the result"),
      field("before_ns_median", result::as<result::Ratio>(&ComparedClass::before_ns), "ns",
            "median of their times a message in the baseline, or the site profile"),
      field("after_ns_median", result::as<result::Ratio>(&ComparedClass::after_ns), "ns",
            "the same in the other result"),
      field("ratio", result::as<result::Ratio>(&ComparedClass::ratio), "",
            "median over the pairs of after over before; beside a site profile after over before of the medians"),
      field(
          "ratio_interval",
          [](const ComparedClass& one) {
            return std::array{result::Ratio{one.ratio_low}, result::Ratio{one.ratio_high}};
          },
          "",
          "its 95 % interval, each host counting as one; beside a site profile what a single run may show by the "
          "scatter "
          "of its runs, the ratio itself where it has one run"),
      field("change", &ComparedClass::change, "", "beyond the threshold and beyond the interval"),
  };
}

constexpr auto fields_of(Type<LineRateShare> /*any*/) {
  return std::tuple{
      field("adapter", &LineRateShare::adapter, "", "adapter and link, as the kernel tells of most ranks"),
      field("line_rate_bytes_per_s", &LineRateShare::line_rate_bytes_per_s, "B/s",
            "what it carries one way, or its PCIe slot where that is less"),
      field("bytes_per_s", &LineRateShare::bytes_per_s, "B/s", "one pair between hosts alone; median"),
      field("share", &LineRateShare::share, "1", "the one by the other"),
      field("num_pairs", &LineRateShare::num_pairs, "1", "ordered pairs, chosen by chance and measured alone"),
  };
}

constexpr auto fields_of(Type<result::AlikeFaults> /*any*/) {
  using result::AlikeFaults;
  return std::tuple{
      field("name", &AlikeFaults::name, "", "of all together: ports of node[24-31]"),
      field("fault_indices", &AlikeFaults::fault_indices, "", "their positions among the faults, from 0"),
  };
}

constexpr auto fields_of(Type<Diagnosis> /*any*/) {
  return std::tuple_cat(
      result::fields_through<DiagnosisSettings>(&Diagnosis::settings),
      std::tuple{
          field("topology", result::or_null(&Diagnosis::topology), "",
                "where the network comes from; null = nothing is known of it, so no switch can be named"),
          field("untested", result::or_null(&Diagnosis::untested), "",
                "why nobody could be judged, so that no fault does not mean that all are sound; null = somebody was",
                Since::later_version),
          field("num_pairs", &Diagnosis::num_pairs, "1",
                "ordered pairs of all ranks; of a file test ranks, each once for each phase"),
          field("num_measured", &Diagnosis::num_measured, "1",
                "those of them with a time; what is said is about these"),
          field("num_phases", &Diagnosis::num_phases, "1", "of a file test: phases that were judged; else 0",
                Since::later_version),
          field("classes", &Diagnosis::classes, "",
                "what pairs of one kind take, nearer ones first; kinds without pairs are left out"),
          field("faults", &Diagnosis::faults, "",
                "faults first, those that cost most time in all at the front; then notes on how the machine is built"),
          field("alike_faults", result::alike_faults, "",
                "faults that texts tell as one, since only their host or rank differs; empty = each by itself",
                Since::later_version),
          field(
              "profile", &Diagnosis::profile, "",
              "classes beside the site profile that was given: before is the profile; one that is slower needs action, "
              "as a persistent fault does",
              Since::later_version),
          field(
              "line_rate", &Diagnosis::line_rate, "",
              "what pairs between hosts reach of their adapters' line rate; null = it is not known, or no messages of "
              "1 MiB and more were measured alone",
              Since::later_version),
          field("notes", &Diagnosis::notes, "", "what could not be told, and why"),
      });
}

constexpr auto fields_of(Type<result::JoinedFault> /*any*/) {
  using result::JoinedFault;
  return std::tuple{
      field("name", &JoinedFault::name, "", "the component in words"),
      field("kind", &JoinedFault::kind, "", "what kind of component it is"),
      field("list", &JoinedFault::list, "", "the list that it is told in"),
      field("ratio", result::as<result::Ratio>(&JoinedFault::ratio), "", "in the slice named here"),
      field("repeat", result::through(&JoinedFault::slice, &DiagnosedSlice::repeat), "",
            "repeat of the slice in which it costs most, from 0"),
      field("size_index", result::through(&JoinedFault::slice, &DiagnosedSlice::size_index), "",
            "the message size of that slice, as its position among those of the run, from 0"),
      field(
          "pattern",
          [](const JoinedFault& one) {
            return one.slice.pattern.empty() ? std::nullopt : std::optional(one.slice.pattern);
          },
          "", "pattern of that slice; null = of a link test"),
      field("fault_index", &JoinedFault::index, "", "position among the faults of that slice's diagnosis, from 0"),
      field("num_found", &JoinedFault::num_found, "1", "slices that show it"),
      field("num_slices", &JoinedFault::num_slices, "1", "slices in which somebody was judged"),
      field("group_index", &JoinedFault::group_index, "",
            "position in this list of the first fault that texts tell together with it; its own where it is told alone",
            Since::later_version),
      field("group_name", &JoinedFault::group_name, "", "name of all that are told together: ports of node[24-31]",
            Since::later_version),
  };
}

constexpr auto fields_of(Type<DiagnosedSlice> /*any*/) {
  return std::tuple{
      field("repeat", &DiagnosedSlice::repeat, "", "repeat, from 0"),
      field("size_index", &DiagnosedSlice::size_index, "",
            "position of the message size among those of the run, from 0"),
      field("message_size_bytes", &DiagnosedSlice::message_size_bytes, "bytes", "message size"),
      field("pattern", result::or_null(&DiagnosedSlice::pattern), "",
            "random of a bisection test, the name of a topology, write or read of a file test; null = of a link test",
            Since::later_version),
      field("diagnosis", &DiagnosedSlice::diagnosis, "", "what stands out in this slice"),
  };
}

}  // namespace leadline

namespace leadline::result {

/// How documents describe the faults of all slices.
inline constexpr const char* about_joined_faults =
    "the faults of all slices, those of one component and symptom as one: persistent ones first, then by how many "
    "slices show them, then by what they cost";

/// The document of `leadline profile`, with a line end.
std::string profile_document(const Profile& profile);

Json profile_schema();

/// Throws Error(bad_command_line) that names the file: it is no such document, or is of a later format.
Profile profile_of_text(const std::string& path, std::string_view text);

}  // namespace leadline::result
