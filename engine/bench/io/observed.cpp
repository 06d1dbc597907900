// SPDX-License-Identifier: Apache-2.0
// Which phases are judged, and which of a rank's times are its own.
#include "bench/io/observed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "core/units.hpp"
#include "diagnosis/file_phases.hpp"
#include "result/file_kind.hpp"
#include "result/run_header.hpp"
#include "schedule/file_layout.hpp"

namespace leadline::bench::io {
namespace {

using result::option_text;

constexpr const char *short_of_cores = "oversubscribed", *lost_ranks = "ranks_lost";  // findings

std::string folder_of(const std::string& file) {
  const std::size_t end = file.rfind('/');
  return end == std::string::npos ? "." : file.substr(0, end);
}

bool shares_files(const Header& header) {
  for (const schedule::Movement movement : {schedule::Movement::n_n, schedule::Movement::n_m_m}) {
    if (header.movement == schedule::name_of(movement)) return false;
  }
  return true;
}

/// Whether ranks make calls together with others.
bool shares_calls(const Header& header) { return option_text(header, "collective") == "true" && shares_files(header); }

/// Without waiting for other ranks. A sync of a shared file writes what others have written, too: it counts for all of
/// them as long as the slowest one takes. Closing such a file waits for others.
class OwnTimes {
 public:
  OwnTimes(const Header& header, const std::vector<JudgedRow>& rows)
      : shares_files_(shares_files(header)),
        shares_calls_(shares_calls(header)),
        has_sync_(option_text(header, "sync") == name_of(SyncTiming::inside)),
        syncs_each_(option_text(header, "sync") == name_of(SyncTiming::each)) {
    if (!shares_files_ || !has_sync_) return;
    for (const JudgedRow& row : rows) {
      double& longest = sync_ns_[{row.phase, row.file}];
      longest = std::max(longest, row.sync_ns);
    }
  }

  double of(IoOperation operation, const JudgedRow& row) const {
    if (is_metadata(operation)) return row.open_ns + row.call_ns + row.sync_ns + row.close_ns;
    const double time_ns = (shares_calls_ ? row.joint_ns : row.call_ns + row.wait_ns) + (syncs_each_ ? row.sync_ns : 0);
    if (!shares_files_) return time_ns + row.close_ns + (has_sync_ ? row.sync_ns : 0);
    return has_sync_ ? time_ns + sync_ns_.at({row.phase, row.file}) : time_ns;
  }

 private:
  bool shares_files_, shares_calls_, has_sync_, syncs_each_;
  std::map<std::pair<std::int32_t, std::int32_t>, double> sync_ns_;  ///< by phase and file
};

/// What a rank's time is divided by.
std::uint64_t amount_of(IoOperation operation, const JudgedRow& row) {
  return is_metadata(operation) ? row.num_objects : row.bytes;
}

/// Of the run's own summary; a run that broke off has none.
JudgedFindings findings_kept(const Hdf5Reader& reader) {
  JudgedFindings judged;
  result::read_summary(reader.header().summary, reader.path(), "a parallel file test", [&](const Json& summary) {
    for (const Json& one : summary.at("findings").elements()) {
      const auto id = one.at("id").get<std::string>();
      if (id == short_of_cores) judged.is_short_of_cores = true;
      const Json* ranks = one.find("ranks");  // earlier files do not have them
      if (id == lost_ranks && ranks != nullptr) ranks->get_to(judged.lost_ranks);
    }
  });
  return judged;
}

/// Of collective calls the ranks that do the I/O of all, ascending; nothing where that is not known: the kernel does
/// not count their bytes, or counts those of messages, too.
std::optional<std::vector<int>> ranks_with_io(const std::vector<JudgedRow>& rows) {
  constexpr double least_of_bytes = 0.9, most_of_bytes = 1.5;  // that are moved, over those that belong to ranks
  constexpr double least_share = 0.1;                          // of what each would have where all do I/O
  std::map<int, double> of_ranks;
  double all_bytes = 0, all_system_bytes = 0;
  for (const JudgedRow& row : rows) {
    of_ranks[row.rank] += static_cast<double>(row.system_bytes);
    all_bytes += static_cast<double>(row.bytes);
    all_system_bytes += static_cast<double>(row.system_bytes);
  }
  if (all_system_bytes < least_of_bytes * all_bytes || all_system_bytes > most_of_bytes * all_bytes) return {};
  std::vector<int> ranks;
  for (const auto& [rank, bytes] : of_ranks) {
    if (bytes > least_share * all_system_bytes / static_cast<double>(of_ranks.size())) ranks.push_back(rank);
  }
  return ranks;
}

std::string why_untested(const Header& header, const std::vector<JudgedRow>& rows) {
  constexpr std::size_t fewest = 3;  // others cannot outvote one that is slow
  if (header.files.empty()) return "no files were written or read";
  const auto did_nothing = [](const JudgedRow& row) { return row.bytes == 0 && row.num_objects == 0; };
  if (std::ranges::all_of(rows, did_nothing)) return "what each rank did is not in the result";
  if (!shares_calls(header)) return "";
  if (std::ranges::none_of(rows, [](const JudgedRow& row) { return row.joint_ns > 0; })) {
    return "in collective calls every rank waits for all others, and when each came was not kept";
  }
  const std::optional<std::vector<int>> ranks = ranks_with_io(rows);
  if (!ranks) return "in collective calls every rank waits for all others, and who does the I/O is not known";
  if (ranks->size() >= fewest) return "";
  return fmt::format(
      "in these collective calls rank{} {} did the I/O of all: whether {} or the storage is slow, only independent "
      "calls tell",
      ranks->size() == 1 ? "" : "s", number_ranges(*ranks), ranks->size() == 1 ? "it" : "they");
}

/// All phases of an operation that can be judged, numbered anew.
diagnosis::FilePhases phases_of(IoOperation operation, const Header& header, const std::vector<JudgedPhase>& phases,
                                const std::vector<JudgedRow>& rows, const std::vector<std::int32_t>& lost) {
  diagnosis::FilePhases judged;
  judged.operation = name_of(operation);
  judged.object_size_bytes = header.object_size_bytes;
  std::vector<std::int32_t> number_of(phases.size(), -1);
  std::size_t num_cached = 0;
  for (std::size_t index = 0; index < std::min(phases.size(), most_judged_phases); ++index) {
    const JudgedPhase& phase = phases[index];
    if (phase.operation != operation || !phase.is_complete) continue;
    if (phase.source == name_of(ReadSource::cache) || phase.source == name_of(ReadSource::mixed)) {
      ++num_cached;
    } else {
      number_of[index] = static_cast<std::int32_t>(judged.num_phases++);
    }
  }
  if (num_cached > 0) {
    judged.notes.push_back(fmt::format(
        "{} {} that came from the page cache, all or in part, {} nothing of the storage and {} not judged", num_cached,
        num_cached == 1 ? "read" : "reads", num_cached == 1 ? "tells" : "tell", num_cached == 1 ? "is" : "are"));
  }
  if (!lost.empty()) {
    judged.notes.push_back(fmt::format("{} {} {} lost during the run, and {} not judged",
                                       lost.size() == 1 ? "rank" : "ranks", number_ranges(lost),
                                       lost.size() == 1 ? "was" : "were", lost.size() == 1 ? "is" : "are"));
  }
  std::vector<JudgedRow> of_present = rows;
  std::erase_if(of_present, [&](const JudgedRow& row) { return std::ranges::count(lost, row.rank) > 0; });
  std::erase_if(of_present, [&](const JudgedRow& row) {
    return amount_of(operation, row) == 0 || number_of[static_cast<std::size_t>(row.phase)] < 0;
  });
  std::vector<FileOfRank> files;
  for (const JudgedRow& row : of_present) files.push_back({row.file, row.storage_target});
  const TargetNames targets(header, files);
  judged.targets = targets.all();
  if (targets.are_striped()) {
    judged.notes.emplace_back(
        "files are striped over several storage targets each: which of these is slow cannot be told");
  }
  if (shares_calls(header)) {
    const std::vector<int> ranks = ranks_with_io(of_present).value_or(std::vector<int>());
    std::erase_if(of_present, [&](const JudgedRow& row) { return !std::ranges::binary_search(ranks, row.rank); });
    for (JudgedRow& row : of_present) row.bytes = row.system_bytes;
    judged.notes.emplace_back(
        "in collective calls the ranks are judged that do the I/O, by what they take once the last one has come");
  }
  const OwnTimes own(header, of_present);
  for (const JudgedRow& row : of_present) {
    diagnosis::FileRow& added = judged.rows.emplace_back();
    added.phase = static_cast<std::uint32_t>(number_of[static_cast<std::size_t>(row.phase)]);
    added.rank = static_cast<std::uint32_t>(row.rank);
    added.target = targets.index_of({row.file, row.storage_target});
    added.time_ns = own.of(operation, row);
    added.bytes = amount_of(operation, row);
  }
  std::ranges::sort(judged.rows, {}, [](const diagnosis::FileRow& row) { return std::pair(row.phase, row.rank); });
  return judged;
}

}  // namespace

TargetNames::TargetNames(const Header& header, const std::vector<FileOfRank>& files)
    : file_system_(header.file_system),
      are_known_(!files.empty() && std::ranges::all_of(files, [](const auto& one) { return one.storage_target >= 0; })),
      are_striped_(std::ranges::count(files, storage::several_targets, &FileOfRank::storage_target) > 0),
      by_file_(targets_of(header)) {
  if (are_known_) {
    for (const FileOfRank& one : files) all_.push_back(storage::storage_target_name(one.storage_target, file_system_));
  } else {
    all_ = by_file_;
  }
  std::ranges::sort(all_);
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
}

std::int32_t TargetNames::index_of(const FileOfRank& file) const {
  if (are_known_) return index_of_name(storage::storage_target_name(file.storage_target, file_system_));
  const bool has_name = file.file >= 0 && static_cast<std::size_t>(file.file) < by_file_.size();
  return has_name ? index_of_name(by_file_[static_cast<std::size_t>(file.file)]) : -1;
}

std::int32_t TargetNames::index_of_name(const std::string& name) const {
  return static_cast<std::int32_t>(std::ranges::lower_bound(all_, name) - all_.begin());
}

JudgedRow judged_row(std::int32_t rank, std::int32_t phase, const RankPhase& row) {
  return {rank,
          phase,
          row.file,
          row.storage_target,
          row.bytes,
          time_of<IoTime::call>(row),
          time_of<IoTime::wait>(row),
          time_of<IoTime::sync>(row),
          time_of<IoTime::close>(row),
          time_of<IoTime::open>(row),
          row.num_objects,
          row.joint_ns,
          row.system_bytes};
}

std::vector<std::string> targets_of(const Header& header) {
  std::vector<std::string> targets;
  std::set<std::string> folders;
  for (const std::string& file : header.files) {
    targets.push_back(folder_of(file));
    folders.insert(targets.back());
  }
  if (folders.size() > 1) return targets;
  if (targets.size() == static_cast<std::size_t>(header.num_ranks)) return {};
  return {header.files.begin(), header.files.end()};
}

JudgedFindings judged_findings(const std::vector<Finding>& findings) {
  JudgedFindings judged;
  for (const Finding& one : findings) {
    if (one.id == short_of_cores) judged.is_short_of_cores = true;
    if (one.id == lost_ranks) judged.lost_ranks = one.ranks;
  }
  return judged;
}

std::vector<DiagnosedSlice> diagnosed(const Header& header, const std::vector<JudgedPhase>& phases,
                                      const std::vector<JudgedRow>& rows, const JudgedFindings& findings,
                                      const diagnosis::Layout& layout, const DiagnosisSettings& settings) {
  std::vector<DiagnosedSlice> slices;
  for (const Named<IoOperation>& named : names_of(IoOperation{})) {
    const IoOperation operation = named.value;
    if (operation == IoOperation::mix) continue;  // how much of a rank's part is reading is its own chance
    const auto is_of = [&](const JudgedPhase& phase) { return phase.operation == operation && phase.is_complete; };
    if (std::ranges::none_of(phases, is_of)) continue;
    diagnosis::FilePhases judged = phases_of(operation, header, phases, rows, findings.lost_ranks);
    judged.is_short_of_cores = findings.is_short_of_cores;
    std::vector<JudgedRow> of_operation = rows;
    std::erase_if(of_operation,
                  [&](const JudgedRow& row) { return !is_of(phases[static_cast<std::size_t>(row.phase)]); });
    std::string why = why_untested(header, of_operation);
    if (why.empty() && judged.num_phases == 0)
      why = "all of it came from the page cache, which tells nothing of the storage";
    // Said once for all of them, rather than as a verdict on each.
    if (why.empty() && is_metadata(operation) && judged.num_phases < diagnosis::fewest_phases) {
      why = fmt::format("fewer than {} phases: --repeat {} and more tells", diagnosis::fewest_phases,
                        diagnosis::fewest_phases);
    }
    slices.push_back(why.empty() ? diagnosis::diagnosed_phases(judged, layout, settings)
                                 : diagnosis::untested_phases(judged, layout, settings, std::move(why)));
    slices.back().size_index = 0;
  }
  return slices;
}

std::vector<DiagnosedSlice> diagnosed(const Hdf5Reader& reader, const diagnosis::Layout& layout,
                                      const DiagnosisSettings& settings) {
  std::vector<JudgedPhase> phases;
  for (const KeptPhase& phase : kept_phases(reader)) {
    phases.push_back({phase.operation, phase.is_complete, phase.source.value_or("")});
  }
  std::vector<JudgedRow> rows;
  for (std::size_t phase = 0; phase < std::min(phases.size(), most_judged_phases); ++phase) {
    if (!phases[phase].is_complete) continue;
    const std::vector<JudgedRow> of_phase = reader.judged_rows(phase);
    rows.insert(rows.end(), of_phase.begin(), of_phase.end());
  }
  return diagnosed(reader.header(), phases, rows, findings_kept(reader), layout, settings);
}

}  // namespace leadline::bench::io
