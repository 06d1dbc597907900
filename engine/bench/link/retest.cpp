// SPDX-License-Identifier: Apache-2.0
// Measures the slowest pairs and the suspects of a diagnosis again.
#include "bench/link/retest.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/link/tally.hpp"
#include "core/clock.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/line_rate.hpp"
#include "diagnosis/rows.hpp"
#include "stats/slowest.hpp"

namespace leadline::bench::link {
namespace {

std::string packed(const stats::Slowest& slowest) {
  const std::vector<stats::TimedPair> pairs = slowest.sorted();
  std::string text(pairs.size() * sizeof(stats::TimedPair), '\0');
  if (!pairs.empty()) std::memcpy(text.data(), pairs.data(), text.size());
  return text;
}

std::vector<stats::TimedPair> unpacked(std::string_view text) {
  std::vector<stats::TimedPair> pairs(text.size() / sizeof(stats::TimedPair));
  if (!pairs.empty()) std::memcpy(pairs.data(), text.data(), text.size());
  return pairs;
}

stats::Slowest own_slowest(std::uint32_t rank, const PairRow& row, std::size_t count) {
  stats::Slowest slowest(count);
  for (std::uint32_t partner = 0; partner < row.size(); ++partner) {
    if (row[&PairRecord::count][partner] != 0) slowest.add({rank, partner, row[&PairRecord::time_ns_median][partner]});
  }
  return slowest;
}

/// The partner of a rank while two others are measured under load: of all ranks but these two, neighbours in order.
std::optional<schedule::Pairing> concurrent_partner(int rank, int from, int to, int num_ranks) {
  const int num_before = (from < rank ? 1 : 0) + (to < rank ? 1 : 0);
  const int place = rank - num_before, partner_place = place % 2 == 0 ? place + 1 : place - 1;
  if (partner_place >= num_ranks - 2) return std::nullopt;
  int partner = partner_place;
  for (const int taken : {std::min(from, to), std::max(from, to)}) partner += taken <= partner ? 1 : 0;
  return schedule::Pairing{partner, place % 2 == 0};
}

/// Of a median, or of mean over median; NaN where nothing was measured.
double logarithm_of(const PairRow& row, std::size_t partner, Symptom symptom) {
  const double median = row[&PairRecord::time_ns_median][partner];
  if (row[&PairRecord::count][partner] == 0 || !(median > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::log(symptom == Symptom::slow ? median : row[&PairRecord::time_ns_mean][partner] / median);
}

/// One row here, the others in the other ranks.
class OwnRow final : public diagnosis::Rows {
 public:
  OwnRow(cluster::Cluster& cluster, const PairRow& row, std::span<const std::int32_t> rounds, Symptom symptom)
      : cluster_(cluster), values_(row.size()) {
    std::ranges::transform(rounds, std::back_inserter(rounds_), diagnosis::round_code);
    for (std::size_t partner = 0; partner < values_.size(); ++partner) {
      // In steps, as rows of a file are kept: a run and a diagnosis of its file say the same.
      const double logarithm = logarithm_of(row, partner, symptom);
      values_[partner] = diagnosis::LogCode::value(diagnosis::LogCode::of(logarithm));
    }
  }

  std::uint32_t num_ranks() const override { return static_cast<std::uint32_t>(values_.size()); }
  std::size_t num_workers() const override { return 1; }
  bool is_whole() const override { return cluster_.size() == 1; }

  void visit(const std::function<void(std::size_t worker, const diagnosis::Row& row)>& look) const override {
    look(0, {static_cast<std::uint32_t>(cluster_.rank()), {}, values_, rounds_});
    cluster_.progress_counter().advance();
  }

  std::string all_reduce(
      std::string own,
      const std::function<std::string(std::string left, std::string_view right)>& combine) const override {
    std::string sum = cluster_.all_reduce(std::move(own), combine);
    cluster_.progress_counter().advance();
    return sum;
  }

 private:
  cluster::Cluster& cluster_;
  std::vector<float> values_;
  std::vector<std::uint16_t> rounds_;
};

/// A diagnosis combines what ranks find in their rows some 200 times. Up to so many ranks it takes less time if each of
/// them judges all rows by itself.
constexpr int most_ranks_with_all_rows = 32;

/// The rows of all ranks, in each of them.
class RowsOfAll {
 public:
  /// Collective.
  RowsOfAll(cluster::Cluster& cluster, const PairRow& row, std::span<const std::int32_t> rounds)
      : slow_(static_cast<std::uint32_t>(row.size()), 1), unsteady_(static_cast<std::uint32_t>(row.size()), 1) {
    struct Told {
      double slow = 0, unsteady = 0;
      std::uint32_t from = 0, to = 0;
      std::int32_t round = 0;
    };
    const std::size_t num = row.size();
    std::vector<Told> own;
    for (std::uint32_t to = 0; to < num; ++to) {
      own.push_back({logarithm_of(row, to, Symptom::slow), logarithm_of(row, to, Symptom::unsteady),
                     static_cast<std::uint32_t>(cluster.rank()), to, rounds.empty() ? 0 : rounds[to]});
    }
    const std::string all =
        cluster.all_reduce(diagnosis::bytes_of(std::span<const Told>(own)),
                           [](std::string left, std::string_view right) { return left.append(right); });
    std::vector<double> slow(num * num, std::numeric_limits<double>::quiet_NaN()), unsteady = slow;
    std::vector<std::int32_t> round(num * num, 0);
    for (const Told& one : diagnosis::entries_of<Told>(all)) {
      const std::size_t at = one.from * num + one.to;
      slow[at] = one.slow, unsteady[at] = one.unsteady, round[at] = one.round;
    }
    for (std::uint32_t from = 0; from < num; ++from) {
      slow_.set(from, std::span(slow).subspan(from * num, num));
      unsteady_.set(from, std::span(unsteady).subspan(from * num, num));
      if (rounds.empty()) continue;
      for (diagnosis::DenseRows* const rows : {&slow_, &unsteady_}) {
        rows->set_rounds(from, std::span(round).subspan(from * num, num));
      }
    }
  }

  const diagnosis::Rows& of(Symptom symptom) const { return symptom == Symptom::slow ? slow_ : unsteady_; }

 private:
  diagnosis::DenseRows slow_, unsteady_;
};

/// Pairs by chance that are measured again whatever time is left; those before the suspects; and then, one behind so
/// many of these.
constexpr std::size_t fewest_by_chance = 6, by_chance_before = 8, suspects_by_one_by_chance = 2;

/// Takes the one out whose hosts the suspected pairs have least: what disturbs the machine shows in it, and what is
/// suspected does not.
std::optional<diagnosis::OrderedPair> take_with_fewest_in_common(std::vector<diagnosis::OrderedPair>& by_chance,
                                                                 std::span<const diagnosis::OrderedPair> suspected,
                                                                 std::span<const std::uint32_t> host_of) {
  if (by_chance.empty()) return std::nullopt;
  std::map<std::uint32_t, std::size_t> num_of_host;
  for (const diagnosis::OrderedPair& pair : suspected)
    ++num_of_host[host_of[pair.from]], ++num_of_host[host_of[pair.to]];
  const auto num_common = [&](const diagnosis::OrderedPair& pair) {
    return num_of_host[host_of[pair.from]] + num_of_host[host_of[pair.to]];
  };
  const auto fewest = std::ranges::min_element(by_chance, {}, num_common);
  const diagnosis::OrderedPair taken = *fewest;
  by_chance.erase(fewest);
  return taken;
}

}  // namespace

std::vector<SlowPair> slowest_pairs(cluster::Cluster& cluster, const PairRow& row, std::size_t count) {
  const auto merge = [count](const std::string& left, std::string_view right) {
    stats::Slowest slowest(count);
    slowest.merge(unpacked(left));
    slowest.merge(unpacked(right));
    return packed(slowest);
  };
  std::vector<SlowPair> pairs;
  if (count == 0) return pairs;
  const std::string own = packed(own_slowest(static_cast<std::uint32_t>(cluster.rank()), row, count));
  for (const stats::TimedPair& pair : unpacked(cluster.all_reduce(own, merge))) {
    pairs.push_back({pair.from, pair.to, pair.time_ns, 0});
  }
  return pairs;
}

diagnosis::RetestTimes RetestMeter::measure(int from, int to, diagnosis::Load load) {
  if (is_over_) return {};
  if (begin_ns_ == 0) begin_ns_ = now_ns();
  Tally own;
  LostPairs& lost_pairs = meter_.lost_pairs();
  if (cluster_.rank() == from) {
    PairRecord record;
    const auto lead = [&] { record = meter_.measure_one_way(to, kernel::Role::lead, message_size_bytes_); };
    if (lost_pairs.attempt(to, lead)) {
      own.add(record.time_ns_median);
      own.first_time_ns = record.time_ns_mean;
    }
  } else if (cluster_.rank() == to) {
    lost_pairs.attempt(from, [&] { meter_.measure_one_way(from, kernel::Role::follow, message_size_bytes_); });
  } else if (load == diagnosis::Load::concurrent) {
    if (const auto pairing = concurrent_partner(cluster_.rank(), from, to, cluster_.size())) {
      lost_pairs.attempt(pairing->partner, [&] { meter_.measure(*pairing, message_size_bytes_); });
    }
  }
  own.has_lost_pairs = lost_pairs.has_news() ? 1 : 0;
  const double spent_s = 1e-9 * static_cast<double>(now_ns() - begin_ns_);
  own.time_is_over = cluster_.is_root() && spent_s > limit_s_ ? 1 : 0;
  const Tally all = close_round(cluster_, own, std::nullopt);
  is_over_ = all.time_is_over != 0;
  lost_pairs.note_lost_ranks();
  if (all.has_lost_pairs != 0) lost_pairs.settle();
  if (all.num_pairs == 0) return {};
  return {all.time_ns_max, all.first_time_ns};
}

void retest(cluster::Cluster& cluster, PairMeter& meter, SliceSummary& summary, Progress* progress) {
  RetestMeter again(cluster, meter, summary.slice.message_size_bytes, std::numeric_limits<double>::infinity());
  for (SlowPair& pair : summary.slowest) {
    const auto times = again.measure(static_cast<int>(pair.from), static_cast<int>(pair.to), diagnosis::Load::alone);
    if (!std::isnan(times.median_ns)) {  // else the pair was lost
      pair.retest_time_ns = times.median_ns;
      summary.second_measurements.push_back({pair.from, pair.to, true, times.median_ns, times.mean_ns});
    }
    if (progress != nullptr) progress->retest_done(pair);
  }
}

void diagnose(const DiagnosisStage& stage, const PairRow& row, SliceSummary& summary, std::uint64_t num_pairs) {
  std::optional<RowsOfAll> all;
  if (stage.cluster.size() <= most_ranks_with_all_rows) all.emplace(stage.cluster, row, stage.rounds);
  std::optional<OwnRow> own;
  const auto rows_of = [&](Symptom symptom) -> const diagnosis::Rows& {
    return all ? all->of(symptom) : own.emplace(stage.cluster, row, stage.rounds, symptom);
  };
  RetestMeter limited(stage.cluster, stage.meter, summary.slice.message_size_bytes, stage.retest_limit_s);
  RetestMeter unlimited(stage.cluster, stage.meter, summary.slice.message_size_bytes,
                        std::numeric_limits<double>::infinity());
  std::vector<SecondMeasurement>& measured = summary.second_measurements;
  const auto again_by = [&](RetestMeter& meter, std::span<const diagnosis::OrderedPair> pairs, diagnosis::Load load) {
    const diagnosis::Recorded known = diagnosis::recorded(measured);
    std::vector<diagnosis::RetestTimes> times =
        known.retest ? known.retest(pairs, load) : std::vector<diagnosis::RetestTimes>(pairs.size());
    for (std::size_t index = 0; index < pairs.size(); ++index) {
      if (!std::isnan(times[index].median_ns)) continue;
      const diagnosis::OrderedPair& pair = pairs[index];
      times[index] = meter.measure(static_cast<int>(pair.from), static_cast<int>(pair.to), load);
      if (std::isnan(times[index].median_ns)) continue;
      measured.push_back(
          {pair.from, pair.to, load == diagnosis::Load::alone, times[index].median_ns, times[index].mean_ns});
    }
    return times;
  };
  // Whatever is suspected, pairs by chance show how much faster sound ones are alone. Without a few of them nothing
  // that was measured alone tells anything. Others come between the suspects, and see what disturbs these.
  const std::vector<diagnosis::OrderedPair> by_chance =
      diagnosis::random_pairs(rows_of(Symptom::slow), stage.layout, 2 * diagnosis::num_by_chance);
  std::vector<diagnosis::OrderedPair> between = by_chance;
  const auto measure_by_chance = [&](RetestMeter& meter, std::size_t num) {
    again_by(meter, std::span(by_chance).first(std::min(by_chance.size(), num)), diagnosis::Load::alone);
  };
  const auto again = [&](std::span<const diagnosis::OrderedPair> pairs, diagnosis::Load load) {
    std::vector<diagnosis::RetestTimes> times;
    for (std::size_t begin = 0; begin < pairs.size(); begin += suspects_by_one_by_chance) {
      const auto part = pairs.subspan(begin, std::min(suspects_by_one_by_chance, pairs.size() - begin));
      for (const diagnosis::RetestTimes& one : again_by(limited, part, load)) times.push_back(one);
      if (const auto sound = take_with_fewest_in_common(between, pairs, stage.layout.host_of)) {
        again_by(limited, std::span(&*sound, 1), diagnosis::Load::alone);
      }
    }
    return times;
  };
  const auto diagnosed_with = [&](const diagnosis::Recorded& recorded) {
    return diagnosis::diagnose({.rows = rows_of,
                                .layout = stage.layout,
                                .settings = stage.settings,
                                .num_pairs = num_pairs,
                                .retest = recorded.retest,
                                .retested = recorded.pairs,
                                .load = stage.load,
                                .is_round_trip = stage.is_round_trip});
  };
  measure_by_chance(unlimited, fewest_by_chance);
  measure_by_chance(limited, by_chance_before);
  std::erase_if(between, [&](const diagnosis::OrderedPair& pair) {  // they are known by now
    return std::ranges::any_of(measured, [&](const SecondMeasurement& one) {
      return one.is_alone && one.from == pair.from && one.to == pair.to;
    });
  });
  diagnosed_with({again, diagnosis::recorded(measured).pairs});
  measure_by_chance(limited, diagnosis::num_by_chance);
  // Of what is in the file then, so that a diagnosis of the file says the same.
  const diagnosis::Recorded known = diagnosis::recorded(measured);
  summary.diagnosis = diagnosed_with(known);
  diagnosis::compare_with_line_rate(stage.line_rate, rows_of(Symptom::slow), stage.layout, known.retest,
                                    summary.slice.message_size_bytes, *summary.diagnosis);
  if (stage.site_profile == nullptr) return;
  diagnosis::judge_by(*stage.site_profile, rows_of(Symptom::slow), stage.layout, summary.slice.message_size_bytes,
                      *summary.diagnosis);
}

}  // namespace leadline::bench::link
