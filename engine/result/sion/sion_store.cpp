// SPDX-License-Identifier: Apache-2.0
// Which repeat's rows go to which SION file.
#include "result/sion/sion_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "result/collective.hpp"

namespace leadline::result {

namespace {

constexpr std::string_view ending = ".sion";

std::string with_number(const std::string& path, int repeat) {
  const bool has_ending = path.ends_with(ending);
  const std::string stem = has_ending ? path.substr(0, path.size() - ending.size()) : path;
  return fmt::format("{}_i{:03}{}", stem, repeat + 1, has_ending ? ending : "");
}

}  // namespace

SionStore::SionStore(cluster::Cluster& cluster, LinkResult so_far, LinkResultFileSetup setup)
    : cluster_(cluster), so_far_(std::move(so_far)), setup_(std::move(setup)), path_(cluster.broadcast(setup_.path)) {
  output_ = opened(0);
}

std::unique_ptr<SionOutput> SionStore::opened(int repeat) const {
  return std::make_unique<SionOutput>(cluster_, so_far_, setup_,
                                      is_one_file_each() ? with_number(path_, repeat) : path_);
}

void SionStore::reserve_repeats(int num_repeats) {
  const bool keeps_all = setup_.kept_repeats == KeptRepeats::all;
  if (num_reserved_ > 0) {
    if (!keeps_all || num_repeats <= num_reserved_) return;
    throw Error(ExitStatus::bad_command_line,
                fmt::format("SION file {} has no room for more than {} repeats", path_, num_reserved_),
                "its places are given before the first message", "Choose another --format");
  }
  num_reserved_ = num_repeats;
  const int num_kept = keeps_all ? num_repeats : 1;
  std::vector<KeptRepeat> repeats;
  for (int repeat = 0; repeat < num_kept; ++repeat) repeats.push_back({repeat, -1});
  const std::string known = text_of_root(cluster_, [&] {
    if (setup_.permutation_of_repeat) {
      for (KeptRepeat& kept : repeats) kept.permutation = setup_.permutation_of_repeat(kept.repeat);
    }
    return as_bytes<KeptRepeat>(repeats);
  });
  repeats = from_bytes<KeptRepeat>(known);
  output_->lay_out(repeats.size());
  for (std::size_t index = 0; index < repeats.size(); ++index) output_->begin_repeat(index, repeats[index]);
  repeat_ = 0;
}

/// The file that has this slice's rows, ready for them.
SionOutput& SionStore::output_of(const Slice& slice) {
  if (setup_.kept_repeats == KeptRepeats::all || slice.repeat == repeat_) return *output_;
  if (is_one_file_each()) {
    auto next = opened(slice.repeat);
    next->lay_out(1);
    const std::lock_guard lock(mutex_);
    output_ = std::move(next);
  }
  output_->begin_repeat(0, {slice.repeat, slice.permutation});
  repeat_ = slice.repeat;
  return *output_;
}

std::size_t SionStore::kept_index(int repeat) const {
  return setup_.kept_repeats == KeptRepeats::all ? static_cast<std::size_t>(repeat) : 0;
}

void SionStore::write(const Slice& slice, const PairRow& row) {
  output_of(slice).write(kept_index(slice.repeat), slice, row);
}

void SionStore::write_all_to_all(const Slice& slice, std::span<const double> time_ns) {
  output_of(slice).write_all_to_all(kept_index(slice.repeat), slice, time_ns);
}

void SionStore::close_slice(const SliceSummary& summary) {
  if (!is_one_file_each()) return;
  slices_of_repeat_.push_back(summary);
  if (slices_of_repeat_.size() < so_far_.request.message_sizes_bytes.size()) return;
  LinkResult result = so_far_;
  result.slices = std::exchange(slices_of_repeat_, {});
  result.provenance.end_utc = utc_now_iso8601();
  result.complete = true;
  output_->finish(result);
}

void SionStore::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    output_->mark_incomplete(reason);
  } catch (const std::exception&) {
    // As in the output: the reason goes to stderr, too.
  }
}

void SionStore::finish(const LinkResult& result) {
  if (!is_one_file_each()) output_->finish(result);
}

}  // namespace leadline::result
