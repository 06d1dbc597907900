// SPDX-License-Identifier: Apache-2.0
// Searches blocks of pairs, then single pairs, in what the ends leave unexplained.
#include "diagnosis/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "core/random.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t most_proposals_of_row = 64, most_proposals = 65'536;
constexpr std::size_t most_candidates = 4096;
constexpr std::size_t num_controls = 512;
constexpr std::uint64_t controls_seed = 7;  // the same everywhere; which blocks they are does not matter
constexpr std::size_t most_of_part = 1024;  // pairs of a sender with a part that are looked at again, about
constexpr double least_distance = 2.5;      // of a proposal from what is usual, in standard errors

/// The residuals of one sender towards one part.
struct Shown {
  Block block;
  std::uint32_t sender = 0;
  float median = 0;
};

constexpr std::size_t fewest_for_upper = 4;

/// What a sender shows: the median. Of an even number the lower one, so that of two both must be slow; but what strikes
/// by chance (ends were fitted to their better halves) is there if half of four values or more have met it.
float typical(std::vector<float>& values, double share) {
  const bool is_upper = share == better_half && values.size() >= fewest_for_upper;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - (is_upper ? 0 : 1)) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A row's residuals in order of the parts of its receivers, as one thread works on them.
class RowByParts {
 public:
  RowByParts(const Effects& effects, const PairClasses& classes, const Partition& partition,
             std::span<const ExplainedPartition> explained)
      : effects_(effects), classes_(classes), partition_(partition), explained_(explained) {}

  /// Calls take(part, residuals, spread) for each other part towards which the row shows at least `least`; `residuals`
  /// may be reordered, `spread` is that of their class.
  template <typename Take>
  void each_slow_part(const Row& row, float least, const Take& take);

  /// The same for those of `parts` (none twice) that have values, whatever they show.
  template <typename Parts, typename Take>
  void each_of(const Row& row, const Parts& parts, const Take& take);

  /// One of so many of a row's values was looked at.
  std::size_t stride() const { return stride_; }

 private:
  /// A value of the row in order of parts.
  struct Entry {
    std::uint32_t part, index;
  };

  void find_residuals(const Row& row);
  void find_wanted_residuals(const Row& row);
  void count_by_parts(const Row& row, float least);
  template <typename Wants>
  void sort(const Row& row, const Wants& wants);
  template <typename Take>
  void each_sorted(const Take& take);

  const Effects& effects_;
  const PairClasses& classes_;
  const Partition& partition_;
  std::span<const ExplainedPartition> explained_;
  std::vector<std::uint8_t> classes_of_values_;
  std::vector<float> residuals_;
  std::size_t first_ = 0, stride_ = 1;  ///< which of them are looked at
  std::vector<Entry> sorted_, unsorted_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> num_low_, num_high_;  ///< by part: values below what is asked for, and the others
  std::vector<std::uint8_t> is_wanted_;            ///< by part
  std::vector<float> values_;
};

void RowByParts::find_residuals(const Row& row) {
  first_ = 0, stride_ = 1;
  residuals_of(effects_, classes_, row, classes_of_values_, residuals_);
  for (const ExplainedPartition& explained : explained_) subtract(explained, row, residuals_);
}

/// Only those towards wanted parts, and of large parts as many as a median needs; the others are left as they are.
void RowByParts::find_wanted_residuals(const Row& row) {
  stride_ = std::max<std::size_t>(1, row.values.size() / partition_.num_parts / most_of_part);
  first_ = row.from % stride_;
  classes_of_values_.resize(row.values.size());
  residuals_.resize(row.values.size());
  for (std::size_t index = first_; index < row.values.size(); index += stride_) {
    const std::uint32_t to = row.partner(index);
    if (is_wanted_[partition_.part_of[to]] == 0) continue;
    classes_of_values_[index] = classes_.of(row.from, to);
    residuals_[index] = residual_of(effects_, classes_of_values_[index], row, index);
    for (const ExplainedPartition& one : explained_) residuals_[index] -= explained_of(one, row.from, to);
  }
}

/// A counting sort where many are left, since most parts have values then.
template <typename Wants>
void RowByParts::sort(const Row& row, const Wants& wants) {
  const std::uint32_t own_part = partition_.part_of[row.from];
  unsorted_.clear();
  for (std::size_t at = first_; at < residuals_.size(); at += stride_) {
    const auto index = static_cast<std::uint32_t>(at);
    const std::uint32_t part = partition_.part_of[row.partner(index)];
    if (wants(part) && !std::isnan(residuals_[index]) && part != own_part) unsorted_.push_back({part, index});
  }
  if (unsorted_.size() < partition_.num_parts / 4) {
    std::sort(unsorted_.begin(), unsorted_.end(),
              [](const Entry& a, const Entry& b) { return std::tie(a.part, a.index) < std::tie(b.part, b.index); });
    sorted_.swap(unsorted_);
    return;
  }
  begin_.assign(partition_.num_parts + 1, 0);
  for (const Entry& entry : unsorted_) ++begin_[entry.part + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  sorted_.resize(unsorted_.size());
  for (const Entry& entry : unsorted_) sorted_[begin_[entry.part]++] = entry;
}

template <typename Take>
void RowByParts::each_sorted(const Take& take) {
  for (auto first = sorted_.begin(); first != sorted_.end();) {
    values_.clear();
    auto end = first;
    for (; end != sorted_.end() && end->part == first->part; ++end) values_.push_back(residuals_[end->index]);
    take(first->part, values_, effects_.classes[classes_of_values_[first->index]].spread);
    first = end;
  }
}

template <typename Take>
void RowByParts::each_slow_part(const Row& row, float least, const Take& take) {
  find_residuals(row);
  const auto take_slow = [&](std::uint32_t part, std::vector<float>& values, double spread) {
    if (typical(values, effects_.share) >= least) take(part, values, spread);
  };
  if (residuals_.size() < partition_.num_parts / 4) {
    sort(row, [](std::uint32_t) { return true; });
    each_sorted(take_slow);
    return;
  }
  // Hardly any part is slow, and to count is cheaper than to sort.
  count_by_parts(row, least);
  const auto may_be_slow = [&](std::uint32_t part) {
    return num_high_[part] > num_low_[part] || (effects_.share == better_half && num_high_[part] == num_low_[part]);
  };
  const std::uint32_t own_part = partition_.part_of[row.from];
  bool has_slow = false;
  for (std::uint32_t part = 0; part < partition_.num_parts; ++part) {
    has_slow = has_slow || (part != own_part && may_be_slow(part));
  }
  if (!has_slow) return;
  sort(row, may_be_slow);
  each_sorted(take_slow);
}

/// Neighbours in the row are mostly of one part, whose counts change once.
void RowByParts::count_by_parts(const Row& row, float least) {
  num_low_.assign(partition_.num_parts, 0);
  num_high_.assign(partition_.num_parts, 0);
  std::uint32_t last_part = 0, num_low = 0, num_high = 0;
  const auto add = [&] {
    num_low_[last_part] += num_low;
    num_high_[last_part] += num_high;
    num_low = num_high = 0;
  };
  for (std::size_t index = 0; index < residuals_.size(); ++index) {
    const std::uint32_t part = partition_.part_of[row.partner(index)];
    if (part != last_part) add();
    last_part = part;
    num_low += residuals_[index] < least ? 1U : 0U;  // neither of them for what was not measured
    num_high += residuals_[index] >= least ? 1U : 0U;
  }
  add();
}

template <typename Parts, typename Take>
void RowByParts::each_of(const Row& row, const Parts& parts, const Take& take) {
  is_wanted_.resize(partition_.num_parts, 0);
  for (const auto& [part, _] : parts) is_wanted_[part] = 1;
  find_wanted_residuals(row);
  sort(row, [&](std::uint32_t part) { return is_wanted_[part] != 0; });
  for (const auto& [part, _] : parts) is_wanted_[part] = 0;
  each_sorted(take);
}

class BlockSearch {
 public:
  BlockSearch(const Rows& rows, const Effects& effects, const PairClasses& classes, const Partition& partition,
              std::span<const ExplainedPartition> explained, const DiagnosisSettings& settings)
      : rows_(rows),
        partition_(partition),
        settings_(settings),
        share_(effects.share),
        least_error_(std::ranges::max(effects.classes, {}, &Effects::OfClass::step).step / 2),
        num_senders_(partition.num_parts) {
    for (std::size_t worker = 0; worker < rows.num_workers(); ++worker) {
      by_parts_.emplace_back(effects, classes, partition, explained);
    }
    for (const std::uint32_t part : partition.part_of) ++num_senders_[part];
  }

  std::vector<Suspect> run();

 private:
  std::vector<Shown> proposals();
  std::vector<Block> candidates(std::vector<Shown> proposals) const;
  std::vector<Block> controls() const;
  std::vector<Candidate> evidence(const std::vector<Block>& blocks);

  const Rows& rows_;
  const Partition& partition_;
  const DiagnosisSettings& settings_;
  double share_;        ///< of senders of a block that may be sound
  double least_error_;  ///< of what a block shows
  std::vector<std::uint32_t> num_senders_;
  std::vector<RowByParts> by_parts_;
};

/// Of each sender the parts that look slow from it.
std::vector<Shown> BlockSearch::proposals() {
  std::vector<std::vector<Shown>> found(rows_.num_workers());
  const auto least = static_cast<float>(std::log1p(settings_.threshold) / 2);
  rows_.visit([&](std::size_t worker, const Row& row) {
    std::vector<Shown> own;
    by_parts_[worker].each_slow_part(row, least, [&](std::uint32_t part, std::vector<float>& values, double spread) {
      const float median = typical(values, share_);
      const double error = median_efficiency * spread / std::sqrt(static_cast<double>(values.size()));
      if (median < least_distance * error) return;
      own.push_back({{partition_.part_of[row.from], part}, row.from, median});
    });
    const std::size_t kept = std::min(own.size(), most_proposals_of_row);
    std::partial_sort(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(kept), own.end(),
                      [](const Shown& a, const Shown& b) { return a.median > b.median; });
    found[worker].insert(found[worker].end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(kept));
  });
  std::vector<Shown> all;
  for (const auto& own : found) all.insert(all.end(), own.begin(), own.end());
  return gather_first(rows_, std::move(all), most_proposals, [](const Shown& a, const Shown& b) {
    return std::tie(b.median, a.block.from, a.block.to, a.sender) <
           std::tie(a.median, b.block.from, b.block.to, b.sender);
  });
}

/// Those that half of their senders propose, the strongest ones.
std::vector<Block> BlockSearch::candidates(std::vector<Shown> proposals) const {
  struct Votes {
    std::uint32_t num = 0;
    double sum = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Votes> votes;
  for (const Shown& one : proposals) {
    Votes& here = votes[{one.block.from, one.block.to}];
    ++here.num;
    here.sum += static_cast<double>(one.median);
  }
  std::vector<std::pair<double, Block>> strongest;
  for (const auto& [ends, here] : votes) {
    if (2 * here.num >= num_senders_[ends.first])
      strongest.push_back({-here.sum / here.num, {ends.first, ends.second}});
  }
  std::sort(strongest.begin(), strongest.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.from, a.second.to) < std::tie(b.first, b.second.from, b.second.to);
  });
  strongest.resize(std::min(strongest.size(), most_candidates));
  std::vector<Block> blocks;
  for (const auto& one : strongest) blocks.push_back(one.second);
  return blocks;
}

/// Blocks that are not suspected, as controls: all where they are few.
std::vector<Block> BlockSearch::controls() const {
  std::vector<Block> blocks;
  const std::uint64_t num = partition_.num_parts;
  if (num * (num - 1) <= num_controls) {
    for (std::uint32_t from = 0; from < num; ++from) {
      for (std::uint32_t to = 0; to < num; ++to) {
        if (from != to) blocks.push_back({from, to});
      }
    }
    return blocks;
  }
  Random random(controls_seed);
  while (blocks.size() < num_controls) {
    const Block block{static_cast<std::uint32_t>(random.below(num)), static_cast<std::uint32_t>(random.below(num))};
    if (block.from != block.to) blocks.push_back(block);
  }
  return blocks;
}

/// The effect that nearly all senders of each block show.
std::vector<Candidate> BlockSearch::evidence(const std::vector<Block>& blocks) {
  struct Entry {
    std::uint32_t index;
    float median, spread;
    std::uint32_t num;
  };
  std::vector<std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>> wanted(partition_.num_parts);
  for (std::uint32_t index = 0; index < blocks.size(); ++index) {
    wanted[blocks[index].from][blocks[index].to].push_back(index);
  }
  std::vector<std::vector<Entry>> found(rows_.num_workers());
  rows_.visit([&](std::size_t worker, const Row& row) {
    const auto& of_sender = wanted[partition_.part_of[row.from]];
    if (of_sender.empty()) return;
    by_parts_[worker].each_of(row, of_sender, [&](std::uint32_t part, std::vector<float>& values, double spread) {
      const float median = typical(values, share_);
      for (const std::uint32_t index : of_sender.at(part)) {
        const std::size_t num = values.size() * by_parts_[worker].stride();
        found[worker].push_back({index, median, static_cast<float>(spread), static_cast<std::uint32_t>(num)});
      }
    });
  });
  std::vector<Entry> own;
  for (const auto& of_worker : found) own.insert(own.end(), of_worker.begin(), of_worker.end());

  std::vector<std::vector<double>> medians(blocks.size());
  std::vector<double> spreads(blocks.size(), 0);
  std::vector<std::uint64_t> num_pairs(blocks.size(), 0);
  for (const Entry& entry : gather_all(rows_, own)) {
    medians[entry.index].push_back(static_cast<double>(entry.median));
    spreads[entry.index] = std::fmax(spreads[entry.index], entry.spread);
    num_pairs[entry.index] += entry.num;
  }
  std::vector<Candidate> evidence;
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    const Component component{partition_.kind, partition_.level, static_cast<std::int32_t>(blocks[index].from),
                              static_cast<std::int32_t>(blocks[index].to), -1};
    const double error =
        median_efficiency * spreads[index] / std::sqrt(std::max<double>(static_cast<double>(num_pairs[index]), 1));
    evidence.push_back(
        {component, consensus(medians[index], share_), std::fmax(error, least_error_), num_pairs[index]});
  }
  return evidence;
}

std::vector<Suspect> BlockSearch::run() {
  std::vector<Block> suspected = candidates(proposals());
  const std::vector<Block> controls = this->controls();
  // Suspected blocks are judged among the others, each block once.
  std::vector<Block> blocks = controls;
  std::erase_if(suspected, [&](const Block& block) {
    return std::find(controls.begin(), controls.end(), block) != controls.end();
  });
  blocks.insert(blocks.end(), suspected.begin(), suspected.end());
  const std::vector<Candidate> all = evidence(blocks);
  const std::uint64_t num = partition_.num_parts;
  // Where all blocks are controls, the ends were fitted to them; this does not hold for a sample of many.
  const bool are_all = controls.size() == num * (num - 1);
  const std::size_t num_fitted = are_all ? 2 * static_cast<std::size_t>(num) - 1 : 0;
  return judge(all, {FaultDirection::out, std::span(all).first(controls.size()), num_fitted, num * (num - 1), 1},
               settings_);
}

// Another switch on the way takes a fraction of a microsecond, small messages between hosts take more than one. A
// guess.
constexpr double least_ratio = 1.5;
constexpr double least_significance = 4;  // in standard errors

/// What pairs of some classes take.
struct ShownByClasses {
  double centre = 0, spread = 0;
  std::uint64_t num_pairs = 0;
};

/// Pairs of one host are not independent, so hosts are counted.
double standard_error(const ShownByClasses& shown, std::uint32_t num_hosts) {
  return median_efficiency * shown.spread / std::sqrt(static_cast<double>(num_hosts));
}

bool has_two_hosts_each(const network::Level& level) {
  const auto num_of_first = std::ranges::count(level.group_of, 0U);
  return num_of_first >= 2 && static_cast<std::ptrdiff_t>(level.group_of.size()) - num_of_first >= 2;
}

}  // namespace

float explained_of(const ExplainedPartition& explained, std::uint32_t from, std::uint32_t to) {
  const auto& part_of = explained.partition->part_of;
  float sum = 0;
  for (const ExplainedBlock& one : explained.blocks) {
    if (one.block.from == part_of[from] && one.block.to == part_of[to]) sum += one.effect;
  }
  return sum;
}

void subtract(const ExplainedPartition& explained, const Row& row, std::vector<float>& residuals) {
  const auto& part_of = explained.partition->part_of;
  for (const ExplainedBlock& one : explained.blocks) {
    if (one.block.from != part_of[row.from]) continue;
    for (std::size_t index = 0; index < residuals.size(); ++index) {
      if (part_of[row.partner(index)] == one.block.to) residuals[index] -= one.effect;
    }
  }
}

std::vector<Suspect> find_blocks(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                 const Partition& partition, std::span<const ExplainedPartition> explained,
                                 const DiagnosisSettings& settings) {
  if (partition.num_parts < fewest_to_compare) return {};
  return BlockSearch(rows, effects, classes, partition, explained, settings).run();
}

std::vector<IsolatedPair> slowest_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                        std::span<const ExplainedPartition> explained,
                                        const DiagnosisSettings& settings, std::size_t most) {
  const auto slower = [](const IsolatedPair& a, const IsolatedPair& b) {
    return std::tie(b.residual, a.from, a.to) < std::tie(a.residual, b.from, b.to);
  };
  struct Scratch {
    std::vector<std::uint8_t> classes;
    std::vector<float> residuals;
    std::vector<IsolatedPair> found;
  };
  std::vector<Scratch> scratch(rows.num_workers());
  const auto least = static_cast<float>(std::log1p(settings.threshold));
  rows.visit([&](std::size_t worker, const Row& row) {
    Scratch& here = scratch[worker];
    residuals_of(effects, classes, row, here.classes, here.residuals);
    for (const ExplainedPartition& one : explained) subtract(one, row, here.residuals);
    // With fewer pairs the ends explain nearly everything, and a slow pair makes another one look slow.
    const auto can_be_compared = [&](std::size_t index) {
      const std::uint8_t pair_class = here.classes[index];
      return num_fitted_to(effects, pair_class, row.from, FaultDirection::out) >= fewest_to_compare &&
             num_fitted_to(effects, pair_class, row.partner(index), FaultDirection::in) >= fewest_to_compare;
    };
    for (std::size_t index = 0; index < here.residuals.size(); ++index) {
      if (here.residuals[index] >= least && can_be_compared(index)) {
        here.found.push_back({row.from, row.partner(index), here.residuals[index], row.values[index]});
      }
    }
    if (here.found.size() < 4 * most) return;
    std::nth_element(here.found.begin(), here.found.begin() + static_cast<std::ptrdiff_t>(most), here.found.end(),
                     slower);
    here.found.resize(most);
  });
  std::vector<IsolatedPair> own;
  for (Scratch& here : scratch) own.insert(own.end(), here.found.begin(), here.found.end());
  return gather_first(rows, std::move(own), most, slower);
}

std::vector<float> residuals_of_pairs(const Rows& rows, const Effects& effects, const PairClasses& classes,
                                      std::span<const OrderedPair> pairs) {
  struct Found {
    std::uint32_t index;
    float residual;
  };
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> wanted;  // by sender
  for (std::uint32_t index = 0; index < pairs.size(); ++index) wanted[pairs[index].from].push_back(index);
  std::vector<std::vector<Found>> of_workers(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    const auto of_sender = wanted.find(row.from);
    if (of_sender == wanted.end()) return;
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = row.partner(index);
      for (const std::uint32_t one : of_sender->second) {
        if (pairs[one].to != to || std::isnan(row.values[index])) continue;
        of_workers[worker].push_back({one, residual_of(effects, classes.of(row.from, to), row, index)});
      }
    }
  });
  for (std::size_t worker = 1; worker < of_workers.size(); ++worker) {
    of_workers[0].insert(of_workers[0].end(), of_workers[worker].begin(), of_workers[worker].end());
  }
  const std::vector<Found> found = gather_all(rows, of_workers[0]);
  std::vector<float> residuals(pairs.size(), std::numeric_limits<float>::quiet_NaN());
  for (const Found& one : found) residuals[one.index] = one.residual;
  return residuals;
}

std::optional<Suspect> slow_between_two(const Effects& effects, const Setting& setting,
                                        const DiagnosisSettings& settings) {
  const network::Network& network = setting.layout.network;
  if (is_learnt(network) || network.levels.empty()) return std::nullopt;
  const std::size_t level = network.levels.size() - 1;
  if (network.levels[level].names.size() != 2 || !has_two_hosts_each(network.levels[level])) return std::nullopt;
  ShownByClasses within, across;
  for (std::size_t index = PairClasses::first_between; index < effects.classes.size(); ++index) {
    const Effects::OfClass& one = effects.classes[index];
    if (one.num == 0) continue;
    // Of several classes within, the farthest.
    ShownByClasses& shown = setting.classes.crosses(index, level) ? across : within;
    shown = {one.median, one.spread, one.num};
  }
  if (within.num_pairs == 0 || across.num_pairs == 0) return std::nullopt;
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  const double effect = across.centre - within.centre;
  const double error = std::max(std::hypot(standard_error(within, num_hosts), standard_error(across, num_hosts)), 1e-3);
  if (effect < std::max(std::log(least_ratio), std::log1p(settings.threshold))) return std::nullopt;
  if (effect < least_significance * error) return std::nullopt;
  const double p = stats::student_t_tail(effect / error, degrees_of_freedom(num_hosts));
  const Component component{ComponentKind::cable, static_cast<std::int32_t>(level), 0, 1, -1};
  Suspect suspect{component, FaultDirection::both, effect, error, p, across.num_pairs, false};
  suspect.is_whole_class = true;
  return suspect;
}

}  // namespace leadline::diagnosis
