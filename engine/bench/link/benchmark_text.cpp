// SPDX-License-Identifier: Apache-2.0
// Finds the table in a text, and turns its numbers into times of a message. Units are those of each program.
#include "bench/link/benchmark_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/text_lines.hpp"
#include "result/file_kind.hpp"

namespace leadline::bench::link {
namespace {

constexpr double megabyte = 1e6, mebibyte = 1 << 20;

/// What the one pair of a text had per message, from the row of a size.
using RecordOfRow = std::optional<PairRecord> (*)(double size_bytes, const std::vector<double>& numbers);

std::optional<PairRecord> one_time(double time_ns) {
  if (!(time_ns > 0) || !std::isfinite(time_ns)) return std::nullopt;
  return pair_record({.count = 1, .min = 1, .median = 1, .mean = 1, .p99 = 1, .p999 = 1, .max = 1}, time_ns);
}

/// The text of one program, from the line on that told which one it is.
class Parser {
 public:
  Parser(const std::string& path, const std::vector<std::string_view>& lines, std::size_t first, bool ends_a_line)
      : path_(path), lines_(lines), first_(first), ends_a_line_(ends_a_line) {}

  BenchmarkText osu();
  BenchmarkText imb();
  BenchmarkText mpigraph();
  BenchmarkText nccl();
  BenchmarkText perftest();

 private:
  [[noreturn]] void cannot(const std::string& why, const std::string& hint = {}) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot convert '{}'", path_), why,
                hint.empty() ? fmt::format("It reads {}", readable_benchmarks) : hint);
  }
  [[noreturn]] void cut_off(const std::string& what) const {
    throw Error(ExitStatus::run_failed, fmt::format("cannot convert '{}'", path_), "the text is cut off: " + what,
                "Give the whole output of the program");
  }
  /// The first line from `begin` on for which `is_it` holds; the number of lines where there is none.
  template <typename IsIt>
  std::size_t find(std::size_t begin, const IsIt& is_it) const {
    while (begin < lines_.size() && !is_it(lines_[begin])) ++begin;
    return begin;
  }
  bool has_line_with(std::string_view part) const {
    return find(0, [&](std::string_view line) { return contains(line, part); }) < lines_.size();
  }
  std::size_t header_line(std::size_t begin, std::string_view beginning) const;
  void take_rows(BenchmarkText& found, std::size_t begin, std::size_t num_columns, RecordOfRow record_of,
                 std::size_t repetitions_column = 0) const;
  std::uint64_t mpigraph_number(std::string_view name) const;

  const std::string& path_;
  const std::vector<std::string_view>& lines_;
  std::size_t first_;
  bool ends_a_line_;  ///< the text
};

std::size_t Parser::header_line(std::size_t begin, std::string_view beginning) const {
  const std::size_t line = find(begin, [&](std::string_view each) { return trimmed(each).starts_with(beginning); });
  if (line == lines_.size()) cut_off("it has no table");
  return line;
}

/// Rows that begin with a message size, as long as there are some: all sizes of the result.
void Parser::take_rows(BenchmarkText& found, std::size_t begin, std::size_t num_columns, RecordOfRow record_of,
                       std::size_t repetitions_column) const {
  std::vector<std::uint64_t> without_number;
  for (std::size_t line = begin; line < lines_.size(); ++line) {
    const Words words = words_in(lines_[line]);
    if (words.empty() && found.pair.empty()) continue;
    const auto size_bytes = words.empty() ? std::nullopt : number_in<std::uint64_t>(words.front());
    if (!size_bytes) break;
    std::vector<double> numbers;
    for (const std::string_view word : words) numbers.push_back(number_in<double>(word).value_or(NAN));
    if (line + 1 == lines_.size() && !ends_a_line_) cut_off(fmt::format("line {}, its last one, has no end", line + 1));
    const bool is_whole = numbers.size() >= num_columns && std::isfinite(numbers[num_columns - 1]);
    if (!is_whole) cut_off(fmt::format("line {} has {} of {} columns", line + 1, numbers.size(), num_columns));
    if (!found.message_sizes_bytes.empty() && *size_bytes <= found.message_sizes_bytes.back()) break;
    const auto record = record_of(static_cast<double>(*size_bytes), numbers);
    if (!record) {
      without_number.push_back(*size_bytes);
      continue;
    }
    if (found.pair.empty() && repetitions_column > 0) {
      found.num_messages = static_cast<std::uint64_t>(std::max(numbers[repetitions_column], 0.0));
    }
    found.message_sizes_bytes.push_back(*size_bytes);
    found.pair.push_back(*record);
  }
  if (found.pair.empty()) cut_off("its table has no row with a number above 0");
  if (!without_number.empty()) {
    found.left_out.push_back(
        fmt::format("sizes whose number is 0 in the text ({} bytes)", fmt::join(without_number, ", ")));
  }
}

/// "# OSU MPI Latency Test v7.4", "# OSU MPI-CUDA Bandwidth Test v5.9".
BenchmarkText Parser::osu() {
  BenchmarkText found;
  found.program = trimmed(lines_[first_]).substr(2);
  found.transport = "mpi";
  constexpr std::string_view beginning = "OSU MPI";
  if (!found.program.starts_with(beginning)) cannot(fmt::format("'{}' measures no pair of ranks", found.program));
  std::string_view test = std::string_view(found.program).substr(beginning.size());
  if (test.starts_with('-')) test.remove_prefix(std::min(test.find(' '), test.size()));
  test = trimmed(test);
  RecordOfRow record_of = nullptr;
  std::size_t num_columns = 2;
  if (test.starts_with("Latency Test")) {
    record_of = [](double, const std::vector<double>& numbers) { return one_time(1e3 * numbers[1]); };
  } else if (test.starts_with("Bandwidth Test")) {
    found.direction = Direction::unidirectional;
  } else if (test.starts_with("Bi-Directional Bandwidth Test")) {
    found.direction = Direction::bidirectional;
    record_of = [](double size_bytes, const std::vector<double>& numbers) {
      return one_time(1e9 * 2 * size_bytes / (megabyte * numbers[1]));
    };
  } else if (test.starts_with("Multiple Bandwidth / Message Rate Test")) {
    found.direction = Direction::unidirectional;
    num_columns = 3;
    const std::size_t line = find(first_, [](std::string_view each) { return contains(each, "[ pairs:"); });
    if (line == lines_.size()) cut_off("it does not say how many pairs there were");
    if (!contains(lines_[line], "[ pairs: 1 ]")) {
      cannot("its numbers are sums over several pairs", "Only those of one pair tell what a pair does");
    }
  } else {
    cannot(fmt::format("'{}' measures no pair of ranks", found.program));
  }
  if (record_of == nullptr) {
    record_of = [](double size_bytes, const std::vector<double>& numbers) {
      return one_time(1e9 * size_bytes / (megabyte * numbers[1]));
    };
  }
  const auto is_osu = [](std::string_view each) { return each.starts_with("# OSU "); };
  if (find(first_ + 1, is_osu) < lines_.size()) found.left_out.emplace_back("the results behind the first one");
  take_rows(found, header_line(first_, "# Size") + 1, num_columns, record_of);
  return found;
}

/// "# Benchmarking PingPong".
BenchmarkText Parser::imb() {
  BenchmarkText found;
  found.transport = "mpi";
  RecordOfRow record_of = nullptr;
  std::size_t begin = lines_.size();
  std::vector<std::string> others;
  const std::string_view mark = "# Benchmarking ";
  for (std::size_t line = first_; line < lines_.size(); ++line) {
    if (!trimmed(lines_[line]).starts_with(mark)) continue;
    const std::string name(trimmed(trimmed(lines_[line]).substr(mark.size())));
    const bool is_pair = name.starts_with("PingP") || name == "Uniband" || name == "Biband";
    if (!is_pair || begin < lines_.size()) {
      if (std::ranges::find(others, name) == others.end()) others.push_back(name);
      continue;
    }
    begin = line + 1;
    found.program = "IMB " + name;
    if (name.starts_with("PingPing") || name == "Biband") found.direction = Direction::bidirectional;
    if (name == "Uniband") found.direction = Direction::unidirectional;
  }
  if (begin == lines_.size()) cannot(fmt::format("{} of IMB measure no pair of ranks", fmt::join(others, ", ")));
  if (!others.empty()) found.left_out.push_back(fmt::format("{} of IMB", fmt::join(others, ", ")));

  const std::size_t header = header_line(begin, "#bytes");
  const std::size_t processes = find(begin, [](std::string_view each) { return contains(each, "#processes"); });
  const bool are_two = processes < header && trimmed(lines_[processes]).ends_with("= 2");
  if (processes < header && !are_two) cannot("its numbers are of several pairs at once");
  const Words columns = words_in(lines_[header]);
  const auto column = [&](std::string_view name) { return std::ranges::find(columns, name) - columns.begin(); };
  if (column("t[usec]") == 2) {
    record_of = [](double, const std::vector<double>& numbers) { return one_time(1e3 * numbers[2]); };
  } else if (column("Mbytes/sec") == 2 && found.direction == Direction::unidirectional) {
    record_of = [](double size_bytes, const std::vector<double>& numbers) {
      return one_time(1e9 * size_bytes / (megabyte * numbers[2]));
    };
  } else if (column("Mbytes/sec") == 2) {
    record_of = [](double size_bytes, const std::vector<double>& numbers) {
      return one_time(1e9 * 2 * size_bytes / (megabyte * numbers[2]));
    };
  } else {
    cannot("its numbers are of several pairs at once");
  }
  take_rows(found, header + 1, columns.size(), record_of, 1);
  if (!has_line_with("All processes entering MPI_Finalize"))
    found.incomplete_reason = "the text lacks the line with which IMB ends";
  return found;
}

std::uint64_t Parser::mpigraph_number(std::string_view name) const {
  const std::size_t line = find(first_, [&](std::string_view each) {
    const Words words = words_in(each);
    return words.size() == 2 && words[0] == name;
  });
  const auto number = line < lines_.size() ? number_in<std::uint64_t>(words_in(lines_[line])[1]) : std::nullopt;
  if (!number || *number == 0) cut_off(fmt::format("it has no line {}", name));
  return *number;
}

/// Rows "HOST:RANK to NUMBER NUMBER ..."; of the two matrices that of the senders.
BenchmarkText Parser::mpigraph() {
  constexpr std::uint64_t most_ranks = 1 << 20;
  BenchmarkText found;
  found.program = trimmed(lines_[first_]).substr(std::string_view("START ").size());
  found.transport = "mpi";
  found.direction = Direction::unidirectional;
  const auto size_bytes = static_cast<double>(mpigraph_number("MsgSize"));
  found.message_sizes_bytes = {mpigraph_number("MsgSize")};
  found.window = mpigraph_number("Window");
  found.num_messages = mpigraph_number("Times") * found.window;
  const std::uint64_t num_ranks = mpigraph_number("Procs");
  if (num_ranks < 2 || num_ranks > most_ranks) cannot(fmt::format("it has a matrix of {} ranks", num_ranks));
  found.num_ranks = static_cast<std::int64_t>(num_ranks);
  std::size_t line = find(first_, [](std::string_view each) { return each.starts_with("Send\t"); });
  if (line == lines_.size()) cut_off("it has no matrix of the senders");
  for (std::uint64_t rank = 0; rank < num_ranks; ++rank) {
    if (++line >= lines_.size()) cut_off(fmt::format("the matrix has {} of {} rows", rank, num_ranks));
    const Words words = words_in(lines_[line]);
    const bool is_row =
        words.size() == num_ranks + 2 && words[1] == "to" && words[0].ends_with(fmt::format(":{}", rank));
    if (!is_row) cut_off(fmt::format("line {} is not the row of rank {}", line + 1, rank));
    found.hosts.emplace_back(words[0].substr(0, words[0].rfind(':')));
    for (std::size_t partner = 0; partner < num_ranks; ++partner) {
      const auto mebibytes_per_s = number_in<double>(words[partner + 2]);
      if (!mebibytes_per_s) cut_off(fmt::format("line {} has '{}' for a number", line + 1, words[partner + 2]));
      const auto time = one_time(1e9 * size_bytes / (mebibyte * *mebibytes_per_s));
      found.matrix_ns.push_back(time && partner != rank ? time->time_ns_mean : 0);
    }
  }
  if (!has_line_with("END mpiGraph")) found.incomplete_reason = "the text lacks the line with which mpiGraph ends";
  found.left_out.emplace_back("the matrix of the receivers");
  return found;
}

/// Of two ranks in a ring each sends to the other one.
BenchmarkText Parser::nccl() {
  BenchmarkText found;
  found.transport = "nccl";
  found.direction = Direction::bidirectional;
  if (!has_line_with("sendrecv_perf"))
    cannot("nccl-tests, but the text does not say that it is sendrecv_perf", "Add the command line to its beginning");
  found.program = "sendrecv_perf of nccl-tests";
  for (const std::string_view line : lines_) {
    const Words words = words_in(line);
    const auto on = std::ranges::find(words, std::string_view("on"));
    const bool is_rank = words.size() > 3 && words[0] == "#" && words[1] == "Rank" && words.end() - on > 1;
    if (is_rank) found.hosts.emplace_back(*(on + 1));
  }
  if (found.hosts.size() != 2) {
    cannot(fmt::format("its number is of a ring of {} ranks, not of a pair", found.hosts.size()));
  }
  take_rows(found, first_ + 3, 6,
            [](double, const std::vector<double>& numbers) { return one_time(1e3 * numbers[5]); });
  if (!has_line_with("Avg bus bandwidth")) {
    found.incomplete_reason = "the text lacks the lines with which nccl-tests ends";
  }
  found.left_out.emplace_back("what was measured in place");
  return found;
}

/// "#bytes #iterations ...", below "RDMA_Write Bidirectional BW Test".
BenchmarkText Parser::perftest() {
  BenchmarkText found;
  found.transport = "verbs";
  for (std::size_t line = 0; line < first_; ++line) {
    const std::string_view title = trimmed(lines_[line]);
    if (title.ends_with(" Test")) found.program = fmt::format("perftest: {}", title);
  }
  if (found.program.empty()) found.program = "perftest";
  const std::string_view header = lines_[first_];
  const bool is_both_ways = contains(found.program, "Bidirectional");
  if (contains(header, "#sl") || contains(header, "Port1")) cannot("its numbers are of several queues or ports");
  if (contains(header, "t_typical[")) {
    take_rows(
        found, first_ + 1, 9,
        [](double, const std::vector<double>& numbers) {
          std::optional<PairRecord> record = one_time(1e3 * numbers[4]);
          if (!record || !(numbers[2] > 0) || !(numbers[5] > 0)) return record;
          record->time_ns_min = 1e3 * numbers[2];
          record->time_ns_max = 1e3 * numbers[3];
          record->time_ns_mean = 1e3 * numbers[5];
          record->time_ns_p99 = 1e3 * numbers[7];
          record->time_ns_p999 = 1e3 * numbers[8];
          return record;
        },
        1);
    return found;
  }
  found.direction = is_both_ways ? Direction::bidirectional : Direction::unidirectional;
  const bool is_in_bits = contains(header, "[Gb/sec]");
  const RecordOfRow in_bits = [](double size_bytes, const std::vector<double>& numbers) {
    return one_time(8 * size_bytes / numbers[3]);
  };
  const RecordOfRow in_mebibytes = [](double size_bytes, const std::vector<double>& numbers) {
    return one_time(1e9 * size_bytes / (mebibyte * numbers[3]));
  };
  take_rows(found, first_ + 1, 4, is_in_bits ? in_bits : in_mebibytes, 1);
  if (is_both_ways) {
    for (PairRecord& record : found.pair) record = *one_time(2 * record.time_ns_mean);
  }
  return found;
}

}  // namespace

BenchmarkText read_benchmark_text(const std::string& path) {
  result::kind_of_file(path);
  const std::string text = text_in_file(path);
  const std::vector<std::string_view> lines = lines_in(text);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::string_view each = trimmed(lines[line]);
    Parser parser(path, lines, line, text.ends_with('\n'));
    if (each.starts_with("# OSU ")) return parser.osu();
    if (each.starts_with("# Benchmarking ")) return parser.imb();
    if (each.starts_with("START mpiGraph")) return parser.mpigraph();
    if (each.starts_with('#') && contains(each, "out-of-place")) return parser.nccl();
    if (each.starts_with("#bytes") && contains(each, "#iterations")) return parser.perftest();
  }
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot convert '{}'", path),
              "it is neither HDF5 nor SION, nor the text of a benchmark that is known",
              fmt::format("Texts that can be read: {}", readable_benchmarks));
}

}  // namespace leadline::bench::link
