// SPDX-License-Identifier: Apache-2.0
// Who writes what and when into a SION result.
#include "bench/link/sion_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/link/json.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "result/collective.hpp"
#include "result/sion/container/encoding.hpp"

namespace leadline::bench::link {

namespace {

/// Where a file has the name it was given when it was made; the nonce stands there until all have seen it.
constexpr std::uint64_t prefix_offset = result::sion::fixed_header_bytes - result::sion::prefix_bytes;

template <typename Value>
std::string_view one(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

void SionOutput::Times::add(const Times& more) {
  if (more.num == 0) return;
  min_s = num == 0 ? more.min_s : std::min(min_s, more.min_s);
  max_s = num == 0 ? more.max_s : std::max(max_s, more.max_s);
  sum_s += more.sum_s;
  num += more.num;
}

result::sion::LinkTestTimes SionOutput::Times::summary() const {
  return {min_s, max_s, num == 0 ? 0 : sum_s / static_cast<double>(num)};
}

SionOutput::SionOutput(cluster::Cluster& cluster, const LinkResult& so_far, const LinkFileSetup& setup,
                       std::string path)
    : cluster_(cluster),
      setup_(setup),
      request_(so_far.request),
      path_(std::move(path)),
      header_(header_of(so_far, "")),
      plan_(shape_of(header_, setup.sion_record), 0) {
  header_.num_ranks = cluster.size();
  header_.network = setup.network;
  header_.has_rounds = static_cast<bool>(setup_.rounds);
  plan_ = SionFilePlan(shape_of(header_, setup_.sion_record), 0);
  create();
}

void SionOutput::create() {
  std::optional<result::OutputFile> created;
  result::NonceLocation nonce;
  result::all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0) return;
    const InFileCall in_call(cluster_.progress_counter().file_call, "creating", path_, {},
                             FileCallKind::many_short_calls);
    header_.nonce = result::random_nonce();
    nonce = {header_.nonce, prefix_offset};
    result::StagedFile staged(path_, setup_.existing);
    created = staged.create();
    try {
      created->write_at(0, result::sion::encode_meta1(plan_.layout(header_.nonce)));
    } catch (const Error& error) {
      throw staged.named(error);
    }
    staged.commit();
    created->moved_to(path_);
  });
  file_ = result::SharedFile::open(cluster_, path_, std::move(created), nonce, setup_.row_path);
}

void SionOutput::lay_out(std::size_t num_repeats) {
  header_.repeats.assign(num_repeats, {});
  kept_.assign(num_repeats, {});
  result::all_or_error(cluster_, [&] {
    // Only rank 0 knows the texts, and only it needs to know where they end.
    const std::uint64_t run_part_bytes = cluster_.rank() == 0 && is_extended() ? encode_run_part(header_).size() : 0;
    plan_ = SionFilePlan(shape_of(header_, setup_.sion_record), run_part_bytes);
    if (cluster_.rank() == 0) write_meta1(result::sion::prefix_for(path_));
  });
  write_known();
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::created) status_ = Status::running;
}

void SionOutput::write_meta1(const std::string& prefix) const {
  const result::sion::Layout layout = plan_.layout(prefix);
  file().write_at(0, result::sion::encode_meta1(layout));
  // Up to here holes, so that who reads the unfinished file finds all records.
  file().truncate(static_cast<std::uint64_t>(layout.meta2_offset));
}

std::string SionOutput::record_head(int rank, const std::string& host, const result::sion::LinkTestRun& run) const {
  // The head does not depend on the number of ranks.
  result::sion::LinkTestRecord record;
  record.host_name = host;
  record.location = {rank, 0, 0, 0};
  if (rank == 0) record.run = run;
  record.time_s = {0};
  record.step = {0};
  if (run.has_all_to_all) record.all_to_all_time_s = {0};
  const std::string whole = result::sion::encode_linktest_record(record, {1, rank, run.has_all_to_all});
  return whole.substr(0, plan_.offsets().record_head_bytes(static_cast<std::uint64_t>(rank)));
}

result::sion::LinkTestRun SionOutput::known_run() const {
  result::sion::LinkTestRun run;
  run.num_iterations = static_cast<std::int32_t>(request_.num_messages);
  run.message_size_bytes = static_cast<std::int32_t>(request_.message_sizes_bytes.front());
  run.has_all_to_all = plan_.offsets().shape().has_all_to_all;
  run.is_serial = request_.serial;
  run.is_permuted = request_.shuffle_ranks > 0;
  return run;
}

/// Each rank its own head, rank 0 also what belongs to the run.
void SionOutput::write_known() {
  const auto rank = static_cast<std::uint64_t>(cluster_.rank());
  std::optional<Error> error;
  const std::string head = record_head(cluster_.rank(), setup_.placement.host, known_run());
  // Rank 0's is longer than the others', so that it goes by itself.
  constexpr std::size_t common_bytes = 289;
  file_->put([&](int any_rank) { return plan_.chunk(static_cast<std::uint64_t>(any_rank)); },
             head.substr(0, common_bytes), error);
  if (is_extended()) {
    const std::string rank_head = encode_rank_head(plan_.offsets().shape(), rank, setup_.placement);
    file_->put([&](int any_rank) { return plan_.payload(static_cast<std::uint64_t>(any_rank)); }, rank_head, error);
    const std::string envelope = plan_.envelope(rank);
    file_->put([&](int any_rank) { return plan_.extension(static_cast<std::uint64_t>(any_rank)); }, envelope, error);
  }
  cluster_.agree(error ? &*error : nullptr);
  result::all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0) return;
    file().write_at(plan_.chunk(0), head);
    for (const cluster::LostRank& lost : cluster_.lost_ranks()) write_head_of_lost(lost.rank);
    if (!is_extended()) return;
    const auto last = static_cast<std::uint64_t>(cluster_.size() - 1);
    file().write_at(plan_.extension(last), plan_.envelope(last));
    file().write_at(plan_.run_part(), encode_run_part(header_));
    write_permutations();
  });
}

/// Rank 0, of a rank that never came.
void SionOutput::write_head_of_lost(int lost) const {
  const auto rank = static_cast<std::uint64_t>(lost);
  RankPlacement placement;
  placement.host = cluster_.host_name(lost);
  file().write_at(plan_.chunk(rank), record_head(lost, placement.host, known_run()));
  if (!is_extended()) return;
  file().write_at(plan_.payload(rank), encode_rank_head(plan_.offsets().shape(), rank, placement));
  file().write_at(plan_.extension(rank), plan_.envelope(rank));
}

void SionOutput::write_permutations() const {
  for (int index = 0; index < header_.num_permutations; ++index) {
    const std::vector<std::int32_t> seats = setup_.permutation(index);
    if (static_cast<std::int64_t>(seats.size()) != header_.num_ranks) {
      throw result::write_error(path_, "a permutation is not one of all ranks");
    }
    const std::uint64_t offset = plan_.offsets().permutations() + static_cast<std::uint64_t>(index) * sizeof seats[0];
    for (std::size_t seat = 0; seat < seats.size(); ++seat)
      file().write_at(plan_.payload(seat) + offset, one(seats[seat]));
  }
}

void SionOutput::begin_repeat(std::size_t index, const KeptRepeat& repeat) {
  Kept& kept = kept_.at(index);
  const bool has_other_rounds = !kept.repeat || kept.repeat->permutation != repeat.permutation;
  kept.has_older_rows = kept.repeat.has_value();
  kept.repeat = repeat;
  header_.repeats.at(index) = repeat;

  std::optional<Error> error;
  if (is_extended()) {
    const std::uint64_t offset = plan_.offsets().repeat(index);
    file_->put([&](int rank) { return plan_.payload(static_cast<std::uint64_t>(rank)) + offset; }, one(repeat), error);
  }
  if (header_.has_rounds && has_other_rounds) {
    const std::vector<std::int32_t> rounds = setup_.rounds(cluster_.rank(), repeat.repeat);
    const auto in_extension = [&](int rank) {
      return plan_.payload(static_cast<std::uint64_t>(rank)) + plan_.offsets().rounds(index);
    };
    const auto in_record = [&](int any_rank) {
      const auto rank = static_cast<std::uint64_t>(any_rank);
      return plan_.chunk(rank) + plan_.offsets().record_steps(rank);
    };
    if (is_extended()) file_->put(in_extension, result::bytes_of(rounds), error);
    if (index == 0) file_->put(in_record, result::bytes_of(rounds), error);
    for (std::size_t i = 0; cluster_.rank() == 0 && i < cluster_.lost_ranks().size(); ++i) {
      const int lost = cluster_.lost_ranks()[i].rank;
      const std::vector<std::int32_t> of_lost = setup_.rounds(lost, repeat.repeat);
      if (is_extended()) file_->put_for_lost(in_extension(lost), result::bytes_of(of_lost), error);
      if (index == 0) file_->put_for_lost(in_record(lost), result::bytes_of(of_lost), error);
    }
  }
  cluster_.agree(error ? &*error : nullptr);
}

/// The partners that were measured since the last write. Where an older repeat's values lie, the first write is whole.
std::vector<result::Piece> SionOutput::new_pieces(std::size_t index, const Slice& slice, const PairRow& row) {
  const auto num_ranks = static_cast<std::uint32_t>(row.size());
  const bool is_first = slice.repeat != slice_.repeat || slice.size_index != slice_.size_index;
  if (is_first) {
    slice_ = slice;
    is_written_.assign(num_ranks, false);
  }
  const bool is_whole = is_first && kept_.at(index).has_older_rows;
  std::vector<result::Piece> pieces;
  for (std::uint32_t partner = 0; partner < num_ranks; ++partner) {
    if (row[&PairRecord::count][partner] == 0 || is_written_[partner]) continue;
    is_written_[partner] = true;
    if (!pieces.empty() && pieces.back().end == partner) {
      ++pieces.back().end;
    } else {
      pieces.push_back({partner, partner + 1});
    }
  }
  return is_whole ? std::vector<result::Piece>{{0, num_ranks}} : pieces;
}

void SionOutput::write(std::size_t index, const Slice& slice, const PairRow& row) {
  const std::vector<result::Piece> pieces = new_pieces(index, slice, row);
  const auto size_index = static_cast<std::uint64_t>(slice.size_index);
  std::optional<Error> error;
  const auto put_row = [&](std::uint64_t offset, const auto& values) {
    file_->put_pieces([&](int rank) { return plan_.payload(static_cast<std::uint64_t>(rank)) + offset; },
                      result::bytes_of(values), sizeof values[0], pieces, error);
  };
  if (is_extended()) {
    const SionOffsets& offsets = plan_.offsets();
    put_row(offsets.count(index, size_index), row[&PairRecord::count]);
    for (std::size_t i = 0; i < sion_times.size(); ++i) {
      put_row(offsets.times(index, size_index, i), row[sion_times.at(i)]);
    }
  }
  if (is_in_record(index, slice)) {
    own_times_ = {};
    std::vector<double> times_s(row.size());
    for (std::size_t partner = 0; partner < times_s.size(); ++partner) {
      if (row[&PairRecord::count][partner] == 0) continue;
      times_s[partner] = seconds_of_ns(row[&PairRecord::time_ns_mean][partner]);
      own_times_.add(times_s[partner]);
    }
    const auto offset_of = [&](int any_rank) {
      const auto rank = static_cast<std::uint64_t>(any_rank);
      return plan_.chunk(rank) + plan_.offsets().record_times(rank);
    };
    file_->put_pieces(offset_of, result::bytes_of(times_s), sizeof(double), pieces, error);
  }
  if (error) throw *error;
}

void SionOutput::write_all_to_all(std::size_t index, const Slice& slice, std::span<const double> time_ns) {
  if (header_.num_all_to_all_slots == 0) return;
  std::optional<Error> error;
  if (is_extended()) {
    std::vector<double> slots(time_ns.begin(), time_ns.end());
    slots.resize(static_cast<std::size_t>(header_.num_all_to_all_slots));
    const std::uint64_t offset = plan_.offsets().all_to_all(index, static_cast<std::uint64_t>(slice.size_index));
    file_->put([&](int rank) { return plan_.payload(static_cast<std::uint64_t>(rank)) + offset; },
               result::bytes_of(slots), error);
  }
  if (is_in_record(index, slice)) {
    own_all_to_all_ = {};
    std::vector<double> steps_s(static_cast<std::size_t>(header_.num_ranks));
    for (std::size_t step = 1; step < std::min(steps_s.size(), time_ns.size() + 1); ++step) {
      steps_s[step] = seconds_of_ns(time_ns[step - 1]);
      if (steps_s[step] > 0) own_all_to_all_.add(steps_s[step]);
    }
    const auto offset_of = [&](int any_rank) {
      const auto rank = static_cast<std::uint64_t>(any_rank);
      return plan_.chunk(rank) + plan_.offsets().record_all_to_all(rank);
    };
    file_->put(offset_of, result::bytes_of(steps_s), error);
  }
  if (error) throw *error;
}

void SionOutput::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(status_mutex_);
    if (status_ == Status::finished || file_->file() == nullptr) return;
    const bool has_run_part = status_ != Status::created && is_extended();
    status_ = Status::failed;
    header_.incomplete_reason = reason;
    if (has_run_part) {
      const std::uint64_t offset = plan_.run_part() + run_reason_offset;
      const std::string unknown = result::padded(result::reason_from_the_start, run_reason_bytes);
      if (file().read_at(offset, run_reason_bytes) == unknown)
        file().write_at(offset, result::padded(reason, run_reason_bytes));
    }
    file().leave_copy_under_name();
  } catch (const Error& error) {
    result::tell_not_kept(error, reason);
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr; what the file said before remains true.
  }
}

SionOutput::Times SionOutput::over_all_ranks(const Times& own) {
  const std::string all =
      cluster_.all_reduce(result::as_bytes(std::span(&own, 1)), [](const std::string& left, std::string_view right) {
        Times sum = result::from_bytes<Times>(left).at(0);
        sum.add(result::from_bytes<Times>(right).at(0));
        return result::as_bytes(std::span<const Times>(&sum, 1));
      });
  return result::from_bytes<Times>(all).at(0);
}

void SionOutput::finish(const LinkResult& result) {
  result::sion::LinkTestRun run = known_run();
  run.times = over_all_ranks(own_times_).summary();
  run.all_to_all_times = over_all_ranks(own_all_to_all_).summary();
  file_->sync_others();
  result::all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0) return;
    const InFileCall in_call(cluster_.progress_counter().file_call, "completing", path_, {}, FileCallKind::many_calls);
    mark_end(result, run);
  });
}

void SionOutput::mark_end(const LinkResult& result, const result::sion::LinkTestRun& run) {
  write_record_end(result, run);
  const std::lock_guard lock(status_mutex_);
  if (status_ == Status::failed) return;
  header_.complete = result.complete;
  header_.incomplete_reason = result.complete ? "" : result.incomplete_reason;
  if (is_extended()) {
    header_.end_utc = result.provenance.end_utc;
    header_.retests = retests_of(result);
    header_.second_measurements = second_measurements_of(result);
    const auto is_not_kept = [&](const auto& one) {
      return std::none_of(header_.repeats.begin(), header_.repeats.end(),
                          [&](const KeptRepeat& kept) { return kept.repeat == one.repeat; });
    };
    std::erase_if(*header_.retests, is_not_kept);
    std::erase_if(*header_.second_measurements, is_not_kept);
    header_.summary = json_text(result);
    const std::string run_part = encode_run_part(header_);
    file().write_at(plan_.run_part(), run_part);
    plan_ = SionFilePlan(plan_.offsets().shape(), run_part.size());
    write_meta1(result::sion::prefix_for(path_));
    const auto last = static_cast<std::uint64_t>(cluster_.size() - 1);
    file().write_at(plan_.extension(last), plan_.envelope(last));
  }
  status_ = Status::finished;
  if (result.complete) close_container();
  file().sync();
  file().restore_name();
  file().close();
}

/// The mark comes last: a file that has it is complete on the disk, too.
void SionOutput::close_container() const {
  const result::sion::Layout layout = plan_.layout("");
  file().write_at(static_cast<std::uint64_t>(layout.meta2_offset), result::sion::encode_meta2(layout));
  file().sync();
  file().write_at(static_cast<std::uint64_t>(result::sion::end_mark_offset(header_.num_ranks)),
                  result::sion::encode_end_mark(layout));
}

void SionOutput::write_record_end(const LinkResult& result, const result::sion::LinkTestRun& run) const {
  file().write_at(plan_.chunk(0), record_head(0, setup_.placement.host, run));
  const auto is_in_record = [&](const SliceSummary& summary) {
    return summary.slice.repeat == header_.repeats.front().repeat && summary.slice.size_index == 0;
  };
  const auto slice = std::find_if(result.slices.begin(), result.slices.end(), is_in_record);
  if (slice == result.slices.end()) return;

  const std::size_t num_pairs = std::min(slice->slowest.size(), static_cast<std::size_t>(header_.num_ranks));
  std::vector<double> times_s, first_times_s;
  std::vector<std::int32_t> from, to;
  for (const SlowPair& pair : std::span(slice->slowest).first(num_pairs)) {
    times_s.push_back(seconds_of_ns(pair.retest_time_ns));
    first_times_s.push_back(seconds_of_ns(pair.time_ns));
    from.push_back(static_cast<std::int32_t>(pair.from));
    to.push_back(static_cast<std::int32_t>(pair.to));
  }
  const SionOffsets& offsets = plan_.offsets();
  file().write_at(plan_.chunk(0) + offsets.record_retest_times(), result::bytes_of(times_s));
  file().write_at(plan_.chunk(0) + offsets.record_retest_first_times(), result::bytes_of(first_times_s));
  file().write_at(plan_.chunk(0) + offsets.record_retest_from(), result::bytes_of(from));
  file().write_at(plan_.chunk(0) + offsets.record_retest_to(), result::bytes_of(to));
}

namespace {

constexpr std::string_view ending = ".sion";

std::string with_number(const std::string& path, int repeat) {
  const bool has_ending = path.ends_with(ending);
  const std::string stem = has_ending ? path.substr(0, path.size() - ending.size()) : path;
  return fmt::format("{}_i{:03}{}", stem, repeat + 1, has_ending ? ending : "");
}

}  // namespace

SionStore::SionStore(cluster::Cluster& cluster, LinkResult so_far, LinkFileSetup setup)
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
  const std::string known = result::text_of_root(cluster_, [&] {
    if (setup_.permutation_of_repeat) {
      for (KeptRepeat& kept : repeats) kept.permutation = setup_.permutation_of_repeat(kept.repeat);
    }
    return result::as_bytes<KeptRepeat>(repeats);
  });
  repeats = result::from_bytes<KeptRepeat>(known);
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

}  // namespace leadline::bench::link
