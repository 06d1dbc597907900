// SPDX-License-Identifier: Apache-2.0
// The keys of a site profile, and the checks of one that is read.
#include "result/profile_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "core/error.hpp"

namespace leadline {

template <>
inline constexpr auto fields<ProfiledClass> = std::tuple{
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

template <>
inline constexpr auto fields<Profile> = std::tuple{
    field(
        "document", [](const Profile& /*any*/) { return result::Constant<"profile">(); }, "", "which document this is"),
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

namespace result {

template <>
inline constexpr const char* about<Profile> =
    "What leadline profile writes: what pairs of each class take in good runs of a site.";
template <>
inline constexpr const char* about<ProfiledClass> = "Pairs of one class and message size.";

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

}  // namespace result
}  // namespace leadline
