// SPDX-License-Identifier: Apache-2.0
// Learns a site profile from runs, and judges a run by it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// A class that reaches less than this share of the profile's speed is too slow.
inline constexpr double least_share_of_profile = 0.8;

/// How notes about what the profile says nothing of begin.
inline constexpr const char* not_comparable = "not comparable with the site profile";

/// What a run is judged by, and where it was read; without a path by nothing.
struct SiteProfile {
  std::string path;
  Profile profile;
  Profile conditions;  ///< of the run
};

/// Without classes: what must be the same for times to be comparable.
Profile conditions_of(std::string transport, std::string direction, bool is_serial, const Layout& layout);

/// What the classes of this layout take, without pairs left out; and all pairs between hosts together, where these are
/// several classes: for runs and profiles that know nothing of the network. The rows are ln ns.
std::vector<ProfiledClass> class_times(const Rows& rows, const Layout& layout, std::uint64_t message_size_bytes);

/// In what two of them differ so that their times are not comparable: "transport tcp and mpi"; empty = in nothing.
std::string difference(const Profile& one, const Profile& other);

/// One profile of several whose difference() is empty; at least one.
Profile joined(std::span<const Profile> runs);

/// A run beside earlier ones: 95 % of such runs have a ratio of `low` to `high` by the scatter of those (Student's t,
/// so many runs less one degrees of freedom), about the ratio of this one; and the probability that one differs so
/// much.
struct BesideRuns {
  double ratio = 1, low = 1, high = 1, p_value = 1;
};

/// `scatter`: standard deviation over the runs of the logarithm. Of one run nothing is known: p_value is 0.
BesideRuns beside_runs(double ratio, double scatter, std::uint64_t num_runs);

/// The standard deviation of a sample; 0 below two values.
double scatter_of(std::span<const double> logarithms);

/// Classes of a run that the profile has: before = the profile, after = the run; of the classes between hosts all of
/// them together where the profile lacks one. The interval is what a single run may show by the scatter of the
/// profile's runs (95 %, Student's t); with one run it is the ratio itself. Notes say what could not be judged.
std::vector<ComparedClass> judged_by(const Profile& profile, std::span<const ProfiledClass> run,
                                     std::vector<std::string>& notes);

/// Why nothing of a run with these message sizes can be judged by it; empty = something can.
std::string why_unfit(const SiteProfile& site, std::span<const std::uint64_t> message_sizes_bytes);

/// Collective as the rows (ln ns) are: adds to what was found in them what the site profile says of their classes.
void judge_by(const SiteProfile& site, const Rows& rows, const Layout& layout, std::uint64_t message_size_bytes,
              Diagnosis& found);

}  // namespace leadline::diagnosis
