// SPDX-License-Identifier: Apache-2.0
// Only topologies whose arrivals tell about ranks are judged: all messages of a rank are under way at once.
#include "bench/topology/observed.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/random.hpp"
#include "result/file_kind.hpp"
#include "result/json_parts.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

JudgedMessages::JudgedMessages(std::uint64_t num_messages)
    : limit_(num_messages <= most ? std::numeric_limits<std::uint64_t>::max()
                                  : std::numeric_limits<std::uint64_t>::max() / num_messages * most) {}

bool JudgedMessages::has(std::uint32_t from, std::uint32_t to) const {
  const auto [low, high] = std::minmax(from, to);
  return mix64((std::uint64_t{low} << 32 | high) + splitmix64_increment) <= limit_;
}

namespace {

struct HowMeasured {
  std::string shape, mode;
  bool is_traced = true, is_limited = false;
};

std::string why_untested(const HowMeasured& how) {
  using schedule::Shape;
  if (how.mode != name_of(schedule::ChannelMode::both_ways)) {
    return "only where messages go both ways at once does none wait for another one";
  }
  for (const Shape shape : {Shape::star, Shape::ring, Shape::tree, Shape::halves, Shape::incast, Shape::outcast}) {
    if (how.shape == name_of(shape)) return "most of its ranks have fewer than 3 partners, or all the same ones";
  }
  if (how.is_limited) return "with --max-outstanding messages wait for their turn";
  return how.is_traced ? "" : "with --traced 0 no message is timed by itself";
}

}  // namespace

std::string why_untested(const TopologyRequest& request, const schedule::TopologySpec& topology) {
  return why_untested(
      {name_of(topology.shape), name_of(topology.mode), request.num_traced > 0, request.max_outstanding > 0});
}

std::string why_untested(const Header& header, std::size_t topology_index) {
  const KeptTopology& topology = header.topologies[topology_index];
  const std::string at_once = result::option_text(header, "max_outstanding");
  return why_untested({topology.shape, topology.mode, result::option_text(header, "traced") != "0",
                       !at_once.empty() && at_once != "0"});
}

diagnosis::ObservedSlice slice_of(const Header& header, std::size_t topology_index, std::size_t size_index) {
  diagnosis::ObservedSlice slice;
  slice.size_index = static_cast<int>(size_index);
  slice.message_size_bytes = header.message_sizes_bytes[size_index];
  slice.pattern = header.topologies[topology_index].name;
  slice.is_exchange_of_all = true;
  return slice;
}

void add_pairs_alone(std::span<const PairAlone> pairs, std::size_t topology_index, diagnosis::ObservedSlice& slice) {
  for (const PairAlone& one : pairs) {
    const bool is_of_slice =
        one.topology_index == static_cast<int>(topology_index) && one.size_index == slice.size_index;
    if (!is_of_slice) continue;
    (one.is_suspected ? slice.retested : slice.alone)
        .push_back({static_cast<std::uint32_t>(one.from), static_cast<std::uint32_t>(one.to), one.time_ns});
  }
}

namespace {

/// Of the summary, where there is one; earlier versions measured none.
std::vector<PairAlone> pairs_alone_of(const Header& header, const std::string& path) {
  std::vector<PairAlone> pairs;
  result::read_summary(header.summary, path, "a topology test", [&](const Json& summary) {
    const Json* const list = summary.find("pairs_alone");
    if (list == nullptr) return;
    for (const Json& one : list->elements()) {
      PairAlone& pair = pairs.emplace_back();
      result::read_json(one, pair);
      const bool are_ranks = pair.from >= 0 && pair.from < header.num_ranks && pair.to >= 0 &&
                             pair.to < header.num_ranks && pair.from != pair.to;
      if (!are_ranks) result::throw_damaged(path, "/summary has a rank that does not exist");
      if (!(pair.time_ns > 0)) pairs.pop_back();
    }
  });
  return pairs;
}

}  // namespace

std::optional<DiagnosedSlice> diagnosed(const Hdf5Reader& reader, std::size_t topology_index, std::size_t size_index,
                                        const diagnosis::Layout& layout, const DiagnosisSettings& settings) {
  const Header& header = reader.header();
  diagnosis::ObservedSlice slice = slice_of(header, topology_index, size_index);
  if (std::string why = why_untested(header, topology_index); !why.empty()) {
    return diagnosis::untested(slice, layout, settings, std::move(why));
  }
  const JudgedMessages judged(2 * static_cast<std::uint64_t>(header.topologies[topology_index].num_channels));
  const std::int32_t num_repeats = std::min(header.num_repeats, most_judged_repeats);
  reader.visit_arrivals(topology_index, size_index, num_repeats, [&](std::span<const Arrival> of_some_ranks) {
    std::vector<diagnosis::Observation> observed;
    for (const Arrival& one : of_some_ranks) {
      if (judged.has(one.from, one.to)) observed.push_back({one.from, one.to, one.time_ns});
    }
    observed = diagnosis::joined_by_pair(std::move(observed));
    slice.observations.insert(slice.observations.end(), observed.begin(), observed.end());
  });
  if (slice.observations.empty()) return std::nullopt;
  add_pairs_alone(pairs_alone_of(header, reader.path()), topology_index, slice);
  return diagnosis::diagnosed(slice, layout, settings);
}

}  // namespace leadline::bench::topology
