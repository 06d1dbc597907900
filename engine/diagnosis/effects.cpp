// SPDX-License-Identifier: Apache-2.0
// Sweeps over rows and columns until the ends of pairs explain what they can.
#include "diagnosis/effects.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>

#include "diagnosis/clock_step.hpp"
#include "diagnosis/log_histogram.hpp"
#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr int num_sweeps = 4;  // the bins of columns narrow down by a factor of four or more in each

// An end is fitted to about so many of its pairs of a class, sampled at random: their quartile scatters by 1.36 / 45 of
// what pairs do, and more pairs cost time and gain nothing.
constexpr double most_of_end = 2048;

// Each worker has counts of its own up to so many (512 MiB) of all of them; beyond, they share them, which costs time.
constexpr std::size_t most_counts_apart = std::size_t{1} << 27;

// In smaller parts a slow rank is a good part of all pairs of its partners, and sweeps would not settle. A guess.
constexpr std::size_t fewest_to_balance = 16;
enum class PartSize : std::uint8_t { small, large };

constexpr double largest_certain_step = 0.15;  // logarithm
constexpr double least_off_by_step = 0.02;     // of the pairs, where steps of the clock are up to chance

// Ends with fewer hosts as partners of a class on average add one time in all classes, where the network allows it. A
// guess.
constexpr double fewest_of_class = 4;
constexpr double share_of_sound =
    0.15;  // of the pairs of a class: about the middle of these where 45 % of ends are slow

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The share-quantile between order statistics; `values` are reordered. NaN without values.
float quantile(std::vector<float>& values, double share) {
  if (values.empty()) return not_a_number;
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const float below = values[static_cast<std::size_t>(low)];
  if (static_cast<std::size_t>(low) + 1 == values.size()) return below;
  const float above = *std::min_element(values.begin() + low + 1, values.end());
  return below + static_cast<float>(at - static_cast<double>(low)) * (above - below);
}

double median_of(std::vector<float> values) {
  std::erase_if(values, [](float value) { return std::isnan(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Collective: as add_up(), for numbers that are mostly 0.
template <typename Number>
void add_up_sparse(const Rows& rows, std::span<Number> numbers) {
  if (rows.is_whole()) return;
  std::vector<CountAt> own;
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (numbers[index] != 0) own.push_back({index, numbers[index]});
  }
  for (const CountAt& one : add_up_counts(rows, std::move(own))) numbers[one.index] = static_cast<Number>(one.count);
}

/// What a slow end adds is a time, and no part of what the way takes: its factor in a class whose pairs take so much
/// longer (logarithms), as `effect` in this one.
double beyond_way(double effect, double farther) {
  return effect > slow_end ? std::log1p(std::expm1(effect) * std::exp(-farther)) : effect;
}

/// Senders and receivers.
std::uint64_t num_ends_of(const Effects::OfClass& pair_class) {
  const auto is_there = [](std::uint32_t num) { return num > 0; };
  return static_cast<std::uint64_t>(std::ranges::count_if(pair_class.num_out, is_there) +
                                    std::ranges::count_if(pair_class.num_in, is_there));
}

class Fit {
 public:
  Fit(const Rows& rows, const PairClasses& classes, double share) : rows_(rows), classes_(classes), share_(share) {
    effects_.classes.resize(classes.size());
    for (Effects::OfClass& one : effects_.classes) {
      one.out.assign(rows.num_ranks(), 0);
      one.in.assign(rows.num_ranks(), 0);
      one.num_out.assign(rows.num_ranks(), 0);
      one.num_in.assign(rows.num_ranks(), 0);
    }
    is_here_.assign(rows.num_ranks(), 0);
    const std::vector<std::uint8_t> nobody(rows.num_ranks(), 0);
    slow_.assign(classes.size(), {nobody, nobody});
    for (std::size_t pair_class = 0; pair_class < classes.size(); ++pair_class)
      parts_.push_back(classes.parts_of(pair_class));
    scratch_.resize(rows.num_workers());
    for (Scratch& scratch : scratch_) scratch.of_class.resize(classes.size());
  }

  Effects run();

 private:
  struct Scratch {
    std::vector<std::uint8_t> classes_of_values;  ///< of a row
    std::vector<std::uint32_t> sampled;           ///< positions in a row that take part in a sweep
    std::vector<std::uint32_t> partners;          ///< of the residuals of a sweep
    std::vector<std::uint8_t> classes;
    std::vector<float> residuals;
    std::vector<std::vector<float>> of_class;
    std::vector<LogHistogram> histograms;
    std::vector<std::vector<std::uint32_t>> num_in;  ///< [class][rank]
  };
  using Counts = std::vector<std::uint32_t>;  ///< [class][rank][bin]

  template <typename Look>
  std::vector<LogHistogram> histograms(const Look& value_of);
  void find_centres();
  void count_ends(Scratch& scratch, const Row& row);
  void share_numbers();
  void sweep();
  void sweep_row(std::size_t worker, const Row& row, std::span<const ColumnBins> bins);
  void sample_row(Scratch& scratch, const Row& row);
  void count_columns(std::size_t worker, const Row& row, std::span<const ColumnBins> bins,
                     std::span<const float> shift);
  void take_columns(std::span<const ColumnBins> bins);
  void narrow(std::span<const ColumnBins> bins);
  /// Inside each of several hosts ranks have none but their own partners, and all of a slow host would be slow.
  bool are_apart(std::size_t pair_class) const {
    return PairClasses::is_inside(pair_class) && classes_.num_hosts() > 1;
  }
  void share_rows(std::size_t pair_class);
  void centre(std::size_t pair_class);
  void draw();
  bool has_small_classes() const;
  void join_classes();
  void part_classes();
  std::size_t fitted_class(std::size_t pair_class) const;
  void join_spread();
  float off_distance(float value, std::size_t pair_class) const;
  void balance(std::size_t pair_class, PartSize size);
  void choose_compositions();
  void finish();

  std::size_t bin_at(std::size_t pair_class, std::uint32_t rank) const {
    return (pair_class * rows_.num_ranks() + rank) * ColumnBins::num;
  }

  const Rows& rows_;
  const PairClasses& classes_;
  const double share_;
  Effects effects_;
  bool is_first_sweep_ = true;
  /// Of a rank that lies above the lowest cluster: whether its part has a sound one.
  static constexpr std::uint8_t beside_sound = 1, beside_slow = 2;
  struct Slow {
    std::vector<std::uint8_t> out, in;  ///< by rank: 0, or one of these; those of receivers are not told apart
  };
  std::vector<Slow> slow_;                 ///< by class
  std::vector<PairClasses::Parts> parts_;  ///< by class
  std::vector<std::uint8_t> is_here_;      ///< by rank: whether this holder has its row
  std::vector<Scratch> scratch_;
  std::array<std::uint32_t, PairClasses::most_classes> highest_lot_{};  ///< of pairs that take part
  std::array<double, PairClasses::most_classes> low_{};  ///< by class: of the values, what sound pairs have about
  std::vector<Effects::OfClass> apart_;  ///< the classes before they were joined into the first one between hosts
  std::vector<Counts> counts_;           ///< of each worker, or one of all
};

/// By class: counts of what `value_of(row, scratch)` leaves in scratch.residuals.
template <typename Look>
std::vector<LogHistogram> Fit::histograms(const Look& value_of) {
  for (Scratch& scratch : scratch_) scratch.histograms.assign(classes_.size(), {});
  rows_.visit([&](std::size_t worker, const Row& row) {
    Scratch& scratch = scratch_[worker];
    value_of(row, scratch);
    for (std::size_t index = 0; index < scratch.residuals.size(); ++index) {
      const float value = scratch.residuals[index];
      if (std::isnan(value) || row.partner(index) == row.from) continue;
      scratch.histograms[scratch.classes[index]].add(value);
    }
  });
  std::vector<LogHistogram> sums(classes_.size());
  for (std::size_t pair_class = 0; pair_class < sums.size(); ++pair_class) {
    for (const Scratch& scratch : scratch_) sums[pair_class].add(scratch.histograms[pair_class]);
    if (!rows_.is_whole()) add_up_sparse(rows_, sums[pair_class].all_counts());
  }
  return sums;
}

void Fit::find_centres() {
  for (Scratch& scratch : scratch_) {
    scratch.num_in.assign(classes_.size(), std::vector<std::uint32_t>(rows_.num_ranks(), 0));
  }
  const auto values = histograms([&](const Row& row, Scratch& scratch) {
    classes_of(classes_, row, scratch.classes);
    scratch.residuals.assign(row.values.begin(), row.values.end());
    count_ends(scratch, row);
  });
  share_numbers();
  for (std::size_t pair_class = 0; pair_class < values.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    one.num = values[pair_class].num();
    one.median = one.centre = values[pair_class].quantile(0.5);
    one.spread = values[pair_class].spread();
    low_[pair_class] = values[pair_class].quantile(share_of_sound);
  }
  const double step = clock_step(values);
  for (Effects::OfClass& one : effects_.classes)
    one.step = step > 0 && one.num > 0 ? std::log1p(step / std::exp(one.median)) : 0;
}

void Fit::count_ends(Scratch& scratch, const Row& row) {
  is_here_[row.from] = 1;  // a row has one worker
  for (std::size_t index = 0; index < row.values.size(); ++index) {
    const std::uint32_t to = row.partner(index);
    if (std::isnan(row.values[index]) || to == row.from) continue;
    const std::uint8_t pair_class = scratch.classes[index];
    ++effects_.classes[pair_class].num_out[row.from];
    ++scratch.num_in[pair_class][to];
  }
}

/// All ranks need the numbers of pairs of all ranks. A rank without pairs of a class has no effect there.
void Fit::share_numbers() {
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    for (Scratch& scratch : scratch_) {
      std::ranges::transform(one.num_in, scratch.num_in[pair_class], one.num_in.begin(), std::plus<>());
    }
    add_up_sparse(rows_, std::span(one.num_in));
    add_up(rows_, std::span(one.num_out));
    for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
      if (one.num_out[rank] == 0) one.out[rank] = not_a_number;
      if (one.num_in[rank] == 0) one.in[rank] = not_a_number;
    }
    one.num_fitted = num_ends_of(one);
  }
  for (Scratch& scratch : scratch_) scratch.num_in.clear();
}

/// Residuals of the pairs that take part in the sweeps.
void Fit::sample_row(Scratch& scratch, const Row& row) {
  classes_of(classes_, row, scratch.classes_of_values);
  scratch.sampled.resize(row.values.size());
  const std::uint32_t lot_of_row = row.from * 0x85ebca6bU;
  const auto highest_lot = highest_lot_;  // as it does not change, which compilers cannot see
  std::size_t num_sampled = 0;
  for (std::uint32_t index = 0; index < row.values.size(); ++index) {
    const std::uint32_t lot = (row.partner(index) ^ lot_of_row) * 0x9e3779b1U;
    scratch.sampled[num_sampled] = index;
    num_sampled += lot <= highest_lot[scratch.classes_of_values[index]] ? 1 : 0;  // a branch could not be foreseen
  }
  scratch.partners.clear();
  scratch.classes.clear();
  scratch.residuals.clear();
  for (const std::uint32_t index : std::span(scratch.sampled).first(num_sampled)) {
    const std::uint32_t to = row.partner(index);
    if (std::isnan(row.values[index]) || to == row.from) continue;
    const std::uint8_t pair_class = scratch.classes_of_values[index];
    const std::size_t fitted = fitted_class(pair_class);
    const Effects::OfClass& one = effects_.classes[fitted];
    const float value = off_distance(row.values[index], pair_class);
    scratch.partners.push_back(to);
    scratch.classes.push_back(static_cast<std::uint8_t>(fitted));
    scratch.residuals.push_back(value - static_cast<float>(one.centre) - one.out[row.from] - one.in[to]);
  }
}

void Fit::sweep_row(std::size_t worker, const Row& row, std::span<const ColumnBins> bins) {
  Scratch& scratch = scratch_[worker];
  sample_row(scratch, row);
  for (auto& values : scratch.of_class) values.clear();
  for (std::size_t index = 0; index < scratch.residuals.size(); ++index) {
    const float value = scratch.residuals[index];
    const std::uint8_t pair_class = scratch.classes[index];
    if (!std::isnan(value) && slow_[pair_class].in[scratch.partners[index]] == 0)
      scratch.of_class[pair_class].push_back(value);
  }
  std::array<float, PairClasses::most_classes> shift{};
  for (std::size_t pair_class = 0; pair_class < shift.size() && pair_class < classes_.size(); ++pair_class) {
    auto& values = scratch.of_class[pair_class];
    if (values.empty()) continue;
    const float found = quantile(values, share_);
    effects_.classes[pair_class].out[row.from] += found;
    if (!is_first_sweep_ || are_apart(pair_class)) shift[pair_class] = found;
  }
  count_columns(worker, row, bins, shift);
}

/// Of the first sweep as they are: what a slow sender shows would hide what slow receivers do. So are those of
/// receivers without any sound sender.
void Fit::count_columns(std::size_t worker, const Row& row, std::span<const ColumnBins> bins,
                        std::span<const float> shift) {
  const Scratch& scratch = scratch_[worker];
  const auto count_with = [&](const auto& count) {
    for (std::size_t index = 0; index < scratch.residuals.size(); ++index) {
      const float value = scratch.residuals[index];
      const std::uint8_t pair_class = scratch.classes[index];
      const std::uint8_t slow = slow_[pair_class].out[row.from];
      if (std::isnan(value) || slow == beside_sound) continue;
      const float as_it_is = slow == beside_slow ? value + effects_.classes[pair_class].out[row.from] : value;
      count(bin_at(pair_class, scratch.partners[index]) + bins[pair_class].index_of(as_it_is - shift[pair_class]));
    }
  };
  if (counts_.size() == scratch_.size()) {
    Counts& own = counts_[worker];
    count_with([&](std::size_t at) { ++own[at]; });
  } else {
    Counts& all = counts_.front();
    count_with([&](std::size_t at) { std::atomic_ref(all[at]).fetch_add(1, std::memory_order_relaxed); });
  }
}

void Fit::take_columns(std::span<const ColumnBins> bins) {
  Counts& sum = counts_.front();
  for (std::size_t worker = 1; worker < counts_.size(); ++worker) {
    std::transform(sum.begin(), sum.end(), counts_[worker].begin(), sum.begin(), std::plus<>());
  }
  add_up_sparse(rows_, std::span(sum));
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
      if (one.num_in[rank] == 0) continue;
      const auto counts = std::span(sum).subspan(bin_at(pair_class, rank), ColumnBins::num);
      const auto shift = static_cast<float>(bins[pair_class].quantile(counts, share_));
      if (!std::isnan(shift)) one.in[rank] += shift;
    }
  }
}

/// Until the end `spread` is what columns scatter by, as far as the last sweep's bins can tell: the next one's are as
/// wide.
void Fit::narrow(std::span<const ColumnBins> bins) {
  constexpr double deviations = 0.7413;  // in the distance of a normal distribution's quartiles
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    std::vector<float> widths;
    for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
      if (effects_.classes[pair_class].num_in[rank] == 0) continue;
      const auto counts = std::span(counts_.front()).subspan(bin_at(pair_class, rank), ColumnBins::num);
      widths.push_back(
          static_cast<float>(bins[pair_class].quantile(counts, 0.75) - bins[pair_class].quantile(counts, 0.25)));
    }
    double& spread = effects_.classes[pair_class].spread;
    spread = std::fmin(spread, deviations * median_of(std::move(widths)));
  }
}

/// Everybody needs everybody's effect as a sender.
void Fit::share_rows(std::size_t pair_class) {
  Effects::OfClass& one = effects_.classes[pair_class];
  for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
    if (is_here_[rank] == 0 || one.num_out[rank] == 0) one.out[rank] = 0;
  }
  add_up(rows_, std::span(one.out));
  for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
    if (one.num_out[rank] == 0) one.out[rank] = not_a_number;
  }
}

/// What sound senders or sound receivers have in common belongs to the class.
void Fit::centre(std::size_t pair_class) {
  Effects::OfClass& one = effects_.classes[pair_class];
  const auto cut = [&](const Reference& reference) {
    return are_apart(pair_class) ? std::numeric_limits<double>::infinity() : reference.cut;
  };
  // Rows and columns as they are show the same once each.
  const double share = is_first_sweep_ && !are_apart(pair_class) ? 0.5 : 1;
  const auto of_ends = [&](std::vector<float>& effects, std::vector<std::uint8_t>& is_slow) {
    const Reference reference = lowest_cluster({effects.begin(), effects.end()}, least_spread);
    one.centre += share * reference.middle.median;
    for (std::size_t rank = 0; rank < effects.size(); ++rank) {
      is_slow[rank] = static_cast<double>(effects[rank]) > cut(reference) ? 1 : 0;  // not what has no pair
      effects[rank] -= static_cast<float>(reference.middle.median);
    }
  };
  of_ends(one.out, slow_[pair_class].out);
  of_ends(one.in, slow_[pair_class].in);
  const auto& part_of = parts_[pair_class].of_sender;
  std::vector<std::uint8_t>& is_slow = slow_[pair_class].out;
  std::vector<std::uint8_t> has_sound(is_slow.size(), 0);  // by part
  for (std::size_t rank = 0; rank < is_slow.size(); ++rank) {
    if (is_slow[rank] == 0 && one.num_out[rank] > 0) has_sound[part_of[rank]] = 1;
  }
  for (std::size_t rank = 0; rank < is_slow.size(); ++rank) {
    if (is_slow[rank] != 0 && has_sound[part_of[rank]] == 0) is_slow[rank] = beside_slow;
  }
}

/// Where ranks meet only some others, nothing but the sum of what senders and receivers show is known. Where these are
/// the same ranks, most show as much as both; else the lowest clusters do. Of parts of one size.
void Fit::balance(std::size_t pair_class, PartSize size) {
  Effects::OfClass& one = effects_.classes[pair_class];
  if (PairClasses::is_inside(pair_class) || one.num == 0) return;
  const PairClasses::Parts& parts = parts_[pair_class];
  std::map<std::uint32_t, std::vector<double>> out, in, beyond;  // by part
  for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
    const std::uint32_t part = parts.of_sender[rank];
    const auto as_sender = static_cast<double>(one.out[rank]), as_receiver = static_cast<double>(one.in[rank]);
    out[part].push_back(as_sender);
    in[parts.of_receiver[rank]].push_back(as_receiver);
    if (parts.of_receiver[rank] == part) beyond[part].push_back(as_sender - as_receiver);
  }
  std::map<std::uint32_t, float> shift;
  for (auto& [part, effects] : out) {
    if ((effects.size() < fewest_to_balance) != (size == PartSize::small)) continue;
    if (beyond[part].size() == effects.size()) {
      const Middle middle = middle_of(std::move(beyond[part]));
      shift[part] = static_cast<float>(middle.num > 0 ? middle.median / 2 : 0);
      continue;
    }
    const Middle of_out = lowest_cluster(std::move(effects), least_spread).middle;
    const Middle of_in = lowest_cluster(std::move(in[part]), least_spread).middle;
    if (of_out.num > 0 && of_in.num > 0) shift[part] = static_cast<float>((of_out.median - of_in.median) / 2);
  }
  for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
    one.out[rank] -= shift[parts.of_sender[rank]];
    one.in[rank] += shift[parts.of_receiver[rank]];
  }
}

/// Which of the three fits pairs of two slow ends best, by the sum of their absolute residuals, each of at most 1.
void Fit::choose_compositions() {
  constexpr std::array all{Composition::product, Composition::maximum, Composition::sum};
  using Sums = std::array<double, all.size()>;
  std::vector<std::vector<Sums>> found(rows_.num_workers(), std::vector<Sums>(classes_.size(), Sums{}));
  rows_.visit([&](std::size_t worker, const Row& row) {
    Scratch& scratch = scratch_[worker];
    classes_of(classes_, row, scratch.classes);
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = row.partner(index);
      const std::size_t pair_class = fitted_class(scratch.classes[index]);
      const Effects::OfClass& one = effects_.classes[pair_class];
      if (slow_[pair_class].out[row.from] == 0 || slow_[pair_class].in[to] == 0) continue;
      if (to == row.from || std::isnan(row.values[index])) continue;
      const float value = off_distance(row.values[index], scratch.classes[index]) - static_cast<float>(one.centre);
      for (std::size_t which = 0; which < all.size(); ++which) {
        const float rest = std::fabs(value - composed(all[which], one.out[row.from], one.in[to]));
        found[worker][pair_class][which] += static_cast<double>(std::fmin(rest, 1));
      }
    }
  });
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    Sums sums{};
    for (const auto& of_worker : found)
      std::ranges::transform(sums, of_worker[pair_class], sums.begin(), std::plus<>());
    add_up(rows_, std::span<double>(sums));
    effects_.classes[pair_class].composition =
        all[static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin())];
  }
}

void Fit::sweep() {
  std::vector<ColumnBins> bins;
  for (const Effects::OfClass& one : effects_.classes) bins.emplace_back(std::fmax(one.spread, least_spread));
  const std::size_t num_counts = bin_at(classes_.size(), 0);
  counts_.resize(num_counts * scratch_.size() > most_counts_apart ? 1 : scratch_.size());
  for (Counts& counts : counts_) counts.assign(num_counts, 0);
  rows_.visit([&](std::size_t worker, const Row& row) { sweep_row(worker, row, bins); });
  take_columns(bins);
  narrow(bins);
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    share_rows(pair_class);
    balance(pair_class, PartSize::large);
    centre(pair_class);
  }
  is_first_sweep_ = false;
}

/// Where the network is no tree, slow cables are found by themselves (slow_paths.hpp), and an end is as slow near as it
/// is far. To few partners of a class its ends would fit as they please; ranks of a host are one partner.
bool Fit::has_small_classes() const {
  if (!classes_.is_without_levels() || classes_.num_between() < 2) return false;
  const double ranks_a_host = static_cast<double>(rows_.num_ranks()) / static_cast<double>(classes_.num_hosts());
  return std::ranges::any_of(std::span(effects_.classes).subspan(PairClasses::first_between), [&](const auto& one) {
    return one.num > 0 &&
           static_cast<double>(2 * one.num) < fewest_of_class * ranks_a_host * static_cast<double>(one.num_fitted);
  });
}

std::size_t Fit::fitted_class(std::size_t pair_class) const {
  return effects_.are_ends_joined && !PairClasses::is_inside(pair_class) ? PairClasses::first_between : pair_class;
}

/// What the pair would take in the first class between hosts.
float Fit::off_distance(float value, std::size_t pair_class) const {
  const double nearest = low_[fitted_class(pair_class)], farther = low_[pair_class] - nearest;
  return static_cast<float>(nearest + beyond_way(static_cast<double>(value) - low_[pair_class], -farther));
}

/// All pairs between hosts into one class, but for what distances take.
void Fit::join_classes() {
  apart_ = effects_.classes;
  effects_.are_ends_joined = true;
  Effects::OfClass& joined = effects_.classes[PairClasses::first_between];
  if (joined.num == 0) {
    const auto nearest = std::ranges::find_if(apart_.begin() + PairClasses::first_between, apart_.end(),
                                              [](const Effects::OfClass& one) { return one.num > 0; });
    low_[PairClasses::first_between] = low_[static_cast<std::size_t>(nearest - apart_.begin())];
  }
  joined.centre = low_[PairClasses::first_between];
  for (std::size_t pair_class = PairClasses::first_between + 1; pair_class < classes_.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    if (one.num == 0) continue;
    joined.num += one.num;
    joined.spread = std::fmax(joined.spread, one.spread);
    std::ranges::transform(joined.num_out, one.num_out, joined.num_out.begin(), std::plus<>());
    std::ranges::transform(joined.num_in, one.num_in, joined.num_in.begin(), std::plus<>());
    one.num = 0;
    std::ranges::fill(one.num_out, 0U);
    std::ranges::fill(one.num_in, 0U);
  }
  for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
    joined.out[rank] = joined.num_out[rank] > 0 ? 0 : not_a_number;
    joined.in[rank] = joined.num_in[rank] > 0 ? 0 : not_a_number;
  }
  joined.num_fitted = num_ends_of(joined);
}

/// Each class gets what was fitted to all of them.
void Fit::part_classes() {
  if (!effects_.are_ends_joined) return;
  const Effects::OfClass joined = effects_.classes[PairClasses::first_between];
  for (std::size_t pair_class = PairClasses::first_between; pair_class < classes_.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    one = apart_[pair_class];
    if (one.num == 0) continue;
    one.centre = joined.centre + low_[pair_class] - low_[PairClasses::first_between];
    one.composition = joined.composition;
    one.num_fitted = joined.num_fitted * one.num / joined.num;
    const auto here = [&](float effect) {
      return static_cast<float>(
          beyond_way(static_cast<double>(effect), low_[pair_class] - low_[PairClasses::first_between]));
    };
    for (std::uint32_t rank = 0; rank < rows_.num_ranks(); ++rank) {
      if (one.num_out[rank] > 0) one.out[rank] = here(joined.out[rank]);
      if (one.num_in[rank] > 0) one.in[rank] = here(joined.in[rank]);
    }
  }
}

/// What pairs of all classes between hosts scatter by, where their ends are joined.
void Fit::join_spread() {
  LogHistogram all;
  std::uint64_t num_fitted = 0;
  for (const Effects::OfClass& one : std::span(effects_.classes).subspan(PairClasses::first_between)) {
    all.add(one.residuals);
    num_fitted += one.num_fitted;
  }
  const double spread = all.spread(num_fitted);
  const std::uint64_t num = all.num();
  for (Effects::OfClass& one : std::span(effects_.classes).subspan(PairClasses::first_between)) {
    one.spread = spread;
    one.num_free = num - std::min(num, num_fitted);
  }
}

/// The residuals as they are at the end.
void Fit::finish() {
  auto residuals = histograms([&](const Row& row, Scratch& scratch) {
    residuals_of(effects_, classes_, row, scratch.classes, scratch.residuals);
  });
  for (std::size_t pair_class = 0; pair_class < residuals.size(); ++pair_class) {
    Effects::OfClass& one = effects_.classes[pair_class];
    const double middle = residuals[pair_class].quantile(0.5);
    one.spread = residuals[pair_class].spread(one.num_fitted);
    one.num_free = one.num - std::min(one.num, one.num_fitted);
    if (one.step > largest_certain_step && one.num > one.num_fitted) {
      // Large steps of which no pair is off by chance are no clock's.
      const auto num_off = static_cast<double>(residuals[pair_class].num_from(middle + one.step / 2));
      if (num_off < least_off_by_step * static_cast<double>(one.num)) one.step = 0;
    }
    one.centre += std::isnan(middle) ? 0 : middle;
    one.residuals = std::move(residuals[pair_class]);
    one.residual_zero = std::isnan(middle) ? 0 : middle;
  }
  if (effects_.are_ends_joined) join_spread();
  // Where the ends explain every pair none can be off, so other classes tell.
  const bool is_clock = std::ranges::any_of(
      effects_.classes, [](const Effects::OfClass& one) { return one.num > one.num_fitted && one.step > 0; });
  for (Effects::OfClass& one : effects_.classes) {
    if (one.step > largest_certain_step && one.num <= one.num_fitted && !is_clock) one.step = 0;
    one.spread = std::fmax(one.spread, one.step / 2);
  }
}

/// Which pairs go into the sweeps.
void Fit::draw() {
  constexpr double all = 4294967295.0;
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) {
    const double of_end = static_cast<double>(effects_.classes[pair_class].num) / rows_.num_ranks();
    highest_lot_[pair_class] = static_cast<std::uint32_t>(all * std::fmin(1, most_of_end / std::fmax(of_end, 1)));
  }
}

Effects Fit::run() {
  find_centres();
  effects_.share = share_;
  if (has_small_classes()) join_classes();
  draw();
  for (int number = 0; number < num_sweeps; ++number) sweep();
  for (std::size_t pair_class = 0; pair_class < classes_.size(); ++pair_class) balance(pair_class, PartSize::small);
  choose_compositions();
  part_classes();
  finish();
  return std::move(effects_);
}

}  // namespace

void classes_of(const PairClasses& classes, const Row& row, std::vector<std::uint8_t>& classes_of_values) {
  classes_of_values.resize(row.values.size());
  if (row.partners.empty()) {
    classes.of_row(row.from, classes_of_values);
  } else {
    classes.of_partners(row.from, row.partners, classes_of_values);
  }
}

void residuals_of(const Effects& effects, const PairClasses& classes, const Row& row,
                  std::vector<std::uint8_t>& classes_of_values, std::vector<float>& residuals) {
  classes_of(classes, row, classes_of_values);
  struct OfRow {
    Composition composition = Composition::product;
    float centre = 0, out = 0;
    const float* in = nullptr;
  };
  std::array<OfRow, PairClasses::most_classes> of_row;
  for (std::size_t pair_class = 0; pair_class < effects.classes.size(); ++pair_class) {
    const Effects::OfClass& one = effects.classes[pair_class];
    of_row[pair_class] = {one.composition, static_cast<float>(one.centre), one.out[row.from], one.in.data()};
  }
  residuals.resize(row.values.size());
  for (std::size_t index = 0; index < residuals.size(); ++index) {
    const std::uint32_t to = row.partner(index);
    const OfRow& own = of_row[classes_of_values[index]];
    residuals[index] =
        to == row.from ? not_a_number : row.values[index] - own.centre - composed(own.composition, own.out, own.in[to]);
  }
}

std::uint32_t num_fitted_to(const Effects& effects, std::size_t pair_class, std::uint32_t rank,
                            FaultDirection direction) {
  const auto num_in_class = [&](std::size_t one) {
    const Effects::OfClass& of_class = effects.classes[one];
    return direction == FaultDirection::out ? of_class.num_out[rank] : of_class.num_in[rank];
  };
  if (!effects.are_ends_joined || PairClasses::is_inside(pair_class)) return num_in_class(pair_class);
  std::uint32_t num = 0;
  for (std::size_t one = PairClasses::first_between; one < effects.classes.size(); ++one) num += num_in_class(one);
  return num;
}

Effects fit(const Rows& rows, const PairClasses& classes, double share) { return Fit(rows, classes, share).run(); }

}  // namespace leadline::diagnosis
