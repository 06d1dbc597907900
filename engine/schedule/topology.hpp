// SPDX-License-Identifier: Apache-2.0
// Topologies as data: which ranks share a channel, and which way its messages go. Computed alike by every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/named.hpp"

namespace leadline::schedule {

/// A channel is an unordered pair of ranks, its `first` rank being the one that starts. How its messages go:
enum class ChannelMode : std::uint8_t {
  answered,   ///< the first sends; the second answers as soon as that message is there
  phased,     ///< all channels carry their message from first to second; when a rank has all of its own, back
  both_ways,  ///< both ends send at once
  one_way,    ///< the first sends, and nothing comes back
};

const char* name_of(ChannelMode mode);
std::span<const Named<ChannelMode>> names_of(ChannelMode any);

/// How many messages a channel carries in one exchange: 1 one way, otherwise 2.
int num_ways(ChannelMode mode);

enum class Shape : std::uint8_t { star, complete, ring, torus, hypercube, tree, halves, incast, outcast, edges };

const char* name_of(Shape shape);
std::span<const Named<Shape>> names_of(Shape any);

struct Edge {
  std::int32_t first = 0, second = 0;
  bool operator==(const Edge&) const = default;
};

/// Everything that decides a topology but the number of ranks. Members that a shape has no use for are left alone.
struct TopologySpec {
  std::string name;  ///< as asked for: "star2", "torus:4x4", "star:3"
  Shape shape = Shape::complete;
  ChannelMode mode = ChannelMode::both_ways;
  std::int32_t centre = 0;              ///< star
  std::vector<std::int32_t> extents{};  ///< torus; zeros are chosen, as even as the number of ranks allows
  std::int32_t num_hot = 1;             ///< incast, outcast
  std::vector<Edge> edges{};            ///< edges
};

/// One rank's end of a channel.
struct Channel {
  std::int32_t partner = 0;
  bool starts = false;  ///< this rank is the channel's first
  bool operator==(const Channel&) const = default;
};

/// A topology over P ranks. Rank i's channels, in the order in which it posts them:
///
/// - star: i with the centre, which starts; the centre with 0, 1, 2 ...
/// - complete: all others, ascending; the lower rank starts.
/// - ring: i + 1, with which i starts; then i - 1, round the end. 2 ranks have two channels: each starts one.
/// - torus: per dimension as in a ring (an extent of 2 gives two channels, of 1 none); the first extent varies fastest.
/// - hypercube: i with one bit flipped, lowest bit first; the rank without the bit starts.
/// - tree: binary, rank 0 the root. The parent (i - 1) / 2, then the children; the parent starts.
/// - halves: i with i + P / 2. The lower half starts; the last of an odd number of ranks rests.
/// - incast: each of the ranks num_hot .. P - 1 with each hot rank 0 .. num_hot - 1, ascending; the former start.
/// - outcast: the same, but the hot ranks start.
/// - edges: a rank's own in the order of the list.
///
/// Two channels between the same ranks stand in the same order on both: first the one that the lower rank starts.
class Topology {
 public:
  /// Throws Error(bad_command_line) that names spec.name, where the ranks cannot form it: without any channel (one
  /// rank, no edge), a centre or edge that does not exist, extents that are not those of so many ranks, a hypercube of
  /// another number than a power of two, no hot rank or as many as there are ranks, an edge from a rank to itself, an
  /// edge that stands twice (in whichever direction).
  Topology(TopologySpec spec, int num_ranks);

  const TopologySpec& spec() const { return spec_; }  ///< extents are all chosen
  int num_ranks() const { return num_ranks_; }

  std::int64_t num_channels() const;  ///< N: every channel once
  std::int32_t num_channels(int rank) const;
  std::vector<std::int32_t> num_channels_by_rank() const;  ///< of all, in less time than one after the other
  std::int32_t max_channels() const;                       ///< of the busiest rank; the centre's in a star

  /// O(own channels); edges O(all).
  std::vector<Channel> channels(int rank) const;

 private:
  TopologySpec spec_;
  int num_ranks_;
};

/// Extents of a grid of so many ranks, as even as can be, largest first: 12 in 2 dimensions are 4 x 3. Those of
/// `wanted` that are not 0 stay. Throws Error(bad_command_line) where they do not divide num_ranks.
std::vector<std::int32_t> grid_extents(int num_ranks, const std::vector<std::int32_t>& wanted);

/// By which of two edges a rank with room for few channels serves first: the round of the all-pairs tournament in which
/// the two meet (0-based). Every rank has all its partners in different rounds, and all ranks agree on the order, so
/// that ranks which serve their channels in this order never wait for each other in a circle.
std::int64_t meeting_round(int num_ranks, int one, int other);

/// Throws Error(bad_command_line) that names spec.name, as the constructor of Topology promises.
void check_fit(const TopologySpec& spec, int num_ranks);

}  // namespace leadline::schedule
