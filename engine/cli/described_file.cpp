// SPDX-License-Identifier: Apache-2.0
// The groups of result files that hold described structs.
#include "cli/described_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/bisection/hdf5_store.hpp"
#include "bench/io/hdf5_store.hpp"
#include "bench/link/fields.hpp"
#include "bench/topology/hdf5_store.hpp"
#include "result/hdf5/described_structs.hpp"

namespace leadline::result::hdf5 {
namespace {

template <typename Number>
std::string name_of_number() {
  const char* const kind = std::is_floating_point_v<Number> ? "float" : std::is_signed_v<Number> ? "int" : "uint";
  return fmt::format("{}{}", kind, 8 * sizeof(Number));
}

// What an attribute, or a list, is in a file.
std::string type_of(bool /*any*/) { return "int32"; }
std::string type_of(const std::string& /*any*/) { return "string"; }
std::string type_of(const std::vector<std::int32_t>& /*any*/) { return "int32 [list]"; }
template <std::size_t num_bytes>
std::string type_of(const Texts<num_bytes>& /*any*/) {
  return fmt::format("string[{}] [list]", num_bytes);
}
template <typename Number>
requires std::is_arithmetic_v<Number> std::string type_of(Number /*any*/) { return name_of_number<Number>(); }

template <typename Get>
Json described(const Field<Get>& field, const char* kind, const std::string& type) {
  return {{"name", field.name},
          {"kind", kind},
          {"type", type},
          {"unit", field.unit},
          {"meaning", field.meaning},
          {"in_all_files", field.since == Since::first_version}};
}

template <Described Struct>
Json facts(const char* group) {
  const Struct any;
  Json members = Json::array();
  for_each_field<Struct>([&](const auto& field) {
    const std::string type = type_of(std::invoke(field.get, any));
    members.push_back(described(field, type.ends_with("[list]") ? "dataset" : "attribute", type));
  });
  return {{"group", group}, {"members", members}};
}

/// `shape` names the dimensions of all tables; those of several numbers have one more.
template <Described Struct>
Json tables(const char* group, const std::string& shape, const std::vector<std::string>& left_out = {}) {
  Json members = Json::array();
  for_each_field<Struct>([&](const auto& field) {
    using Value = StoredValue<Struct, decltype(field.get)>;
    if constexpr (num_numbers < Value >> 0) {
      if (std::ranges::find(left_out, field.name) != left_out.end()) return;
      const std::string more = num_numbers < Value >> 1 ? fmt::format(",{}", num_numbers<Value>) : "";
      const std::string number = name_of_number<typename NumberOf<Value>::type>();
      members.push_back(described(field, "dataset", fmt::format("{} [{}{}]", number, shape, more)));
    }
  });
  return {{"group", group}, {"members", members}};
}

}  // namespace

Json described_groups() {
  return Json::array({
      tables<PairRecord>("repeats/0000", "S,N,N"),
      tables<bench::link::Retest>("retest", "R"),
      tables<bench::link::MeasuredAgain>("second_measurements", "Q"),
      facts<bench::link::LinkTestOrigin>("linktest"),
      facts<bench::topology::KeptTopology>("topologies/0000"),
      tables<bench::topology::CellRow>("topologies/0000", "R,S,N"),
      tables<bench::topology::LoadPoint>("load", std::to_string(bench::topology::max_load_points)),
      facts<bench::bisection::Header>("bisection"),
      tables<bench::bisection::RankTimes>("bisection", "S,N,M"),
      tables<bench::bisection::PatternSummary>("bisection/patterns", "S,M", bench::bisection::patterns_left_out),
      tables<bench::bisection::BaselineSample>("bisection/baseline", "S,B", bench::bisection::baseline_left_out),
      facts<bench::io::Header>("io"),
      tables<bench::io::RankPhase>("io/ranks", "P,N"),
  });
}

}  // namespace leadline::result::hdf5
