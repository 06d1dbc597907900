// SPDX-License-Identifier: Apache-2.0
// LinkTest 1.2's letters, each with its value as the next word, and what they mean for the engine.
#include "compat/mpilinktest/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compat/values.hpp"
#include "core/error.hpp"

namespace leadline::compat::mpilinktest {
namespace {

constexpr const char* program = "mpilinktest";
constexpr const char* output_file = "pingpong_results_bin.sion";
constexpr std::uint64_t default_message_size_bytes = 131072, default_num_messages = 3, default_summary_interval = 32;
constexpr double seconds_a_minute = 60;
constexpr double max_minutes = 1e6;

/// The order of ranks of -M 1 is random, and the same in every run of the same size, as it always was.
constexpr std::uint64_t order_seed = 1;

constexpr const char* known_letters = "aiIskTMSWYZNCD";

using Values = std::map<char, std::string>;

bool is_known(const std::string& word) {
  return word.size() == 2 && word[0] == '-' && std::string(known_letters).find(word[1]) != std::string::npos;
}

std::string name_of(char letter) { return std::string("-") + letter; }

std::uint64_t number(const Values& values, char letter, std::uint64_t otherwise, std::uint64_t min, std::uint64_t max) {
  const auto found = values.find(letter);
  if (found == values.end()) return otherwise;
  return whole_number(name_of(letter), found->second, {min, max, program});
}

/// 0 or 1.
bool choice(const Values& values, char letter, bool otherwise) {
  return number(values, letter, otherwise ? 1 : 0, 0, 1) == 1;
}

std::uint64_t message_size(const Values& values) {
  if (values.contains('s') && values.contains('k')) {
    refuse("-s and -k cannot be had together", "both give the size of a message", "Leave one of them out");
  }
  if (values.contains('k')) return 1024 * number(values, 'k', 0, 0, max_message_size_bytes / 1024);
  return number(values, 's', default_message_size_bytes, 0, max_message_size_bytes);
}

/// -N and -T; -1 is LinkTest's word for "off".
void take_repeats(const Values& values, bench::link::LinkRequest& request) {
  const auto is_given = [&](char letter) { return values.contains(letter) && values.at(letter) != "-1"; };
  if (is_given('N')) request.repeat = static_cast<int>(number(values, 'N', 1, 1, max_repeats));
  if (!is_given('T')) return;
  const double minutes = number_from("-T", values.at('T'), 0, program);
  if (minutes > max_minutes) refuse(fmt::format("-T cannot be {}", values.at('T')), "that is years", "Use less");
  request.min_time_s = seconds_a_minute * minutes;
}

void take_output(const Values& values, bench::link::LinkRequest& request) {
  const bool has_file = choice(values, 'W', true);
  const bool is_parallel = choice(values, 'Y', true);
  request.format = has_file ? ResultFormat::sion : ResultFormat::none;
  request.output = has_file ? output_file : "";
  request.overwrite = has_file;
  request.row_path = has_file && !is_parallel ? RowPath::funnel : RowPath::automatic;
}

bench::link::LinkRequest request_of(const Values& values) {
  bench::link::LinkRequest request;
  request.transport = "mpi";
  request.no_diagnosis = true;  // LinkTest has none
  request.strict_ranks = true;
  request.binding = Binding::none;
  request.num_messages = number(values, 'i', default_num_messages, 1, max_count);
  request.num_warmup = number(values, 'I', 0, 0, max_count);
  request.message_sizes_bytes = {message_size(values)};
  request.num_batches = 1;  // 1.2 times all messages of a measurement at once
  request.window = 1;
  request.serial = choice(values, 'S', false);
  if (choice(values, 'a', false)) {
    request.all_to_all = bench::link::AllToAll::before_each_round;
    request.all_to_all_size_bytes = 1;
  }
  if (choice(values, 'M', false)) {
    request.shuffle_ranks = 1;
    request.shuffle_ranks_seed = order_seed;
  }
  take_repeats(values, request);
  take_output(values, request);
  return request;
}

/// Something is printed, and that is all.
Command only(Action action, const std::string& unknown = {}) {
  Command command;
  command.action = action;
  command.unknown = unknown;
  return command;
}

}  // namespace

Command parse(const std::vector<std::string>& arguments) {
  Command command;
  Values values;
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--help") return only(Action::help);
    if (word == "-V") return only(Action::version);
    if (!is_known(word)) return only(Action::usage, word);
    if (at + 1 == arguments.size()) refuse(word + " needs a value", "", "See mpilinktest -h");
    if (!values.try_emplace(word[1], arguments[++at]).second) {
      refuse(word + " is given twice", "", "Leave one of them out");
    }
  }
  command.request = request_of(values);
  command.request.command_line = arguments;
  command.summary_interval = number(values, 'C', default_summary_interval, 1, max_count);
  if (values.contains('Z')) command.num_slowest = number(values, 'Z', 0, 0, max_count);
  if (values.contains('D')) {
    number(values, 'D', 0, 0, max_count);
    command.remarks.emplace_back("-D has no effect; it had none in LinkTest 1.2");
  }
  if (values.contains('Y') && command.request.format == ResultFormat::none) {
    command.remarks.emplace_back("-Y has no effect: -W 0 says that there is no file");
  }
  return command;
}

int num_retests(const Command& command, int num_ranks) {
  const auto most = static_cast<std::uint64_t>(num_ranks);
  return static_cast<int>(std::min(command.num_slowest.value_or(most), most));
}

bool is_repeated(const bench::link::LinkRequest& request) { return request.repeat != 1 || request.min_time_s > 0; }

std::string file_of_iteration(const std::string& path, int iteration) {
  const std::filesystem::path whole(path);
  const std::string name = fmt::format("{}_i{:03}{}", whole.stem().string(), iteration, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::string version_line() { return "FZJ Linktest version: 1.2p1\n"; }

std::string usage() {
  return "Usage: mpilinktest [-LETTER VALUE]...\n"
         "Start it in parallel: mpirun -n 4 mpilinktest ..., srun mpilinktest ...\n\n"
         "This is the front end of Leadline for the command lines of LinkTest 1.2: it measures the connection between\n"
         "every two MPI tasks, in steps of pairs that run at once, and the slowest again, alone.\n\n"
         "  -a 0|1      all-to-all of one byte before each step (default: 0)\n"
         "  -i N        ping-pongs of a measurement (default: 3)\n"
         "  -I N        warm-up ping-pongs before it (default: 0)\n"
         "  -s BYTES    message size (default: 131072)\n"
         "  -k KIB      message size in KiB\n"
         "  -T MINUTES  repeat the test until so much time was spent in messages\n"
         "  -N N        run the test so many times\n"
         "  -M 0|1      random order of the tasks (default: 0)\n"
         "  -S 0|1      one connection at a time (default: 0)\n"
         "  -W 0|1      write pingpong_results_bin.sion; with -T or -N one file for each iteration (default: 1)\n"
         "  -Y 0|1      all tasks write to the file, or one for all (default: 1)\n"
         "  -Z N        measure the N slowest connections again, at most as many as tasks (default: all of these)\n"
         "  -C N        a summary after every N steps (default: 32)\n"
         "  -D N        taken and ignored, as ever\n"
         "  -V          print the version of LinkTest whose options and output these are\n";
}

}  // namespace leadline::compat::mpilinktest
