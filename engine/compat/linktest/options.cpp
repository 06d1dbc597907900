// SPDX-License-Identifier: Apache-2.0
// What each option of LinkTest 2.x means for the engine, and which combinations do nothing.
#include "compat/linktest/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "compat/linktest/layers.hpp"
#include "compat/linktest/option_table.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "options/values.hpp"

namespace leadline::compat::linktest {
namespace {

constexpr const char* program = "linktest";
constexpr const char* default_output = "pingpong_results_bin.sion";
constexpr std::uint64_t default_steps_seed = 9876543210, default_buffers_seed = 1234567890,
                        default_tasks_seed = 29309775;
constexpr std::uint64_t max_permutations = 10'000;

/// Unidirectional messages go back to back; more than so many under way at once would only need memory.
constexpr std::uint64_t max_messages_under_way = 64;

/// What the command line says, and what is to be said of it: LinkTest ran where an option did nothing.
struct Line {
  GivenOptions given;
  std::vector<std::string> remarks;

  void remark_if_given(const char* option, const std::string& why) {
    if (given.has(option)) remarks.push_back(fmt::format("{} has no effect: {}", option, why));
  }
};

void refuse_together(const GivenOptions& given, const char* one, const char* other) {
  if (given.has(one) && given.has(other)) {
    refuse(fmt::format("{} and {} cannot be had together", one, other), "one excludes the other",
           "Leave one of them out");
  }
}

std::uint64_t number(const GivenOptions& given, const char* option, std::uint64_t otherwise, std::uint64_t min,
                     std::uint64_t max) {
  const auto text = given.value(option);
  return text ? whole_number(option, *text, {min, max, program}) : otherwise;
}

std::uint64_t message_size(const std::string& text) {
  std::uint64_t bytes = 0;
  try {
    bytes = parse_bytes(text);
  } catch (const Error& error) {
    throw_bad_value("--size-messages", text, error.why(), error.hint());
  }
  if (bytes > max_message_size_bytes) {
    throw_bad_value("--size-messages", text,
                    fmt::format("it must be a number of bytes from 0 to {}", max_message_size_bytes),
                    "See linktest -h");
  }
  return bytes;
}

void require(const GivenOptions& given) {
  std::vector<std::string> missing;
  for (const char* option : {"--num-warmup-messages", "--num-messages", "--size-messages"}) {
    if (!given.has(option)) missing.emplace_back(option);
  }
  if (missing.empty()) return;
  refuse(fmt::format("the command line lacks {}", fmt::join(missing, ", ")), "LinkTest has no defaults for them",
         "Try: mpirun -n 4 linktest --mode mpi --num-warmup-messages 10 --num-messages 100 --size-messages 1024");
}

std::string transport_wanted(const GivenOptions& given, const std::string& program_path, const Variables& variables) {
  if (const auto mode = given.value("--mode")) return transport_of(*mode, "--mode");
  if (const std::string suffix = layer_in_name(program_path); !suffix.empty()) {
    return transport_of(suffix, "the program's name");
  }
  if (const auto variable = variables("LINKTEST_VCLUSTER_IMPL"); variable && !variable->empty()) {
    return transport_of(*variable, "LINKTEST_VCLUSTER_IMPL");
  }
  refuse("the command line names no transport",
         "neither --mode, nor the program's name as linktest.LAYER, nor LINKTEST_VCLUSTER_IMPL says which",
         "Add for example --mode mpi. There are " + layers_here());
}

void take_direction(const GivenOptions& given, bench::link::LinkRequest& request) {
  refuse_together(given, "--unidirectional", "--bidirectional");
  refuse_together(given, "--unidirectional", "--semidirectional");
  refuse_together(given, "--bidirectional", "--semidirectional");
  if (given.has("--unidirectional")) {
    request.direction = Direction::unidirectional;
    request.window =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(request.num_messages, 1, max_messages_under_way));
  } else if (given.has("--bidirectional")) {
    // There and back, on both sides at once: two exchanges a message.
    request.direction = Direction::bidirectional;
    request.window = 1;
    request.num_messages *= 2;
    request.num_warmup *= 2;
  }
}

void take_messages(const GivenOptions& given, bench::link::LinkRequest& request) {
  require(given);
  request.num_warmup = number(given, "--num-warmup-messages", 0, 0, max_count);
  request.num_messages = number(given, "--num-messages", 0, 1, max_count);
  request.message_sizes_bytes = {message_size(*given.value("--size-messages"))};
  request.num_batches = 1;  // LinkTest times all messages of a measurement at once
  request.window = 1;
  take_direction(given, request);
}

void take_buffers(Line& line, bench::link::LinkRequest& request) {
  const GivenOptions& given = line.given;
  const std::uint64_t most = std::max(num_messages_as_asked(request), num_warmup_as_asked(request));
  if (!given.has("--multi-buffer")) {
    line.remark_if_given("--num-multi-buffer", "there is one buffer without --multi-buffer");
  } else if (most < 2) {
    line.remark_if_given("--multi-buffer", "one message needs one buffer");
  } else {
    request.num_buffers = static_cast<std::uint32_t>(
        number(given, "--num-multi-buffer", 2, 2, std::min<std::uint64_t>(most, UINT32_MAX)));
  }
  if (given.has("--randomize-buffers")) {
    request.fill = Fill::mersenne;
    request.fill_seed = number(given, "--seed-randomize-buffers", default_buffers_seed, 1, UINT64_MAX);
  } else {
    line.remark_if_given("--seed-randomize-buffers", "nothing is random without --randomize-buffers");
  }
  request.check_buffers = given.has("--check-buffers");
}

void take_memory(const GivenOptions& given, bench::link::LinkRequest& request) {
  const std::string name = given.value("--memory-buffer-allocator").value_or("DEFAULT");
  request.allocator = allocator_of(name, request.transport);
  if (!given.has("--use-gpu-memory")) return;
  if (given.has("--memory-buffer-allocator") && name != "DEFAULT" && request.allocator != "cuda") {
    refuse(fmt::format("--use-gpu-memory contradicts --memory-buffer-allocator {}", name),
           "that memory is not on a GPU", "Leave one of them out");
  }
  request.allocator = "cuda";
}

void take_order(Line& line, bench::link::LinkRequest& request) {
  const GivenOptions& given = line.given;
  request.bisection = given.has("--bisection");
  request.serial = given.has("--serial-tests");
  request.between_hosts = given.has("--group-processes-by-hostname");
  if (given.has("--all-to-all")) request.all_to_all = bench::link::AllToAll::around;
  request.retest = static_cast<int>(number(given, "--num-slowest", 10, 0, max_retests));

  request.shuffle_rounds = given.has("--randomize-steps");
  if (request.shuffle_rounds) {
    request.shuffle_rounds_seed = number(given, "--seed-randomize-steps", default_steps_seed, 1, UINT64_MAX);
  } else {
    line.remark_if_given("--seed-randomize-steps", "the steps are in order without --randomize-steps");
  }
  request.shuffle_ranks = static_cast<int>(number(given, "--num-randomize-tasks", 0, 0, max_permutations));
  if (request.shuffle_ranks > 0) {
    request.shuffle_ranks_seed = number(given, "--seed-randomize-tasks", default_tasks_seed, 1, UINT64_MAX);
  } else {
    line.remark_if_given("--seed-randomize-tasks", "the tasks are in order without --num-randomize-tasks");
  }
}

void take_output(Line& line, bench::link::LinkRequest& request) {
  const GivenOptions& given = line.given;
  request.repeat = static_cast<int>(number(given, "--min-iterations", 1, 1, max_repeats));
  if (const auto text = given.value("--min-runtime")) {
    request.min_time_s = number_from("--min-runtime", *text, 0, program);
  }
  const auto output = given.value("--output");
  if (output && (output->empty() || *output == "-")) {
    throw_bad_value("--output", *output, "it must name a file", "See linktest -h");
  }
  if (given.has("--no-sion-file")) {
    line.remark_if_given("--output", "--no-sion-file says that there is no file");
  }
  const bool has_file = !given.has("--no-sion-file") && (output || !is_repeated(request));
  if (!has_file) {
    line.remark_if_given("--parallel-sion-file", given.has("--no-sion-file")
                                                     ? "--no-sion-file says that there is no file"
                                                     : "a repeated test writes no file without --output");
  }
  request.format = has_file ? ResultFormat::sion : ResultFormat::none;
  request.output = has_file ? output.value_or(default_output) : "";
  request.overwrite = has_file;
  request.row_path = has_file && !given.has("--parallel-sion-file") ? RowPath::funnel : RowPath::automatic;
}

}  // namespace

std::uint64_t num_messages_as_asked(const bench::link::LinkRequest& request) {
  return request.direction == Direction::bidirectional ? request.num_messages / 2 : request.num_messages;
}

std::uint64_t num_warmup_as_asked(const bench::link::LinkRequest& request) {
  return request.direction == Direction::bidirectional ? request.num_warmup / 2 : request.num_warmup;
}

bool is_repeated(const bench::link::LinkRequest& request) { return request.repeat != 1 || request.min_time_s > 0; }

Command parse(const std::vector<std::string>& arguments, const Variables& variables) {
  if (is_anywhere(arguments, "--help")) return {Action::help, {}, {}};
  if (is_anywhere(arguments, "--version")) return {Action::version, {}, {}};
  Line line{GivenOptions(arguments), {}};
  const GivenOptions& given = line.given;
  bench::link::LinkRequest request;
  request.command_line = arguments;
  request.no_diagnosis = true;  // LinkTest has none
  request.strict_ranks = true;
  request.binding = Binding::none;
  request.transport = transport_wanted(given, arguments.empty() ? "" : arguments.front(), variables);
  request.host_name_suffix = variables("LINKTEST_SYSTEM_NODENAME_SUFFIX").value_or("");
  take_messages(given, request);
  take_memory(given, request);
  take_buffers(line, request);
  take_order(line, request);
  take_output(line, request);
  return {Action::run, std::move(request), std::move(line.remarks)};
}

}  // namespace leadline::compat::linktest
