// SPDX-License-Identifier: Apache-2.0
// The parallel file test's measuring stage: phase by phase, all ranks in step.
#include "bench/io/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/io/funnel.hpp"
#include "bench/io/metadata_directories.hpp"
#include "bench/io/pace.hpp"
#include "bench/io/phase.hpp"
#include "bench/io/summary.hpp"
#include "bench/io/untimed_files.hpp"
#include "bench/links.hpp"
#include "bench/lost_pairs.hpp"
#include "bench/reductions.hpp"
#include "core/file_call.hpp"
#include "core/units.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

/// The watch keeps its share of it beyond the end of measuring.
std::shared_ptr<CurrentStep> show_current_step(const Stage& stage) {
  std::vector<CurrentStep::Phase> phases;
  for (const PhasePosition& position : stage.plan.phases) {
    const Share share = share_of(stage.request, stage.plan, position.operation, stage.cluster.rank());
    phases.push_back({position.operation,
                      share.opens ? stage.files[static_cast<std::size_t>(share.file)] : std::string(),
                      stage.request.time_based});
  }
  auto current_step = std::make_shared<CurrentStep>(std::move(phases), stage.cluster.progress_counter().file_call);
  // Where others are in their files is known only from what they say of themselves.
  stage.cluster.set_current_step([current_step, own = stage.cluster.rank()](int rank) {
    return rank == own ? current_step->text() : std::string();
  });
  stage.cluster.set_partial_result([current_step] { return current_step->partial_result(); });
  return current_step;
}

/// Of a funnel: the I/O ranks that meet before each write, without those that are lost; empty where none do.
std::vector<std::int32_t> meeting_io_ranks(const Stage& stage) {
  if (!stage.request.barrier || stage.request.no_file) return {};
  std::vector<std::int32_t> ranks = stage.plan.layout.io_ranks().ranks;
  std::erase_if(ranks, [&](std::int32_t rank) { return cluster::is_lost(stage.cluster.lost_ranks(), rank); });
  return ranks;
}

/// Whom this rank of a funnel exchanges messages with, ascending. `lost_pairs`: null where no link may be lost.
std::vector<std::int32_t> partners_of(const Stage& stage, const LostPairs* lost_pairs) {
  const schedule::FileLayout& layout = stage.plan.layout;
  const int rank = stage.cluster.rank();
  std::vector<std::int32_t> partners;
  if (!layout.is_opener(rank)) {
    partners = {layout.opener_of(rank)};
  } else {
    partners = layout.senders(rank);
    const auto others = OpenerBarrier::partners(meeting_io_ranks(stage), rank);
    partners.insert(partners.end(), others.begin(), others.end());
  }
  std::erase(partners, rank);
  std::erase_if(partners, [&](std::int32_t partner) {
    return cluster::is_lost(stage.cluster.lost_ranks(), partner) ||
           (lost_pairs != nullptr && lost_pairs->is_lost(partner));
  });
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  return partners;
}

/// A partner may be lost meanwhile, or not be reached.
void open_links_to_partners(const Stage& stage, LostPairs* lost_pairs) {
  const int rank = stage.cluster.rank();
  const std::vector<std::int32_t> partners = in_hashed_order(partners_of(stage, lost_pairs), rank);
  if (lost_pairs == nullptr) {
    open_links(stage.cluster, stage.transport, partners, stage.request.timeout_s);
    return stage.cluster.barrier();
  }
  lost_pairs->open(partners);
  for (const std::int32_t partner : lost_pairs->settle()) stage.transport.drop_link(partner);
}

/// Where an I/O rank is lost meanwhile, others are partners in the barriers of the rest.
std::unique_ptr<transport::Messages> open_messages(const Stage& stage, LostPairs* lost_pairs) {
  const int rank = stage.cluster.rank();
  std::size_t num_lost = 0;
  do {
    num_lost = stage.cluster.lost_ranks().size();
    open_links_to_partners(stage, lost_pairs);
  } while (stage.cluster.lost_ranks().size() > num_lost);
  Failure failure(stage.cluster, stage.placement.host);
  std::unique_ptr<transport::Messages> messages;
  failure.guard([&] {
    messages = stage.transport.messages(partners_of(stage, lost_pairs), num_tickets(stage.request, stage.plan, rank));
  });
  agree(stage.cluster, failure.error());
  return messages;
}

/// About the worst of a phase's wrong objects.
Error wrong_object(const PhaseSummary& summary, const IoRequest& request) {
  std::string problem = "objects that were read are not as they were written";
  if (!summary.wrong.empty()) {
    const WrongObject& wrong = summary.wrong.front();
    const memory::ObjectKey& key = wrong.mismatch.expected;
    problem = fmt::format("rank {} on {} read {}: object {} of rank {} (at byte {}, wrong from byte {}) is {}",
                          wrong.read_by, wrong.host, wrong.file, key.object, key.rank, key.offset_bytes,
                          key.offset_bytes + wrong.mismatch.first_byte, memory::words_of(wrong.mismatch));
  }
  const std::uint64_t num_more = summary.num_mismatches - 1;
  std::string why;
  if (num_more > 0) why = fmt::format("{} more object{} wrong", num_more, num_more == 1 ? " is" : "s are");
  const char* const first = request.operations == IoOperations::read
                                ? "See that the sizes, counts and names are those of the run that wrote the files. "
                                : "";
  return Error(ExitStatus::run_failed, problem, why,
               std::string(first) + "Do not trust this storage before it is known where its data went wrong");
}

/// Messages over links of which some may be lost; those are given up when no message uses them any more.
class OpenLinks {
 public:
  OpenLinks(const Stage& stage, LostPairs* lost_pairs)
      : transport_(stage.transport),
        messages_(open_messages(stage, lost_pairs)),
        links_{*messages_, partners_of(stage, lost_pairs), meeting_io_ranks(stage)} {}
  OpenLinks(const OpenLinks&) = delete;
  OpenLinks& operator=(const OpenLinks&) = delete;
  ~OpenLinks() {
    const auto lost = messages_->lost_links();
    const std::vector<cluster::ConnectionLost> links(lost.begin(), lost.end());
    messages_.reset();
    for (const cluster::ConnectionLost& link : links) transport_.drop_link(link.partner());
  }

  const FunnelLinks& links() const { return links_; }

 private:
  transport::Transport& transport_;
  std::unique_ptr<transport::Messages> messages_;
  FunnelLinks links_;
};

class Measuring {
 public:
  /// `lost_pairs`: null where the run ends when a rank or a link is lost.
  Measuring(const Stage& stage, CurrentStep& current_step, LostPairs* lost_pairs, Measured& measured)
      : stage_(stage), current_step_(current_step), lost_pairs_(lost_pairs), measured_(measured) {
    measured_.run = stage.run;
  }

  void run();

 private:
  bool only_reads() const { return stage_.request.operations == IoOperations::read; }
  void open_links();
  void find_earlier_run();
  bool is_new_file() const;
  void pause_before(const PhasePosition& position);
  PhaseTask task_of(const PhasePosition& position) const;
  void note_written(const Moved& moved);
  void run_phase(const PhasePosition& position);
  void settle_lost_links(PhaseSummary& summary);
  void note_losses();
  void keep(const Phase& phase, const PhaseSummary& summary);
  void delete_files();
  void run_phases();

  const Stage& stage_;
  CurrentStep& current_step_;
  LostPairs* lost_pairs_;
  std::optional<OpenLinks> open_links_;  ///< of a funnel
  std::uint32_t earlier_generation_ = 0;
  /// Objects in this repetition: of each rank the same, or with --time-based by rank, as often as they were written.
  std::optional<std::uint64_t> num_written_;
  std::vector<std::uint64_t> num_written_by_;
  bool has_hints_ = false;
  bool creates_file_ = false;  ///< that this rank is the lowest to open, and that was not there before the run
  Measured& measured_;
};

/// Anew where an I/O rank was lost that others met in barriers: they meet other ones now.
void Measuring::open_links() {
  if (!schedule::is_funnel(stage_.request.movement)) return;
  if (open_links_ && open_links_->links().meeting_io_ranks == meeting_io_ranks(stage_)) return;
  open_links_.reset();
  open_links_.emplace(stage_, lost_pairs_);
}

void Measuring::find_earlier_run() {
  const Writing found =
      writing_of_earlier_run(stage_.request, stage_.plan, stage_.files, stage_.cluster, {stage_.run, 0});
  measured_.run = found.run;
  earlier_generation_ = found.generation;
}

bool Measuring::is_new_file() const {
  const Share share = share_of(stage_.request, stage_.plan, IoOperation::write, stage_.cluster.rank(),
                               ranks_left_out(stage_, lost_pairs_));
  if (!share.is_lowest_opener(stage_.cluster.rank())) return false;
  const std::string& path = stage_.files[static_cast<std::size_t>(share.file)];
  const InFileCall in_call(stage_.cluster.progress_counter().file_call, "looking at", path);
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
}

/// In steps: a rank that sleeps is not stuck.
void Measuring::pause_before(const PhasePosition& position) {
  const bool is_between = position.operation == IoOperation::read && !only_reads();
  if (!is_between || stage_.request.sleep_s <= 0) return;
  if (stage_.progress != nullptr) {
    stage_.progress->waits(fmt::format("sleeping {} s before reading", stage_.request.sleep_s));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(stage_.request.sleep_s);
  for (auto now = std::chrono::steady_clock::now(); now < end; now = std::chrono::steady_clock::now()) {
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(end - now, std::chrono::milliseconds(100)));
    stage_.cluster.progress_counter().advance();
  }
}

PhaseTask Measuring::task_of(const PhasePosition& position) const {
  PhaseTask task;
  task.position = position;
  task.num_objects = stage_.plan.num_objects;
  if (!makes_something(position.operation)) {
    if (num_written_) task.num_objects = *num_written_;
    task.num_written = task.num_objects;
    if (!num_written_by_.empty()) {
      const std::int32_t owner = reads_for(stage_.plan, stage_.request, stage_.cluster.rank());
      task.num_written = num_written_by_[static_cast<std::size_t>(owner)];
      task.num_objects = std::min(task.num_written, stage_.plan.num_objects);
    }
  }
  task.writing = {measured_.run, only_reads() ? earlier_generation_ : static_cast<std::uint32_t>(position.repeat)};
  task.left_out = ranks_left_out(stage_, lost_pairs_);
  task.checks_layout = only_reads() && position.index == 0;
  task.makes_file_anew = stage_.request.new_files || (creates_file_ && position.repeat > 0);
  return task;
}

/// Collective.
void Measuring::note_written(const Moved& moved) {
  num_written_ = moved.num_objects;
  if (!stage_.request.time_based) return;
  num_written_by_.assign(static_cast<std::size_t>(stage_.cluster.size()), 0);
  num_written_by_[static_cast<std::size_t>(stage_.cluster.rank())] = moved.num_own;
  sum_over_ranks(stage_.cluster, num_written_by_);
}

void Measuring::run_phase(const PhasePosition& position) {
  pause_before(position);
  const std::size_t num_lost_before = stage_.cluster.lost_ranks().size();
  open_links();
  Phase phase(stage_, task_of(position), open_links_ ? &open_links_->links() : nullptr, lost_pairs_, current_step_);
  phase.run();
  PhaseSummary summary = phase.summarize();
  if (const auto lost = stage_.cluster.lost_ranks().subspan(num_lost_before); !lost.empty()) {
    make_incomplete(summary, lost.front().why);
  }
  settle_lost_links(summary);
  note_losses();
  keep(phase, summary);
  if (phase.error() != nullptr) throw AgreedError(*phase.error());
  if (summary.num_mismatches > 0) throw AgreedError(wrong_object(summary, stage_.request));
  measured_.verified_bytes += phase.verified_bytes();
  if (makes_something(position.operation)) note_written(phase.moved());
  if (makes_something(position.operation) || only_reads()) measured_.num_objects = phase.moved().num_objects;
  if (has_hints_) return;
  measured_.hints = hints_in_force(stage_, phase.hints());
  has_hints_ = true;
}

/// The error that ended the phase is reported rather than one of storing its rows.
void Measuring::keep(const Phase& phase, const PhaseSummary& summary) {
  measured_.phases.push_back(summary);
  try {
    write_and_agree(
        stage_.cluster, [&] { stage_.store.write(summary.position, phase.row(), summary); }, std::nullopt);
  } catch (const AgreedError&) {
    if (phase.error() == nullptr) throw;
  }
  if (stage_.progress != nullptr && phase.was_measured()) stage_.progress->phase_ends(summary);
}

/// Of a funnel: senders that do not reach their I/O rank any more are left out from now on.
void Measuring::settle_lost_links(PhaseSummary& summary) {
  if (!open_links_ || lost_pairs_ == nullptr) return;
  const std::size_t num_before = lost_pairs_->losses().pairs.size();
  lost_pairs_->settle();
  const auto name_of = [&](std::int32_t rank) {
    return fmt::format("rank {} on {}", rank, stage_.cluster.host_name(rank));
  };
  for (const LostPair& pair : std::span(lost_pairs_->losses().pairs).subspan(num_before)) {
    if (!summary.is_complete) return;
    make_incomplete(
        summary, fmt::format("{} and {} have lost their link ({})", name_of(pair.low), name_of(pair.high), pair.why));
  }
}

void Measuring::note_losses() {
  if (lost_pairs_ != nullptr) {
    lost_pairs_->note_lost_ranks();
    measured_.losses = lost_pairs_->losses();
    return;
  }
  const auto lost = stage_.cluster.lost_ranks();
  measured_.losses.ranks.assign(lost.begin(), lost.end());
}

/// The root deletes those that lost ranks alone had open.
void Measuring::delete_files() {
  if (!stage_.request.delete_files && !stage_.request.metadata) return;
  current_step_.enter(CurrentStep::Between::deleting_files);
  const int own_rank = stage_.cluster.rank();
  const bool have_own_files = !stage_.request.no_file && !schedule::shares_files(stage_.request.movement);
  Failure failure(stage_.cluster, stage_.placement.host);
  const auto remove = [&](std::int32_t index) {
    const std::string& file = stage_.files[static_cast<std::size_t>(index)];
    failure.guard([&] {
      if (stage_.request.metadata) return remove_tree(stage_, file);
      const InFileCall in_call(stage_.cluster.progress_counter().file_call, "deleting", file);
      remove_file(file);
    });
  };
  cluster::repeat_for_new_root(stage_.cluster, [&](int root) {
    const auto lost = stage_.cluster.lost_ranks();
    const Share share =
        share_of(stage_.request, stage_.plan, IoOperation::write, own_rank, ranks_left_out(stage_, lost_pairs_));
    if (share.is_lowest_opener(own_rank)) remove(share.file);
    for (const cluster::LostRank& one : lost) {
      if (own_rank == root && have_own_files) remove(stage_.plan.layout.file_of(one.rank));
    }
    agree(stage_.cluster, failure.error());
  });
}

/// Of metadata nothing is left behind an error either. All ranks are through with the phase that had it.
void Measuring::run_phases() {
  try {
    for (const PhasePosition& position : stage_.plan.phases) run_phase(position);
  } catch (const AgreedError&) {
    if (!stage_.request.metadata) throw;
    const int rank = stage_.cluster.rank();
    const Share share =
        share_of(stage_.request, stage_.plan, IoOperation::write, rank, ranks_left_out(stage_, lost_pairs_));
    Failure ignored(stage_.cluster, stage_.placement.host);
    if (share.is_lowest_opener(rank)) {
      ignored.guard([&] { remove_tree(stage_, stage_.files[static_cast<std::size_t>(share.file)]); });
    }
    throw;
  }
}

void Measuring::run() {
  open_links();
  current_step_.enter(CurrentStep::Between::checking_files);
  if (stage_.request.metadata) {
    make_directories(stage_);
  } else if (only_reads()) {
    find_earlier_run();
  } else {
    require_same_files(stage_);
    creates_file_ = stage_.request.repeat > 1 && is_new_file();
  }
  run_phases();
  delete_files();
  sum_over_ranks(stage_.cluster, std::span(&measured_.verified_bytes, 1));
  measured_.operations = summarize_operations(measured_.phases);
  note_losses();
}

/// No key and no value has such a character.
constexpr char separator = '\0';

std::string text_of(const storage::Hints& hints) {
  std::string text;
  for (const auto& [key, value] : hints) text += key + separator + value + separator;
  return text;
}

storage::Hints hints_of(std::string_view text) {
  const auto next = [&text] {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(word.size() + 1);
    return std::string(word);
  };
  storage::Hints hints;
  while (!text.empty()) {
    std::string key = next();
    hints.emplace_back(std::move(key), next());
  }
  return hints;
}

}  // namespace

void measure(const Stage& stage, Measured& measured) {
  const std::shared_ptr<CurrentStep> current_step = show_current_step(stage);
  std::optional<LostPairs> lost_pairs;
  bool goes_on = false;
  if (stage.request.backend == "posix") {  // an MPI file needs all its openers
    // Of a funnel's link a lost one takes all that its sender has, so it is given up later than in other tests.
    lost_pairs.emplace(stage.request, stage.cluster, stage.transport, stage.request.timeout_s);
    goes_on = lost_pairs->goes_on();
    if (goes_on && stage.store.any_rank_can_finish()) stage.cluster.go_on_without_root();
  } else if (const auto absent = stage.cluster.lost_ranks(); !absent.empty()) {
    throw AgreedError(Error(ExitStatus::run_failed, absent.front().why,
                            "ranks of this run call MPI together, and need all",
                            "Start it without that rank, or use POSIX calls"));
  }
  Measuring(stage, *current_step, goes_on ? &*lost_pairs : nullptr, measured).run();
}

std::vector<HintInForce> compare_hints(const storage::Hints& asked, const storage::Hints& granted, bool is_confirmed) {
  const auto value_of = [](const storage::Hints& hints, const std::string& key) {
    const auto found = std::find_if(hints.begin(), hints.end(), [&](const auto& hint) { return hint.first == key; });
    return found == hints.end() ? std::string() : found->second;
  };
  std::vector<HintInForce> result;
  const auto add = [&](const std::string& key) {
    const bool is_there = std::any_of(result.begin(), result.end(), [&](const auto& hint) { return hint.key == key; });
    if (is_there) return;
    HintInForce hint{key, value_of(asked, key), value_of(granted, key), false};
    hint.is_confirmed = is_confirmed && !hint.granted.empty();
    result.push_back(std::move(hint));
  };
  for (const auto& [key, value] : asked) add(key);
  for (const auto& [key, value] : granted) add(key);
  return result;
}

std::vector<HintInForce> hints_in_force(const Stage& stage, const std::optional<storage::Hints>& own) {
  cluster::Cluster& cluster = stage.cluster;
  const bool speaks = own && stage.plan.layout.io_ranks().ranks.front() == cluster.rank();
  const std::string text = cluster.all_reduce(
      speaks ? text_of(*own) : std::string(),
      [](std::string left, std::string_view right) { return left.empty() ? std::string(right) : left; });
  return compare_hints(stage.request.hints, hints_of(text), stage.backend.confirms_hints());
}

}  // namespace leadline::bench::io
