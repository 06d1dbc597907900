// SPDX-License-Identifier: Apache-2.0
// The documents of diagnoses, comparisons and site profiles, and what of them is in no other document.
#include "result/diagnosis_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "core/error.hpp"
#include "diagnosis/fault_groups.hpp"
#include "diagnosis/seen_faults.hpp"

namespace leadline::result {

struct DiagnosisDocument {
  std::string result_path;
  bool is_complete = false;
  std::span<const DiagnosedSlice> slices;
};

struct ComparisonDocument {
  const ComparedFacts* files = nullptr;
  std::span<const Comparison> sizes;
  ComparedRuns runs;
};

namespace {

/// How both documents begin.
template <FixedText document, typename Document>
constexpr auto beginning() {
  return std::tuple{
      field(
          "document", [](const Document& /*any*/) { return Constant<document>(); }, "", "which document this is"),
      field(
          "format_version", [](const Document& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
  };
}

}  // namespace

constexpr const char* about_of(Type<DiagnosisDocument> /*any*/) {
  return "What leadline diagnose --json writes; the numbers are defined in docs/metrics.md, Diagnosis. Ratios are of "
         "times: "
         "2 "
         "= twice as long. null = none.";
}

constexpr const char* about_of(Type<ComparisonDocument> /*any*/) {
  return "What leadline compare --json writes; the numbers are defined in docs/metrics.md, Comparison. Ratios are of "
         "times, "
         "after over before: 2 = twice as long; those of runs.numbers of the number itself.";
}

constexpr auto fields_of(Type<DiagnosisDocument> /*any*/) {
  return std::tuple_cat(
      beginning<"diagnosis", DiagnosisDocument>(),
      std::tuple{
          field("result", &DiagnosisDocument::result_path, "", "the file that was diagnosed, as it was named"),
          field("complete", &DiagnosisDocument::is_complete, "", "whether the run that wrote it ended well"),
          field("slices", &DiagnosisDocument::slices, "",
                "one entry for each message size in each repeat that was asked for, in the order measured"),
          field(
              "faults", [](const DiagnosisDocument& document) { return joined_faults(document.slices); }, "",
              about_joined_faults, Since::later_version),
      });
}

}  // namespace leadline::result

namespace leadline {

constexpr auto fields_of(Type<ComparedNumber> /*any*/) {
  return std::tuple{
      field("name", &ComparedNumber::name, "", "what it is: eBB, exchange, ring"),
      field("message_size_bytes", &ComparedNumber::message_size_bytes, "bytes", "message size; 0 = none"),
      field("part", result::or_null(&ComparedNumber::part), "",
            "the host or storage target that it is of; null = of the whole run"),
      field("unit", &ComparedNumber::unit, "",
            "ns; bytes/s, where less is slower; or 1: the time of a part over that of the median part of its run"),
      field("num_runs", &ComparedNumber::num_runs, "1", "baselines that have it"),
      field("before", result::as<result::Ratio>(&ComparedNumber::before), "", "median of them"),
      field("after", result::as<result::Ratio>(&ComparedNumber::after), "", "in the result"),
      field("ratio", result::as<result::Ratio>(&ComparedNumber::ratio), "", "after over before"),
      field(
          "ratio_interval",
          [](const ComparedNumber& one) {
            return std::array{result::Ratio{one.ratio_low}, result::Ratio{one.ratio_high}};
          },
          "",
          "its 95 % interval by the scatter of the baselines; with one baseline by what both results know of their own "
          "error, else the ratio itself"),
      field("change", &ComparedNumber::change, "", "beyond threshold and chance"),
  };
}

constexpr auto fields_of(Type<ComparedRuns> /*any*/) {
  return std::tuple_cat(result::fields_through<DiagnosisSettings>(&ComparedRuns::settings),
                        std::tuple{
                            field("numbers", &ComparedRuns::numbers, "", "what the result and a baseline have"),
                            field("notes", &ComparedRuns::notes, "", "what differs, and what could not be compared"),
                        });
}

constexpr auto fields_of(Type<Comparison> /*any*/) {
  return std::tuple_cat(
      std::tuple{field("message_size_bytes", &Comparison::message_size_bytes, "bytes", "message size")},
      result::fields_through<DiagnosisSettings>(&Comparison::settings),
      std::tuple{
          field("num_pairs", &Comparison::num_pairs, "1", "ordered pairs that all results have"),
          field("worse", is_worse, "", "whether a class or a component became slower"),
          field("classes", &Comparison::classes, "", "pairs by their distance, nearer ones first"),
          field("slower", &Comparison::slower, "",
                "components that became slower by more than their class did; ratio: by how much beyond it"),
          field("faster", &Comparison::faster, "",
                "components that became faster by more than their class did; ratio: before over after, beyond it"),
          field("notes", &Comparison::notes, "", "what differs, and what could not be compared; with the first size"),
      });
}

}  // namespace leadline

namespace leadline::result {

constexpr auto fields_of(Type<ComparisonDocument> /*any*/) {
  return std::tuple_cat(
      beginning<"comparison", ComparisonDocument>(),
      std::tuple{
          field(
              "benchmark", [](const ComparisonDocument& document) { return document.files->benchmark; }, "",
              "of which test they are results", Since::later_version),
          field(
              "before", [](const ComparisonDocument& document) { return document.files->before.front(); }, "",
              "the baseline, as it was named; of several the first"),
          field(
              "baselines", [](const ComparisonDocument& document) { return document.files->before; }, "",
              "all baselines", Since::later_version),
          field(
              "after", [](const ComparisonDocument& document) { return document.files->after; }, "",
              "the result that is compared with them"),
          field(
              "worse",
              [](const ComparisonDocument& document) {
                return has_slower(document.runs) || std::ranges::any_of(document.sizes, is_worse);
              },
              "", "whether anything became slower"),
          field("sizes", &ComparisonDocument::sizes, "",
                "of the link test one entry for each message size that all results have; else empty"),
          field("runs", &ComparisonDocument::runs, "", "of the other tests; of the link test without numbers",
                Since::later_version),
      });
}

std::vector<JoinedFault> joined_faults(std::span<const DiagnosedSlice> slices) {
  const std::size_t num_slices = diagnosis::num_judged(slices);
  const std::vector<diagnosis::SeenFault> all = diagnosis::seen_faults(slices);
  std::vector<JoinedFault> joined;
  for (const diagnosis::SeenFault& seen : all) {
    const DiagnosedSlice& slice = *seen.slice;
    const Fault& fault = *seen.worst;
    joined.push_back({fault.name,
                      fault.component.kind,
                      list_of(fault),
                      fault.ratio,
                      {slice.repeat, slice.size_index, slice.message_size_bytes, slice.pattern, {}},
                      seen.index(),
                      seen.num_slices,
                      num_slices,
                      0,
                      ""});
  }
  const auto position = [&](const diagnosis::SeenFault& seen) {
    return static_cast<std::size_t>(std::ranges::find(all, seen.worst, &diagnosis::SeenFault::worst) - all.begin());
  };
  for (const diagnosis::FaultGroup& group : diagnosis::fault_groups(all)) {
    for (const diagnosis::SeenFault& seen : group.places) {
      joined[position(seen)].group_index = position(group.places.front());
      joined[position(seen)].group_name = group.fault.name;
    }
  }
  return joined;
}

std::vector<AlikeFaults> alike_faults(const Diagnosis& diagnosis) {
  std::vector<AlikeFaults> alike;
  for (const diagnosis::FaultGroup& group : diagnosis::fault_groups(diagnosis)) {
    if (group.is_single()) continue;
    std::vector<std::size_t> indices;
    for (const diagnosis::SeenFault& one : group.places) {
      indices.push_back(static_cast<std::size_t>(one.worst - diagnosis.faults.data()));
    }
    alike.push_back({group.fault.name, std::move(indices)});
  }
  return alike;
}

std::string diagnosis_document(const std::string& result_path, bool is_complete,
                               const std::vector<DiagnosedSlice>& slices) {
  return text_of(json_of(DiagnosisDocument{result_path, is_complete, slices}));
}

std::string comparison_document(const ComparedFacts& files, const std::vector<Comparison>& sizes) {
  return text_of(json_of(ComparisonDocument{&files, sizes, {}}));
}

std::string comparison_document(const ComparedFacts& files, const ComparedRuns& runs) {
  return text_of(json_of(ComparisonDocument{&files, {}, runs}));
}

Json diagnosis_schema() {
  return document_schema<DiagnosisDocument>("diagnosis", "What a diagnosis says about a run of any benchmark");
}

Json comparison_schema() {
  return document_schema<ComparisonDocument>("comparison", "What changed from earlier results to a later one");
}

}  // namespace leadline::result

namespace leadline {

constexpr const char* about_of(Type<Profile> /*any*/) {
  return "What leadline profile writes: what pairs of each class take in good runs of a site.";
}

constexpr const char* about_of(Type<ProfiledClass> /*any*/) { return "Pairs of one class and message size."; }

constexpr auto fields_of(Type<ProfiledClass> /*any*/) {
  return std::tuple{
      field("message_size_bytes", &ProfiledClass::message_size_bytes, "bytes", "message size"),
      field("name", &ProfiledClass::name, "",
            "kind of pairs: same socket, same host, between hosts, or a distance of the network that was told"),
      field("num_pairs", &ProfiledClass::num_pairs, "1", "ordered pairs measured, of the run that has most"),
      field("num_runs", &ProfiledClass::num_runs, "1", "runs that have such pairs"),
      field("time_ns_median", &ProfiledClass::time_ns_median, "ns",
            "median over the runs of the median of the pairs' times a message"),
      field("scatter", result::positive_or_null(&ProfiledClass::scatter), "",
            "standard deviation over the runs of the natural logarithm of that median; null = one run only"),
  };
}

constexpr auto fields_of(Type<Profile> /*any*/) {
  return std::tuple{
      field(
          "document", [](const Profile& /*any*/) { return result::Constant<"profile">(); }, "",
          "which document this is"),
      field(
          "format_version", [](const Profile& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
      field("transport", &Profile::transport, "", "how bytes moved; a run of another transport is not comparable"),
      field("direction", &Profile::direction, "", "what a pair exchanges; likewise"),
      field("serial", &Profile::is_serial, "", "whether pairs were measured one by one; likewise"),
      field("ranks_per_host", &Profile::ranks_per_host, "1", "of the host that has most; likewise"),
      field("num_runs", &Profile::num_runs, "1", "runs that it was learnt from"),
      field("classes", &Profile::classes, "", "what pairs of each kind and message size take"),
  };
}

}  // namespace leadline

namespace leadline::result {

std::string profile_document(const Profile& profile) { return text_of(json_of(profile)); }

Json profile_schema() { return document_schema<Profile>("profile", "What a site's links take in good runs"); }

Profile profile_of_text(const std::string& path, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' is no site profile", path), why,
                "leadline profile writes one");
  };
  Profile profile;
  try {
    const Json json = Json::parse(text);
    if (json.at("document").get<std::string>() != "profile") refuse("it is another document");
    if (json.at("format_version").get<std::uint32_t>() != 1) refuse("it is of a later version");
    json.at("transport").get_to(profile.transport);
    json.at("direction").get_to(profile.direction);
    json.at("serial").get_to(profile.is_serial);
    json.at("ranks_per_host").get_to(profile.ranks_per_host);
    json.at("num_runs").get_to(profile.num_runs);
    for (const Json& one : json.at("classes").elements()) {
      ProfiledClass read;
      one.at("message_size_bytes").get_to(read.message_size_bytes);
      one.at("name").get_to(read.name);
      one.at("num_pairs").get_to(read.num_pairs);
      one.at("num_runs").get_to(read.num_runs);
      one.at("time_ns_median").get_to(read.time_ns_median);
      if (!one.at("scatter").is_null()) one.at("scatter").get_to(read.scatter);
      const bool is_time = std::isfinite(read.time_ns_median) && read.time_ns_median > 0;
      if (!is_time || !(read.scatter >= 0) || read.num_runs == 0) refuse("a class has a time that cannot be");
      profile.classes.push_back(std::move(read));
    }
  } catch (const JsonError& error) {
    refuse(error.what());
  }
  return profile;
}

}  // namespace leadline::result
