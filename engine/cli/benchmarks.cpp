// SPDX-License-Identifier: Apache-2.0
// The table of benchmarks, and the groups of their files that hold described structs.
#include "cli/benchmarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/bisection/command.hpp"
#include "bench/bisection/hdf5_store.hpp"
#include "bench/bisection/json.hpp"
#include "bench/bisection/text.hpp"
#include "bench/collective/command.hpp"
#include "bench/collective/hdf5_store.hpp"
#include "bench/collective/json.hpp"
#include "bench/collective/text.hpp"
#include "bench/congestion/command.hpp"
#include "bench/congestion/hdf5_store.hpp"
#include "bench/congestion/json.hpp"
#include "bench/congestion/text.hpp"
#include "bench/io/command.hpp"
#include "bench/io/hdf5_store.hpp"
#include "bench/io/json.hpp"
#include "bench/io/text.hpp"
#include "bench/link/command.hpp"
#include "bench/link/fields.hpp"
#include "bench/link/json.hpp"
#include "bench/link/text.hpp"
#include "bench/topology/command.hpp"
#include "bench/topology/hdf5_store.hpp"
#include "bench/topology/json.hpp"
#include "bench/topology/text.hpp"
#include "result/hdf5/described_structs.hpp"

namespace leadline::cli {
namespace {

using result::hdf5::num_numbers;
using result::hdf5::NumberOf;
using result::hdf5::StoredValue;

template <class Reader>
output::ResultInfo info_of_file(const std::string& path) {
  return info_of(Reader(path));
}

constexpr Benchmark all_benchmarks[] = {
    {"link", "measure the link between every two ranks", bench::link::link_command, "the result of leadline link",
     bench::link::schema,
     [](const std::string& path) { return bench::link::info_of(*bench::link::ResultReader::open(path)); }, nullptr},
    {"topology", "measure exchanges of many ranks at once: star, all with all, ring and others",
     bench::topology::topology_command, "that of leadline topology", bench::topology::schema,
     info_of_file<bench::topology::Hdf5Reader>, bench::topology::numbers_of},
    {"bisection", "measure random pairs of all ranks at once: effective bisection bandwidth",
     bench::bisection::bisection_command, "that of leadline bisection", bench::bisection::schema,
     info_of_file<bench::bisection::Hdf5Reader>, bench::bisection::numbers_of},
    {"congestion", "measure what load does to the latency and bandwidth of others",
     bench::congestion::congestion_command, "that of leadline congestion", bench::congestion::schema,
     info_of_file<bench::congestion::Hdf5Reader>, bench::congestion::numbers_of},
    {"collective", "measure collective operations: allreduce, allgather, reduce-scatter, alltoall",
     bench::collective::collective_command, "that of leadline collective", bench::collective::schema,
     info_of_file<bench::collective::Hdf5Reader>, bench::collective::numbers_of},
    {"io", "write and read files by all ranks at once, and check every byte", bench::io::io_command,
     "that of leadline io", bench::io::schema, info_of_file<bench::io::Hdf5Reader>, bench::io::numbers_of},
};

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
std::string type_of(const result::hdf5::Texts<num_bytes>& /*any*/) {
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

std::span<const Benchmark> benchmarks() { return all_benchmarks; }

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
      facts<bench::congestion::Header>("congestion"),
      tables<bench::congestion::RoundNumbers>("congestion/rounds", "C,T,R"),
      tables<bench::congestion::LoadNumbers>("congestion/load", "C,R"),
      tables<bench::congestion::VictimNumbers>("congestion/victim_times", "C,T,V"),
      tables<bench::congestion::Distribution>("congestion/distribution", "C,T"),
      facts<bench::collective::Header>("collective"),
      tables<bench::collective::GroupTime>("collective/groups", "R,O,S,G,B"),
      tables<bench::collective::RankTimes>("collective/ranks", "R,O,S,N"),
      tables<bench::collective::Membership>("collective/membership", "R,N"),
      facts<bench::io::Header>("io"),
      tables<bench::io::RankPhase>("io/ranks", "P,N"),
  });
}

}  // namespace leadline::cli
