// SPDX-License-Identifier: Apache-2.0
// The steps of a phase in order, and which of them are timed.
#include "bench/io/phase.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "bench/io/buffers.hpp"
#include "bench/io/common_start.hpp"
#include "bench/io/direct_loop.hpp"
#include "bench/io/funnel_io_rank.hpp"
#include "bench/io/funnel_reader.hpp"
#include "bench/io/funnel_sender.hpp"
#include "bench/io/funnel_writer.hpp"
#include "bench/io/metadata_loop.hpp"
#include "bench/io/mixed_loop.hpp"
#include "bench/io/queued_loop.hpp"
#include "bench/io/summary.hpp"
#include "bench/io/untimed_files.hpp"
#include "bench/reductions.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

Pace::Work work_of(const Stage& stage, const PhaseTask& task, const Share& share) {
  const schedule::FileLayout& layout = stage.plan.layout;
  const std::uint64_t num_contributors = layout.total_objects() / layout.shape().num_objects;
  const std::uint64_t of_object = is_metadata(task.position.operation) ? 1 : stage.request.object_size_bytes;
  return {task.position, task.num_objects * std::max<std::uint64_t>(share.owners.size(), 1),
          num_contributors * task.num_objects * of_object};
}

Passes passes_of(const Stage& stage, const PhaseTask& task, const Share& share) {
  const std::int32_t owner = share.owners.empty() ? stage.cluster.rank() : share.owners.front();
  return {schedule::ObjectOrder(stage.plan.num_objects, stage.request.random_seed, owner),
          {task.num_objects, stage.plan.num_objects, task.num_written}};
}

std::size_t max_started(const Stage& stage) {
  if (stage.request.queue_depth > 1) return static_cast<std::size_t>(stage.request.queue_depth);
  if (stage.request.calls == storage::FileCalls::blocking) return 1;
  return schedule::is_funnel(stage.request.movement) ? most_started(stage.request, stage.plan)
                                                     : ring_depth(stage.request);
}

/// Of this process so far, by write or by read calls, as the kernel counts them; 0 where it does not tell.
std::uint64_t bytes_of_system_calls(IoOperation operation) {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  while (counts >> name >> bytes) {
    if (name == (operation == IoOperation::write ? "wchar:" : "rchar:")) return bytes;
  }
  return 0;
}

/// Without the share of the ramp.
std::uint64_t counted_part(std::uint64_t bytes, const RankPhase& row) {
  if (row.ramp_bytes == 0) return bytes;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * static_cast<double>(row.bytes) /
                                    static_cast<double>(row.bytes + row.ramp_bytes));
}

/// Beyond, the first ones stand for all.
constexpr std::size_t joint_calls_kept = 4096;

/// Whether all openers make each call together. Of calls that are only started nobody knows when they are over.
bool has_joint_calls(const Stage& stage) {
  const IoRequest& request = stage.request;
  return request.collective && request.calls == storage::FileCalls::blocking && !request.no_file &&
         schedule::shares_files(request.movement) && stage.plan.layout.num_files() == 1;
}

std::int32_t owner_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank) {
  return makes_something(operation) ? rank : reads_for(plan, request, rank);
}

/// See Share::is_left_out.
class NoObjects final : public ObjectLoop {
 public:
  explicit NoObjects(PhaseWork& work) : work_(work) {}

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> /*stop_ns*/) override {
    if (has_equal_steps(work_)) greatest_number_of_steps(work_, 0);
    return range.end;
  }

 private:
  PhaseWork& work_;
};

}  // namespace

using AgreementTimer = Recorder::AgreementTimer;
using StateTimer = Recorder::StateTimer;

std::vector<std::int32_t> ranks_left_out(const Stage& stage, const LostPairs* lost_pairs) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < stage.plan.layout.num_ranks(); ++rank) {
    const std::int32_t opener = stage.plan.layout.opener_of(rank);
    const bool has_no_link = lost_pairs != nullptr && rank != opener && lost_pairs->is_lost(rank, opener);
    if (has_no_link || cluster::is_lost(stage.cluster.lost_ranks(), rank)) ranks.push_back(rank);
  }
  return ranks;
}

Phase::Phase(const Stage& stage, const PhaseTask& task, const FunnelLinks* links, LostPairs* lost_pairs,
             CurrentStep& current_step)
    : stage_(stage),
      task_(task),
      links_(links),
      lost_pairs_(lost_pairs),
      current_step_(current_step),
      share_(share_of(stage.request, stage.plan, task.position.operation, stage.cluster.rank(), task.left_out)),
      passes_(passes_of(stage, task, share_)),
      recorder_(stage.request.num_slow_calls, has_joint_calls(stage) ? joint_calls_kept : 0),
      contents_(stage.request, stage.plan.layout, task.writing),
      failure_(stage.cluster, stage.placement.host),
      pace_(work_of(stage, task, share_), recorder_, stage.cluster.progress_counter(), current_step, stage.progress) {
  recorder_.row().file = share_.file;
}

std::optional<Error> Phase::agreement() {
  try {
    stage_.cluster.agree(failure_.error());
    return std::nullopt;
  } catch (const Error& agreed) {
    return agreed;
  }
}

void Phase::run() {
  const Pace::Work work = work_of(stage_, task_, share_);
  current_step_.enter(static_cast<std::size_t>(task_.position.index), work.num_objects);
  stage_.cluster.tell_current_step();
  if (!make_ready()) return;
  make_contents_ready();
  if (stage_.progress != nullptr) stage_.progress->phase_begins(task_.position, work.bytes_total);
  stage_.cluster.barrier();
  if (share_.opens) failure_.guard([&] { stage_.backend.meet(share_.openers); });
  measure();
}

/// Untimed. Each file is truncated or removed by one rank before any rank opens it.
bool Phase::make_ready() {
  if (writes()) {
    if (share_.is_lowest_opener(stage_.cluster.rank())) {
      failure_.guard([&] {
        const InFileCall in_call(file_call(), task_.makes_file_anew ? "deleting" : "emptying", path());
        if (task_.makes_file_anew) {
          remove_file(path());
        } else {
          truncate_file(path());
        }
      });
    }
  } else if (stage_.request.between == BetweenPhases::drop && !stage_.request.no_file) {
    drop_caches();
  }
  agreed_ = agreement();
  if (is_metadata(task_.position.operation)) recorder_.row().cache_before = cache_state();
  return !agreed_;
}

/// Untimed: what the ring holds.
void Phase::make_contents_ready() {
  if (links_ != nullptr || share_.is_left_out || is_metadata(task_.position.operation) || mixes()) return;
  const std::uint64_t num_objects = stage_.request.time_based ? Passes::endless : task_.num_objects;
  const ObjectRing::Task task{task_.position.operation, share_.owners.front(), num_objects, passes_};
  ring_.emplace(contents_, stage_.buffers, task, recorder_, stage_.contents_worker);
}

/// Untimed, behind the phase.
void Phase::check_what_is_left() {
  if (ring_) ring_->settle();
  RankPhase& row = recorder_.row();
  row.num_mismatches = contents_.num_mismatches();
  row.making_ns = contents_.making_ns();
  row.checking_ns = contents_.checking_ns();
}

/// Writers first, since only they can sync what their hosts still cache; then readers.
void Phase::drop_caches() {
  if (stage_.progress != nullptr) stage_.progress->waits("dropping caches");
  const int rank = stage_.cluster.rank();
  const auto drop = [&](const Share& share) {
    if (!share.opens || !is_lowest_on_host(share.openers, rank, stage_.cluster.host_of())) return;
    const std::string& file = stage_.files[static_cast<std::size_t>(share.file)];
    failure_.guard([&] {
      const InFileCall in_call(file_call(), "syncing and dropping from the page cache", file);
      storage::drop_from_cache(file);
    });
  };
  const Share written = share_of(stage_.request, stage_.plan, IoOperation::write, rank, task_.left_out);
  drop(written);
  stage_.cluster.barrier();
  if (written.openers != share_.openers || written.file != share_.file) drop(share_);
}

storage::CacheState Phase::cache_state() const {
  storage::CacheState nothing_there;
  nothing_there.is_known = share_.file >= 0;
  if (!share_.opens) return nothing_there;
  // Which of them a time limit has left is known to the ranks whose they are alone.
  if (stage_.request.random_seed > 0 && task_.num_objects < stage_.plan.num_objects) return {};
  const InFileCall in_call(file_call(), "looking at the page cache of", path());
  return storage::cache_state(path(), stretches_of(stage_.plan.layout, share_.owners, task_.num_objects));
}

void Phase::measure() {
  const std::uint64_t bytes_before = bytes_of_system_calls(task_.position.operation);
  const CommonStart start = await_common_start(stage_.cluster);
  clock_error_ns_ = static_cast<double>(start.error_ns);
  const auto ramp_ns = static_cast<std::uint64_t>(stage_.request.ramp_time_s * 1e9);
  recorder_.begin(start.at_ns, ramp_ns);
  if (mixes()) {
    reads_.emplace(stage_.request.num_slow_calls);
    reads_->begin(start.at_ns, ramp_ns);
    recorder_.count_with(*reads_);
  }
  current_step_.begin(recorder_.row());
  open();
  if (!is_metadata(task_.position.operation)) are_open();
  if (!agreed_) {
    preallocate();
    move();
    if (waits_in_sync()) meet();
    if (stage_.request.sync == SyncTiming::outside) recorder_.done();
    sync();
    if (stage_.request.sync != SyncTiming::outside) recorder_.done();
    meet();
  }
  close();
  recorder_.end(stage_.request.sync);
  current_step_.end(recorder_.row());
  if (has_joint_calls(stage_)) {
    const std::uint64_t bytes = bytes_of_system_calls(task_.position.operation) - bytes_before;
    recorder_.row().system_bytes = counted_part(bytes, recorder_.row());
  }
  check_what_is_left();
  const bool is_looked_at = changes_files() && stage_.request.sync == SyncTiming::outside;
  if (!is_looked_at) failure_.guard([&] { recorder_.row().cache_after = cache_state(); });
  find_storage_target();
  if (!agreed_) agreed_ = agreement();
  if (!agreed_) find_joint_time();
  if (agreed_ || links_ == nullptr) return;
  note_broken_links();
  agreed_ = agreement();
}

/// Collective, untimed. A rank that is slow leaves such a call after others, or comes late to the next one: what it
/// takes once the last one has come is its own.
void Phase::find_joint_time() {
  if (!has_joint_calls(stage_)) return;
  struct Most {
    std::uint64_t num_calls = 0;
    double clock_error_ns = 0;
  };
  const std::vector<JointCall>& calls = recorder_.joint_calls();
  const Most most =
      merged_over_ranks(stage_.cluster, Most{calls.size(), clock_error_ns_}, [](const Most& a, const Most& b) {
        return Most{std::max(a.num_calls, b.num_calls), std::max(a.clock_error_ns, b.clock_error_ns)};
      });
  std::vector<double> last_enter_ns(most.num_calls, 0);
  for (std::size_t i = 0; i < calls.size(); ++i) last_enter_ns[i] = calls[i].enter_ns;
  max_over_ranks(stage_.cluster, last_enter_ns);
  double own_ns = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    own_ns += std::max(calls[i].exit_ns - last_enter_ns[i] - most.clock_error_ns, 0.0);
  }
  RankPhase& row = recorder_.row();
  if (!calls.empty()) row.joint_ns = own_ns * static_cast<double>(row.num_calls) / static_cast<double>(calls.size());
}

/// Untimed, behind the phase: a file may have no storage before something is written.
void Phase::find_storage_target() {
  if (!share_.opens || agreed_) return;
  const InFileCall in_call(file_call(), "asking for the storage target of", path());
  recorder_.row().storage_target = storage::storage_target_of(path(), stage_.file_system);
}

/// Behind a collective, so that it is known which ranks are lost.
void Phase::note_broken_links() {
  for (const cluster::ConnectionLost& link : links_->messages.lost_links()) {
    if (cluster::is_lost(stage_.cluster.lost_ranks(), link.partner())) continue;
    if (lost_pairs_ == nullptr) {
      failure_.note(link);
    } else {
      lost_pairs_->add(link);
    }
  }
}

void Phase::open() {
  if (!share_.opens) return;
  const IoRequest& request = stage_.request;
  storage::OpenFile file;
  file.path = path();
  file.access = mixes() ? storage::Access::read_and_write : writes() ? storage::Access::write : storage::Access::read;
  file.cache_path = request.cache_path;
  file.openers = share_.openers;
  file.hints = request.hints;
  file.max_started = max_started(stage_);
  if (request.queue_depth > 1) file.completion = storage::Completion::any_order;
  failure_.guard([&] {
    const InFileCall in_call(file_call(), "opening", path(), {}, kind_of_openers());
    const StateTimer timer(recorder_, IoTime::open);
    file_ = stage_.backend.open(file);
  });
  if (!file_) return;
  if (request.queue_depth > 1) {
    queued_transfers_.emplace(*file_, path(), file.max_started, CallRecorders{recorder_, reads_ ? *reads_ : recorder_},
                              file_call());
    return;
  }
  TransferSetting setting{mixes() ? IoOperation::write : task_.position.operation,
                          request.calls,
                          request.collective,
                          request.timeout_s,
                          file.max_started,
                          changes_files() && request.sync == SyncTiming::each};
  failure_.guard([&] { transfers_.emplace(*file_, path(), setting, recorder_, file_call()); });
  if (!mixes()) return;
  setting.operation = IoOperation::read;
  setting.syncs_each = false;
  failure_.guard([&] { read_transfers_.emplace(*file_, path(), setting, *reads_, file_call()); });
}

/// Collective, once this rank's file is open: waits until all are. What a phase that reads wants to know of files takes
/// opening them, so that is done now: the open that is timed is the first one. The clock stands still meanwhile.
void Phase::are_open() {
  if (writes()) {
    const AgreementTimer timer(recorder_);
    agreed_ = agreement();
    return;
  }
  const std::uint64_t own_ns = recorder_.elapsed_ns();
  const std::uint64_t all_open_ns =
      merged_over_ranks(stage_.cluster, own_ns, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  if (task_.checks_layout) failure_.guard([&] { require_same_layout(stage_, share_, task_.writing); });
  if (!failure_.has_happened()) failure_.guard([&] { recorder_.row().cache_before = cache_state(); });
  agreed_ = agreement();
  if (agreed_) return;
  const CommonStart start = await_common_start(stage_.cluster);
  clock_error_ns_ = std::max(clock_error_ns_, static_cast<double>(start.error_ns));
  recorder_.go_on(start.at_ns, own_ns, all_open_ns);
  if (reads_) reads_->go_on(start.at_ns, own_ns, all_open_ns);
}

void Phase::preallocate() {
  if (!file_ || !writes() || stage_.request.preallocate_bytes == 0) return;
  failure_.guard([&] {
    const InFileCall in_call(file_call(), "preallocating", FileRange{}, kind_of_openers());
    const StateTimer timer(recorder_, IoTime::preallocate);
    file_->preallocate(stage_.request.preallocate_bytes);
  });
}

std::unique_ptr<ObjectLoop> Phase::make_loop(PhaseWork& work) {
  if (share_.is_left_out) return std::make_unique<NoObjects>(work);
  if (is_metadata(task_.position.operation)) {
    return std::make_unique<MetadataLoop>(work, path(), share_.owners.front());
  }
  if (queued_transfers_) {
    return std::make_unique<QueuedLoop>(work, *queued_transfers_, share_.owners.front(), ring_ ? &*ring_ : nullptr);
  }
  if (mixes()) return std::make_unique<MixedLoop>(work, *read_transfers_, share_.owners.front());
  if (links_ == nullptr) return std::make_unique<DirectLoop>(work, share_.owners.front(), *ring_);
  if (!stage_.plan.layout.is_opener(work.rank())) return std::make_unique<FunnelSender>(work, links_->messages);
  if (writes()) return std::make_unique<FunnelWriter>(work, *links_);
  return std::make_unique<FunnelReader>(work, *links_);
}

void Phase::move() {
  PhaseWork work{stage_, task_.position, task_.left_out, recorder_, contents_, failure_, pace_, passes_};
  if (transfers_) work.transfers = &*transfers_;
  const std::unique_ptr<ObjectLoop> loop = make_loop(work);
  moved_ = move_objects(work, *loop, task_.num_objects);
  if (reads_) {
    written_ = recorder_.row();
    read_ = reads_->row();
    recorder_.add(*reads_);
  }
  if (!file_) return;
  const AgreementTimer timer(recorder_);
  failure_.guard([&] {
    const InFileCall in_call(file_call(), "asking for the hints of");
    hints_ = file_->hints();
    if (writes()) file_->expect_close();
  });
}

/// A sync outside the reported time is not timed, nor is the query of the cache before it, which shows what was on
/// storage at the end of that time.
void Phase::sync() {
  const SyncTiming when = stage_.request.sync;
  if (!file_ || !changes_files() || when == SyncTiming::none || when == SyncTiming::each) return;
  const StateTimer timer(recorder_, IoTime::sync);
  failure_.guard([&] {
    if (stage_.request.sync == SyncTiming::outside) recorder_.row().cache_after = cache_state();
  });
  failure_.guard([&] {
    const InFileCall in_call(file_call(), "syncing", FileRange{}, kind_of_openers());
    file_->sync();
  });
}

/// An MPI library syncs when all openers have come, which may have much left to write. No single call waits for that.
bool Phase::waits_in_sync() const {
  return writes() && stage_.request.sync != SyncTiming::none && stage_.request.backend != "posix";
}

/// Untimed: closing a shared file waits for its other openers, which may still verify contents; that is not I/O time.
void Phase::meet() {
  if (!schedule::shares_files(stage_.request.movement) || stage_.request.no_file || stage_.request.metadata) return;
  const AgreementTimer timer(recorder_);
  stage_.cluster.barrier();
}

void Phase::close() {
  if (!file_) return;
  transfers_.reset();
  read_transfers_.reset();
  queued_transfers_.reset();
  failure_.guard([&] {
    const InFileCall in_call(file_call(), "closing", path(), {}, kind_of_openers());
    const StateTimer timer(recorder_, IoTime::close);
    file_->close();
  });
  file_.reset();
}

CurrentFileCall& Phase::file_call() const { return stage_.cluster.progress_counter().file_call; }

/// Of an MPI library's calls on the file as a whole, which all openers make.
FileCallKind Phase::kind_of_openers() const {
  const bool is_joint = stage_.request.backend != "posix" && share_.openers.size() > 1;
  return is_joint ? FileCallKind::joint_call : FileCallKind::one_call;
}

/// Of metadata: which item, rather than where in a file.
std::vector<SlowCall> Phase::slow_calls() const {
  std::vector<SlowCall> calls = recorder_.slow_calls();
  if (!is_metadata(task_.position.operation) || share_.owners.empty()) return calls;
  ItemPath item(path(), task_.position.operation, share_.owners.front());
  for (SlowCall& call : calls) call.file = item.of(std::exchange(call.offset_bytes, 0));
  return calls;
}

PhaseSummary Phase::summarize() const {
  const PhaseContext context{stage_.request, stage_.file_system, stage_.placement.host,          stage_.files,
                             slow_calls(),   contents_.wrong(),  agreed_ ? agreed_->what() : "", moved_.stop_ns,
                             &read_,         &written_};
  return summarize_phase(stage_.cluster, task_.position, recorder_.row(), context);
}

Share share_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank,
               std::span<const std::int32_t> left_out) {
  const schedule::FileLayout& layout = plan.layout;
  const auto is_left_out = [&](std::int32_t one) { return std::ranges::binary_search(left_out, one); };
  Share share;
  const std::int32_t owner = owner_of(request, plan, operation, rank);
  share.is_left_out = is_left_out(owner) || is_left_out(layout.opener_of(rank));
  if (share.is_left_out) return share;
  if (!request.no_file) share.file = layout.file_of(owner);
  if (!layout.is_opener(rank)) return share;
  share.owners = schedule::is_funnel(request.movement) ? layout.senders(rank) : std::vector<std::int32_t>{owner};
  std::erase_if(share.owners, is_left_out);
  if (request.no_file || is_metadata(operation)) return share;
  share.opens = true;
  for (int other = 0; other < layout.num_ranks(); ++other) {
    const bool opens_it = layout.is_opener(other) && !is_left_out(other) &&
                          layout.file_of(owner_of(request, plan, operation, other)) == share.file;
    if (opens_it) share.openers.push_back(other);
  }
  return share;
}

std::vector<storage::ByteRange> stretches_of(const schedule::FileLayout& layout,
                                             const std::vector<std::int32_t>& owners, std::uint64_t num_objects) {
  const std::uint64_t size_bytes = layout.shape().object_size_bytes;
  std::vector<storage::ByteRange> stretches;
  const auto add = [&](std::int32_t rank, std::uint64_t object, std::uint64_t num) {
    const std::uint64_t begin = layout.location(rank, object).offset_bytes;
    const bool goes_on = !stretches.empty() && stretches.back().offset_bytes + stretches.back().size_bytes == begin;
    if (goes_on) {
      stretches.back().size_bytes += num * size_bytes;
    } else {
      stretches.push_back({begin, num * size_bytes});
    }
  };
  if (num_objects == 0) return stretches;
  if (layout.shape().order == schedule::Order::segmented) {
    for (const std::int32_t rank : owners) add(rank, 0, num_objects);
    return stretches;
  }
  const std::uint64_t step = (num_objects - 1) / most_strided_stretches + 1;
  for (std::uint64_t object = 0; object < num_objects; object += step) {
    for (const std::int32_t rank : owners) add(rank, object, 1);
  }
  return stretches;
}

bool is_lowest_on_host(const std::vector<std::int32_t>& ranks, int rank, std::span<const std::uint32_t> host_of) {
  const auto host = [&](std::int32_t one) { return host_of[static_cast<std::size_t>(one)]; };
  const auto lowest =
      std::find_if(ranks.begin(), ranks.end(), [&](std::int32_t other) { return host(other) == host(rank); });
  return lowest != ranks.end() && *lowest == rank;
}

}  // namespace leadline::bench::io
