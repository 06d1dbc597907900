// SPDX-License-Identifier: Apache-2.0
// Finds IOR's options and its table of results, by the names that it prints beside them (src/ior-output.c; before
// version 3.2 src/ior.c).
#include "bench/io/ior_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/text_lines.hpp"
#include "network/lines.hpp"
#include "result/file_kind.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::string_view title_of_ior = ": MPI Coordinated Test of Parallel I/O";
constexpr double bytes_of_kib = 1024, bytes_of_mib = 1 << 20;
constexpr double most_bytes_of_test = 0x1p62;

/// Half of the last digit that IOR prints of such a number.
double rounding_of(double number) { return number < 1 ? 5e-7 : number < 3600 ? 5e-3 : 0.5; }

std::size_t title_line(const std::vector<std::string_view>& lines) {
  const auto is_title = [](std::string_view line) {
    return trimmed(line).starts_with("IOR-") && contains(line, title_of_ior);
  };
  return static_cast<std::size_t>(std::ranges::find_if(lines, is_title) - lines.begin());
}

bool begins_table(const Words& words) {
  const auto is_rate = [](std::string_view word) { return word.starts_with("bw("); };
  return !words.empty() && words.front() == "access" && std::ranges::any_of(words, is_rate);
}

bool ends_table(const Words& words) {
  constexpr std::string_view beginnings[] = {"Max", "Summary", "Operation", "Finished"};
  return !words.empty() && (std::ranges::count(beginnings, words.front()) > 0 || begins_table(words));
}

/// The letters of IOR's options that a command line has. Words behind a letter that takes one are skipped.
std::set<char> letters_in(const Words& command_line) {
  constexpr std::string_view with_value = "AabDdfGiJjlMNoOQstTUX";
  std::set<char> letters;
  for (std::size_t index = 1; index < command_line.size(); ++index) {
    const std::string_view word = command_line[index];
    if (!word.starts_with('-') || word.starts_with("--")) continue;
    for (std::size_t at = 1; at < word.size(); ++at) {
      letters.insert(word[at]);
      if (!contains(with_value, word.substr(at, 1))) continue;
      const bool is_next = at + 1 == word.size() && index + 1 < command_line.size();
      if (is_next && !command_line[index + 1].starts_with('-')) ++index;
      break;
    }
  }
  return letters;
}

class IorParser {
 public:
  IorParser(const std::string& path, std::string_view text)
      : path_(path), lines_(lines_in(text)), ends_a_line_(text.ends_with('\n')), title_(title_line(lines_)) {
    for (table_ = title_; table_ < lines_.size() && !begins_table(words_in(lines_[table_]));) ++table_;
  }

  IorText read();

 private:
  [[noreturn]] void cannot(const std::string& why, const std::string& hint = {}) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot convert '{}'", path_), why, hint);
  }
  [[noreturn]] void cut_off(const std::string& what) const {
    throw Error(ExitStatus::run_failed, fmt::format("cannot convert '{}'", path_), "the text is cut off: " + what,
                "Give the whole output of IOR");
  }
  /// The first line from the title on that has this; empty = none.
  std::string_view line_with(std::string_view part) const {
    const auto found = std::find_if(lines_.begin() + static_cast<std::ptrdiff_t>(title_), lines_.end(),
                                    [&](std::string_view line) { return contains(line, part); });
    return found == lines_.end() ? std::string_view() : trimmed(*found);
  }
  [[noreturn]] void no_results(const std::string& what) const;
  std::string_view value_of(std::string_view key) const;
  std::uint64_t count_of(std::string_view key) const;
  std::optional<std::uint64_t> summed_up(std::string_view column) const;
  std::uint64_t size_of(std::string_view key, std::string_view column_of_summary, std::string_view column) const;
  std::size_t column(std::string_view name) const;
  double number_at(std::size_t line, std::string_view name) const;
  std::uint64_t num_segments() const;

  void check_table() const;
  void take_ranks(IorText& found) const;
  void take_layout(IoResult& result) const;
  void take_order(IorText& found) const;
  void take_command_line(IorText& found) const;
  void name_files(IoResult& result, const std::set<char>& letters) const;
  void take_phases(IorText& found) const;
  PhaseSummary phase_in(std::size_t line, const IoRequest& request, double expected_bytes) const;
  void take_end(IorText& found) const;

  const std::string& path_;
  std::vector<std::string_view> lines_;
  bool ends_a_line_;  ///< the text
  std::size_t title_, table_ = 0;
};

void IorParser::no_results(const std::string& what) const {
  const std::string_view error = line_with("ERROR");
  if (error.empty()) cut_off(what);
  throw Error(ExitStatus::run_failed, fmt::format("cannot convert '{}'", path_), fmt::format("IOR failed: {}", error),
              "Give the output of a run that measured something");
}

/// "key : value", since version 3.2; "key = value" before. Of the first test; empty = it is not there.
std::string_view IorParser::value_of(std::string_view key) const {
  for (std::size_t index = title_; index < table_; ++index) {
    const std::string_view line = trimmed(lines_[index]);
    if (!line.starts_with(key)) continue;
    const std::string_view rest = trimmed(line.substr(key.size()));
    if (rest.starts_with(':') || rest.starts_with('=')) return trimmed(rest.substr(1));
  }
  return {};
}

std::uint64_t IorParser::count_of(std::string_view key) const {
  const Words words = words_in(value_of(key));
  const auto number = words.empty() ? std::nullopt : number_in<std::uint64_t>(words.front());
  if (!number || *number == 0) cut_off(fmt::format("it does not say '{}'", key));
  return *number;
}

/// A number of the row below "Operation Max(MiB) ...", which the end of a text has; nothing where there is none.
std::optional<std::uint64_t> IorParser::summed_up(std::string_view column) const {
  for (std::size_t line = table_; line + 1 < lines_.size(); ++line) {
    const Words names = words_in(lines_[line]), values = words_in(lines_[line + 1]);
    if (names.empty() || names.front() != "Operation") continue;
    const auto at = static_cast<std::size_t>(std::ranges::find(names, column) - names.begin());
    return at < names.size() && values.size() == names.size() ? number_in<std::uint64_t>(values[at]) : std::nullopt;
  }
  return std::nullopt;
}

/// IOR rounds sizes in all places but its summary, where they are below 1 MiB ("47008 bytes"), and where they are whole
/// KiB.
std::uint64_t IorParser::size_of(std::string_view key, std::string_view column_of_summary,
                                 std::string_view column) const {
  if (const auto size = summed_up(column_of_summary)) return *size;
  const Words words = words_in(value_of(key));
  const bool is_in_bytes = words.size() == 2 && words.back() == "bytes";
  if (const auto size = is_in_bytes ? number_in<std::uint64_t>(words.front()) : std::nullopt) return *size;
  for (std::size_t line = table_ + 1; line < lines_.size(); ++line) {
    const Words row = words_in(lines_[line]);
    if (row.empty() || (row.front() != "write" && row.front() != "read")) continue;
    return static_cast<std::uint64_t>(std::llround(bytes_of_kib * std::min(number_at(line, column), 1e15)));
  }
  no_results("its table has no row");
}

std::size_t IorParser::column(std::string_view name) const {
  const Words names = words_in(lines_[table_]);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    cannot(fmt::format("the table in line {} has no column {}", table_ + 1, name),
           "It reads the tables of IOR 3.0 to 4.0");
  }
  return static_cast<std::size_t>(found - names.begin());
}

double IorParser::number_at(std::size_t line, std::string_view name) const {
  const Words row = words_in(lines_[line]);
  const std::size_t at = column(name), num = words_in(lines_[table_]).size();
  if (line + 1 == lines_.size() && !ends_a_line_) cut_off(fmt::format("line {}, its last one, has no end", line + 1));
  if (row.size() != num) cut_off(fmt::format("line {} has {} of {} columns", line + 1, row.size(), num));
  const auto number = number_in<double>(row[at]);
  if (!number || !std::isfinite(*number) || *number < 0) {
    cut_off(fmt::format("line {} has '{}' for {}", line + 1, row[at], name));
  }
  return *number;
}

/// Before version 3.2 only the summary tells.
std::uint64_t IorParser::num_segments() const {
  if (!value_of("segments").empty()) return count_of("segments");
  const auto number = summed_up("segcnt");
  if (!number || *number == 0) cut_off("it does not say how many segments there were");
  return *number;
}

void IorParser::check_table() const {
  if (table_ == lines_.size()) no_results("it has no table of results");
  for (const char* const name : {"bw(MiB/s)", "block(KiB)", "xfer(KiB)", "total(s)", "iter"}) column(name);
  if (!value_of("dryRun").empty()) cannot("it is of a dry run, which moves nothing");
}

/// "tasks : 4" and "clients per node : 2" since version 3.2; "clients = 4 (2 per node)" before.
void IorParser::take_ranks(IorText& found) const {
  constexpr std::uint64_t most_ranks = 1 << 20;
  const bool is_old = value_of("tasks").empty();
  const std::uint64_t num_ranks = count_of(is_old ? "clients" : "tasks");
  std::uint64_t on_first = 0;
  if (is_old) {
    const Words words = words_in(value_of("clients"));
    if (words.size() > 1) on_first = number_in<std::uint64_t>(words[1].substr(1)).value_or(0);
  } else {
    on_first = count_of("clients per node");
  }
  if (on_first == 0) cut_off("it does not say how many ranks a host has");
  if (num_ranks > most_ranks) cannot(fmt::format("it is of {} ranks, more than a result can have", num_ranks));
  on_first = std::min(on_first, num_ranks);
  const std::uint64_t num_hosts =
      value_of("nodes").empty() ? (num_ranks + on_first - 1) / on_first : std::min(count_of("nodes"), num_ranks);
  found.num_ranks_per_host = static_cast<std::int64_t>(on_first);
  found.result.provenance.num_ranks = static_cast<int>(num_ranks);
  found.result.provenance.num_hosts = static_cast<int>(num_hosts);
  const Words machine = words_in(value_of("Machine"));  // system, host
  if (machine.size() > 1) found.host = machine[1];
  for (std::int32_t rank = 0; std::cmp_less(rank, num_ranks); ++rank) found.result.io_ranks.push_back(rank);
}

/// A block is what a rank has without a gap, a segment a block of each rank.
void IorParser::take_layout(IoResult& result) const {
  IoRequest& request = result.request;
  const std::uint64_t block = size_of("blocksize", "blksiz", "block(KiB)");
  const std::uint64_t transfer = size_of("xfersize", "xsize", "xfer(KiB)");
  const std::uint64_t segments = num_segments();
  if (transfer == 0 || block == 0 || block % transfer != 0) {
    cannot(fmt::format("its blocks of {} bytes are no transfers of {} bytes", block, transfer));
  }
  const double bytes_of_rank = static_cast<double>(block) * static_cast<double>(segments);
  if (bytes_of_rank * result.provenance.num_ranks > most_bytes_of_test) {
    cannot("it is of more bytes than files can have");
  }
  const std::string_view access = value_of("access");
  const bool is_shared = access.starts_with("single-shared-file");
  if (!is_shared && !access.starts_with("file-per-process")) cut_off("it does not say whether ranks share a file");
  request.movement = is_shared ? schedule::Movement::n_1 : schedule::Movement::n_n;
  request.object_size_bytes = transfer;
  request.message_sizes_bytes = {transfer};
  request.num_objects = result.num_objects = block / transfer * segments;
  if (!is_shared || segments == 1) return;
  request.order = schedule::Order::strided;
  if (block > transfer) request.block_size_bytes = block;
}

void IorParser::take_order(IorText& found) const {
  IoRequest& request = found.result.request;
  if (value_of("ordering in a file").starts_with("random")) found.other_values.emplace_back("random", "some order");
  const std::string_view between = value_of("ordering inter file");
  if (between.starts_with("random")) found.other_values.emplace_back("read_shift", "random");
  if (between.starts_with("constant")) {
    const Words words = words_in(between);
    const bool is_in_line = words.size() > 1 && words[words.size() - 2] == "=";
    const auto offset = number_in<std::int64_t>(is_in_line ? words.back() : value_of("task offset"));
    if (!offset) cut_off("it does not say the task offset");
    request.read_shift = ReadShift::hosts;
    request.read_shift_by = *offset;
  }
  for (const char* const key : {"stonewallingTime", "Using stonewalling"}) {
    if (!value_of(key).empty()) request.time_limit_s = static_cast<double>(count_of(key));
  }
}

/// "NAME.00000003" is that of rank 3, unless options put the number of a repetition or folders into the names.
void IorParser::name_files(IoResult& result, const std::set<char>& letters) const {
  const std::string& name = result.request.target;
  if (name.empty()) cut_off("it does not say the name of the file");
  const bool has_other_names = letters.contains('u') || letters.contains('m') || letters.contains('y');
  if (result.request.movement != schedule::Movement::n_n || has_other_names || contains(name, "@")) {
    result.files = {name};
    return;
  }
  for (int rank = 0; rank < result.provenance.num_ranks; ++rank) {
    result.files.push_back(fmt::format("{}.{:08}", name, rank));
  }
}

/// What IOR was told and does not print. A script or directives may say more.
void IorParser::take_command_line(IorText& found) const {
  IoRequest& request = found.result.request;
  std::string_view line = value_of("Command line");
  if (line.empty()) line = value_of("Command line used");
  const Words words = words_in(line);
  for (const std::string_view word : words) request.command_line.emplace_back(word);
  if (request.command_line.empty()) request.command_line = {found.program};
  const std::set<char> letters = letters_in(words);
  name_files(found.result, letters);
  const auto has = [&](char letter) { return letters.contains(letter); };
  const bool is_all_told = !words.empty() && !has('f') && !has('O');
  if (!is_all_told || has('p')) found.unknown_options.emplace_back("preallocate");
  const bool is_direct = has('B') || contains(line, "--posix.odirect");
  request.cache_path = is_direct ? storage::CachePath::direct : storage::CachePath::buffered;
  request.sync = has('Y') ? SyncTiming::each : has('e') ? SyncTiming::inside : SyncTiming::none;
  if (!is_all_told && !is_direct) found.unknown_options.emplace_back("direct");
  if (!is_all_told && request.sync == SyncTiming::none) found.unknown_options.emplace_back("sync");
  const std::string_view type = value_of("type");
  request.collective = type == "collective" || contains(value_of("access"), ", collective") || has('c');
  if (!is_all_told && type.empty() && !request.collective) found.unknown_options.emplace_back("collective");
  if (!is_all_told) {
    found.left_out.emplace_back("what a script or directives set and IOR does not print: fsync, O_DIRECT");
  }
}

/// Bytes are those of the whole test; where its rate is that of others, the rate times the time.
PhaseSummary IorParser::phase_in(std::size_t line, const IoRequest& request, double expected_bytes) const {
  const double rate = number_at(line, "bw(MiB/s)"), total_s = number_at(line, "total(s)");
  if (rate == 0 || total_s == 0) cut_off(fmt::format("line {} has no rate or no time", line + 1));
  const bool is_write = words_in(lines_[line]).front() == "write";
  PhaseSummary phase;
  phase.position.operation = is_write ? IoOperation::write : IoOperation::read;
  phase.position.repeat = static_cast<int>(std::min(number_at(line, "iter"), 1e9));
  phase.is_complete = true;
  phase.wall_ns = 1e9 * total_s;
  phase.bytes_per_s = bytes_of_mib * rate;
  const double moved_bytes = phase.bytes_per_s * total_s, object_bytes = static_cast<double>(request.object_size_bytes);
  const double tolerance = rounding_of(rate) / rate + rounding_of(total_s) / total_s + 1e-6;
  const bool is_all = std::abs(moved_bytes / expected_bytes - 1) <= tolerance;
  const double bytes = std::min(is_all ? expected_bytes : moved_bytes, most_bytes_of_test);
  phase.num_objects = phase.num_calls = static_cast<std::uint64_t>(std::llround(bytes / object_bytes));
  phase.bytes = phase.num_objects * request.object_size_bytes;
  phase.operations_per_s = static_cast<double>(phase.num_calls) / total_s;
  const bool is_direct = request.cache_path == storage::CachePath::direct;
  if (!is_write && is_direct) phase.source = ReadSource::storage;
  return phase;
}

void IorParser::take_phases(IorText& found) const {
  IoResult& result = found.result;
  const IoRequest& request = result.request;
  const double expected_bytes = static_cast<double>(request.num_objects) *
                                static_cast<double>(request.object_size_bytes) * result.provenance.num_ranks;
  const bool has_no_sync = request.sync == SyncTiming::none && std::ranges::count(found.unknown_options, "sync") == 0;
  bool has_removals = false, has_others = false;
  for (std::size_t line = table_ + 1; line < lines_.size(); ++line) {
    const Words words = words_in(lines_[line]);
    if (ends_table(words)) break;
    if (words.empty()) continue;
    has_removals |= words.front() == "remove";
    if (words.front() != "write" && words.front() != "read") continue;
    PhaseSummary& phase = result.phases.emplace_back(phase_in(line, request, expected_bytes));
    phase.position.index = static_cast<int>(result.phases.size()) - 1;
    phase.is_durability_known = has_no_sync;  // an fsync may be to memory: the file system is not told
    has_others |= static_cast<double>(phase.bytes) != expected_bytes;
  }
  if (result.phases.empty()) no_results("its table has no row");
  found.left_out.emplace_back("IOR's IOPS, latency and times of open, access and close, which it defines otherwise");
  found.left_out.emplace_back("what each rank did");
  if (has_others) found.left_out.emplace_back("the exact bytes of phases that did not move all");
  if (has_removals) found.left_out.emplace_back("times of removing files");
}

void IorParser::take_end(IorText& found) const {
  IoResult& result = found.result;
  const auto has_op = [&](IoOperation operation) {
    return std::ranges::any_of(result.phases, [&](const auto& phase) { return phase.position.operation == operation; });
  };
  const bool writes = has_op(IoOperation::write), reads = has_op(IoOperation::read);
  result.request.operations = writes && reads ? IoOperations::both : writes ? IoOperations::write : IoOperations::read;
  std::size_t num_tables = 0, num_warnings = 0;
  for (std::size_t line = title_; line < lines_.size(); ++line) {
    const Words words = words_in(lines_[line]);
    if (begins_table(words)) ++num_tables;
    if (contains(lines_[line], "WARNING")) ++num_warnings;
    if (line > table_ && ends_table(words)) result.complete = true;
  }
  if (num_tables > 1) found.left_out.emplace_back("the tests behind the first one");
  if (num_warnings > 0) found.left_out.push_back(fmt::format("IOR's warnings, {} lines", num_warnings));
  if (result.complete) return;
  const std::string_view error = line_with("ERROR");
  result.incomplete_reason =
      error.empty() ? "the text lacks the lines with which IOR ends" : fmt::format("IOR failed: {}", error);
}

IorText IorParser::read() {
  check_table();
  IorText found;
  const std::string_view title = trimmed(lines_[title_]);
  found.program = title.substr(0, title.find(':'));
  IoResult& result = found.result;
  const std::string_view api = value_of("api");
  if (api.empty()) cut_off("it does not say the api");
  result.backend_library = api;
  const Words words = words_in(api);
  result.request.backend = words.front() == "MPIIO" ? "mpi-io" : network::lowered(words.front());
  result.request.target = value_of("test filename");
  result.request.repeat = static_cast<int>(std::min<std::uint64_t>(count_of("repetitions"), 1'000'000'000));
  result.provenance.transport.name = "mpi";
  result.provenance.control_plane_on_loopback = false;
  take_ranks(found);
  take_layout(result);
  take_order(found);
  take_command_line(found);
  take_phases(found);
  take_end(found);
  return found;
}

}  // namespace

bool is_ior_text(const std::string& path) {
  result::kind_of_file(path);
  const std::string text = text_in_file(path);
  const std::vector<std::string_view> lines = lines_in(text);
  return title_line(lines) < lines.size();
}

IorText read_ior_text(const std::string& path) {
  const std::string text = text_in_file(path);
  return IorParser(path, text).read();
}

}  // namespace leadline::bench::io
