// SPDX-License-Identifier: Apache-2.0
// The rank layout as a diagnosis needs it: hosts, sockets, slots, switches; and the class of each pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "network/network.hpp"
#include "network/path_shares.hpp"
#include "network/routes.hpp"

namespace leadline::diagnosis {

/// Ranks by number. Names serve messages only and may be missing.
struct Layout {
  std::vector<std::uint32_t> host_of;                     ///< by rank, hosts numbered by first appearance
  std::vector<std::string> host_names;                    ///< by host
  std::vector<std::int32_t> socket_of;                    ///< by rank: NUMA node, -1 = unknown; empty = unknown for all
  std::vector<std::string> adapter_of;                    ///< by rank, for messages only; empty = unknown, also for all
  bool are_sockets_learnt = false;                        ///< from the times; they are then numbered on their host
  std::vector<std::uint32_t> rank_numbers, host_numbers;  ///< their numbers outside of this layout; empty = the same
  network::Network network;  ///< of these hosts in this order; no levels and no hops: unknown
  network::Routes routes{};  ///< of these hosts in this order; no parts: unknown
};

std::size_t num_ranks(const Layout& layout);

/// The number of a rank or host outside of this layout.
std::int32_t rank_number(const Layout& layout, std::int32_t rank);
std::int32_t host_number(const Layout& layout, std::int32_t host);

/// What belongs to groups: the ranks of hosts, the hosts or ranks below switches.
struct Members {
  std::vector<std::uint32_t> begin;    ///< by group, one more at the end
  std::vector<std::uint32_t> members;  ///< group after group, ascending within
  std::vector<std::uint32_t> slot_of;  ///< by member: its index within its group

  std::span<const std::uint32_t> of(std::uint32_t group) const {
    return std::span(members).subspan(begin[group], begin[group + 1] - begin[group]);
  }
  std::uint32_t num_groups() const { return static_cast<std::uint32_t>(begin.size() - 1); }
};

/// `group_of`: the group of each member, from 0.
Members members_of(std::span<const std::uint32_t> group_of);

/// By rank: its group of a level of the network.
std::vector<std::uint32_t> groups_of_ranks(const Layout& layout, std::size_t level);

/// Classes of pairs: equal distances. 0 and 1 are inside a host, from `first_between` on between hosts, nearer ones
/// first. At most `most_classes`; distances beyond count as one.
class PairClasses {
 public:
  static constexpr std::size_t inside_socket = 0, inside_host = 1, first_between = 2, most_classes = 8;

  /// `layout` outlives it.
  explicit PairClasses(const Layout& layout);

  std::size_t size() const { return num_; }
  std::size_t num_hosts() const { return num_hosts_; }
  std::size_t num_between() const { return num_ - first_between; }
  static bool is_inside(std::size_t pair_class) { return pair_class < first_between; }
  std::uint8_t of(std::uint32_t from, std::uint32_t to) const;

  /// The class of every pair of a rank, itself included (as inside its socket). `classes` has an element for every
  /// rank.
  void of_row(std::uint32_t from, std::span<std::uint8_t> classes) const;

  /// The classes of some pairs of a rank, one for each partner.
  void of_partners(std::uint32_t from, std::span<const std::uint32_t> partners, std::span<std::uint8_t> classes) const;

  std::string name(std::size_t pair_class) const;

  /// By rank.
  struct Parts {
    std::vector<std::uint32_t> of_sender, of_receiver;
  };

  /// Of a class between hosts: senders that have only receivers of the same part. All are 0 where the class connects
  /// everybody.
  Parts parts_of(std::size_t pair_class) const;

  /// Whether the network is known and no tree: no cable belongs to a group of hosts alone.
  bool is_without_levels() const { return !layout_.network.hops.empty(); }

  /// Whether pairs of this class leave the groups of a level.
  bool crosses(std::size_t pair_class, std::size_t level) const;

 private:
  std::uint8_t between(std::uint32_t host, std::uint32_t other) const;

  const Layout& layout_;
  std::size_t num_, num_hosts_;
  bool knows_sockets_;
};

/// A layout with what follows from it.
struct Setting {
  explicit Setting(const Layout& of_layout);

  /// Then rank and host are one, and so are a link and a pair.
  bool has_one_rank_a_host() const { return hosts.num_groups() == num_ranks(layout); }

  const Layout& layout;
  PairClasses classes;
  Members hosts;
  std::shared_ptr<const network::PathShares> paths;  ///< of a network with hops between not too many switches
  bool are_times = true;        ///< what is judged: not ratios, whose sizes say nothing of processors and switches
  bool has_many_loads = false;  ///< of each pair one value stands for many, each beside other flows
  bool has_second = false;      ///< pairs are, or were, measured again: a suspect may be confirmed
};

}  // namespace leadline::diagnosis
