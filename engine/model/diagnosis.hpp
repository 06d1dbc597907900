// SPDX-License-Identifier: Apache-2.0
// What a diagnosis says: which components are at fault, by how much, how sure, and on what evidence; what a comparison
// of two results says; and a site profile. Definitions: docs/metrics.md, "Diagnosis", "Site profile" and "Comparison".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"

namespace leadline {

/// The kinds of component that can be at fault, the larger ones first.
enum class ComponentKind : std::uint8_t {
  network_switch,  ///< pairs of all ranks below it, also with each other
  uplink,          ///< only pairs that leave what is below it
  cable,           ///< pairs between two switches
  rail,            ///< the same slot of (nearly) all hosts
  host,            ///< pairs of all its ranks, inside it too
  port,            ///< pairs of all its ranks with other hosts, not those inside: adapter, cable, port of the switch
  inside,          ///< only pairs inside it
  socket,          ///< pairs with other hosts of the ranks on one socket of a host
  rank,            ///< pairs of one rank
  link,            ///< pairs between two hosts
  pair,            ///< two ranks
  target,          ///< of a file test: what some of its files lie on
};

enum class Symptom : std::uint8_t {
  slow,      ///< its medians are long
  unsteady,  ///< its means are long, its medians are not: now and then a message takes very long
};

/// Which way messages are concerned. Of components: sent, received. Of two ends: from the first to the second, or back.
enum class FaultDirection : std::uint8_t { both, out, in };

/// What the retest shows of a component.
enum class Persistence : std::uint8_t {
  not_retested,
  persistent,       ///< also alone
  only_under_load,  ///< alone as fast as others; slow again under load
  transient,        ///< as fast as others, and nothing brings it back
};

/// A component (host, port, link, switch ...) by its number; which numbers count follows from the kind.
struct Component {
  ComponentKind kind = ComponentKind::host;
  std::int32_t level = -1;  ///< of network_switch, uplink, cable: 0 = the level next to the hosts
  std::int32_t first = -1,
               second = -1;  ///< group, slot, host, rank or target; `second` of cable, link, pair: other end
  std::int32_t socket = -1;  ///< of socket: NUMA node
  bool operator==(const Component&) const = default;
};

/// Whether it is a cable or a switch that forwarding tables tell: `first` is its number among network::Routes::parts.
inline bool is_of_routes(const Component& component) {
  return component.level < 0 && component.first >= 0 &&
         (component.kind == ComponentKind::network_switch || component.kind == ComponentKind::cable);
}

/// An ordered pair of ranks that shows a fault: its median time in ns, or where the component is unsteady its mean over
/// its median.
struct ShownPair {
  std::int32_t from = -1, to = -1;
  double measured = 0;
  double expected = 0;  ///< without the fault
};

/// What a host, rank, target or uplink shows in the phases of a file test.
struct PhaseEvidence {
  std::string operation;                          ///< "write", "read"; others count operations in place of bytes
  std::uint64_t num_phases = 0, num_slow = 0;     ///< that were judged; those in which it is slow
  double bytes_per_s = 0, usual_bytes_per_s = 0;  ///< of one of its ranks, while it is in calls; without the fault
  std::string where;                              ///< "on all its 3 targets", "from all 4 hosts that use it"
};

/// A component that is worse than others of its kind, as a person reads it.
struct Fault {
  Component component;
  Symptom symptom = Symptom::slow;
  FaultDirection direction = FaultDirection::both;
  std::string name;                              ///< "host node3", "the link node1 - node4"
  std::vector<std::int32_t> hosts, other_hosts;  ///< below a switch, an uplink, the two ends of a cable; else empty
  /// Of all kinds but those of all hosts: the hosts concerned, and of two ends those of the other one.
  std::vector<std::string> host_names, other_host_names;
  std::vector<std::int32_t> ranks, other_ranks;  ///< likewise; none where it is below a switch
  std::string switch_name, other_switch_name;    ///< of switch, uplink and cable
  std::string target_name;                       ///< of target
  std::vector<std::string> adapters;             ///< of port and rail: names of its ranks' adapters, where known
  double time_share = 0;  ///< of the time of all measured pairs, or of the phases, that it costs; 0 = unknown
  double ratio = 1;       ///< time over what is expected without the fault (unsteady: of mean over median)
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval
  double p_value = 1;                    ///< that a sound component shows so much
  double share = 1;                      ///< of its pairs that are slow; less than 1: one of several parallel cables
  std::uint64_t num_pairs = 0;           ///< ordered pairs that belong to it and were measured
  std::vector<ShownPair> pairs;          ///< some of them, at most eight
  std::vector<std::string> ruled_out;    ///< "not the switch: the other 31 hosts on leaf3 are as usual"
  std::string advice;
  Persistence persistence = Persistence::not_retested;
  double ratio_alone = 0, ratio_concurrent = 0;  ///< what the retests gave; 0 = none
  bool is_unproven = false;                      ///< it may be chance, and was not measured again
  std::optional<PhaseEvidence> phases;           ///< of a file test; then it has no pairs
  bool is_note = false;  ///< how the machine is built rather than a fault (the adapter is nearer to one socket)
};

/// What pairs of one kind take.
struct DiagnosedClass {
  std::string name;             ///< "same socket", "between hosts", "same leaf switch"
  std::uint64_t num_pairs = 0;  ///< ordered, measured
  double time_ns_median = 0;
  double error = 0;   ///< standard error of the logarithm of that median, hosts counting as one each
  double spread = 0;  ///< of the logarithm of the pairs' times around what their ends explain (1.48 MAD)
};

enum class Change : std::uint8_t { none, slower, faster };

/// All pairs of one class that both results have.
struct ComparedClass {
  std::string name;
  std::uint64_t num_pairs = 0;           ///< ordered
  double before_ns = 0, after_ns = 0;    ///< medians of the pairs' times
  double ratio = 1;                      ///< median over the pairs of after over before
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval, pairs of one host counting as one
  Change change = Change::none;          ///< beyond the threshold, and the interval leaves 1 out
};

/// What pairs between hosts reach alone of what their adapters carry; medians.
struct LineRateShare {
  std::string adapter;                ///< "eth0, 10 Gb/s"
  double line_rate_bytes_per_s = 0;   ///< one way
  double bytes_per_s = 0, share = 0;  ///< of one pair
  std::uint64_t num_pairs = 0;        ///< ordered, chosen by chance and measured alone
};

struct DiagnosisSettings {
  double threshold = 0.10;             ///< the least share of time that a finding costs
  double false_discovery_rate = 0.01;  ///< of the findings of each kind of component
};

/// Everything that was found out about one matrix.
struct Diagnosis {
  DiagnosisSettings settings;
  std::string topology;                           ///< where the network comes from; empty = nothing is known of it
  std::string untested;                           ///< why nobody could be judged; empty = somebody was
  std::uint64_t num_pairs = 0, num_measured = 0;  ///< ordered pairs of the ranks that take part; those with a time
  std::uint64_t num_phases = 0;  ///< of a file test, that were judged; pairs are then a rank in a phase each
  std::vector<DiagnosedClass> classes;
  std::vector<Fault> faults;               ///< the gravest first
  std::optional<LineRateShare> line_rate;  ///< where it is known and large messages were measured
  std::vector<ComparedClass> profile;      ///< classes beside the site profile (before); empty without one
  std::vector<std::string> notes;          ///< what could not be determined, and why
};

/// What is said of one message size: of a repeat of the link test, of the random patterns of the bisection test, of a
/// topology over all repeats, of all phases of an operation of a file test.
struct DiagnosedSlice {
  int repeat = 0;      ///< 0-based
  int size_index = 0;  ///< into the request's message sizes
  std::uint64_t message_size_bytes = 0;
  std::string pattern;  ///< "random", the topology's name, or "write" and "read"; empty: the link test
  Diagnosis diagnosis;
};

/// The lists that findings are told in.
enum class FindingList : std::uint8_t {
  persistent,       ///< needs action: also there alone, or what many pairs have in common
  only_under_load,  ///< appears where other pairs are measured at the same time
  passed,           ///< did not appear again
  untested,         ///< too few pairs, or they scatter too much (the interval contains 1), or not measured again
  note,             ///< how the machine is built
};

FindingList list_of(const Fault& fault);

/// Whether a fault needs action; the other lists make no run and no diagnosis end with status 1.
inline bool counts(const Fault& fault) { return list_of(fault) == FindingList::persistent; }

/// Classes that are slower than the site profile says.
std::size_t num_slower_than_profile(const Diagnosis& diagnosis);
/// What needs action: faults that count, and these classes.
std::size_t num_counting(const Diagnosis& diagnosis);

const char* name_of(ComponentKind kind);
std::span<const Named<ComponentKind>> names_of(ComponentKind any);
const char* name_of(Symptom symptom);
std::span<const Named<Symptom>> names_of(Symptom any);
const char* name_of(FaultDirection direction);
std::span<const Named<FaultDirection>> names_of(FaultDirection any);
const char* name_of(Persistence persistence);
const char* name_of(FindingList list);
std::span<const Named<FindingList>> names_of(FindingList any);
std::span<const Named<Persistence>> names_of(Persistence any);

/// One message size of two results.
struct Comparison {
  DiagnosisSettings settings;
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_pairs = 0;  ///< ordered pairs that both have
  std::vector<ComparedClass> classes;
  std::vector<Fault> slower, faster;  ///< components that changed by more or less than their class; ratio: after over
                                      ///< before, beyond the class
  std::vector<std::string> notes;     ///< what could not be compared, and why
};

/// Whether anything became slower.
bool is_worse(const Comparison& comparison);

enum class NumberUnit : std::uint8_t {
  ns,
  bytes_per_s,
  per_s,  ///< operations on files as a whole
  share,  ///< a time over that of the median part of the run
};

/// A number of a run of any benchmark but the link test, beside earlier runs.
struct ComparedNumber {
  std::string name;                      ///< "eBB", "exchange, ring", "write"
  std::uint64_t message_size_bytes = 0;  ///< 0 = none
  std::string part;                      ///< a host or a storage target; empty = of the whole run
  NumberUnit unit = NumberUnit::ns;
  std::uint64_t num_runs = 0;            ///< earlier ones that have it
  double before = 0, after = 0;          ///< before: their median
  double ratio = 1;                      ///< after over before
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval; of one earlier run the ratio itself where nothing is known
  Change change = Change::none;          ///< beyond threshold and chance
};

/// A run of any benchmark but the link test beside earlier ones.
struct ComparedRuns {
  DiagnosisSettings settings;
  std::vector<ComparedNumber> numbers;
  std::vector<std::string> notes;
};

/// Whether more is better.
constexpr bool is_rate(NumberUnit unit) { return unit == NumberUnit::bytes_per_s || unit == NumberUnit::per_s; }

bool has_slower(const ComparedRuns& compared);

const char* name_of(NumberUnit unit);
std::span<const Named<NumberUnit>> names_of(NumberUnit any);
const char* name_of(Change change);
std::span<const Named<Change>> names_of(Change any);

/// Pairs of one class and message size, over all runs of a profile.
struct ProfiledClass {
  std::uint64_t message_size_bytes = 0;
  std::string name;             ///< "same socket", "between hosts", as a diagnosis names it without learnt groups
  std::uint64_t num_pairs = 0;  ///< ordered, measured, of the run that has most
  std::uint64_t num_runs = 0;   ///< that have such pairs
  double time_ns_median = 0;    ///< median over the runs of the median of the pairs
  double scatter = 0;           ///< standard deviation over the runs of the logarithm of that median; 0 = one run only
};

/// Of one run: what its pairs took, without scatter.
struct Profile {
  // Times are comparable only where these are the same.
  std::string transport, direction;
  bool is_serial = false;
  std::uint64_t ranks_per_host = 0;  ///< of the host that has most

  std::uint64_t num_runs = 0;
  std::vector<ProfiledClass> classes;
};

}  // namespace leadline
