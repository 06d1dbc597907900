// SPDX-License-Identifier: Apache-2.0
// The one list that pairs the members of a request with the names of their options.
#include "model/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace leadline {

namespace {

OptionValue integer(auto value) { return static_cast<std::int64_t>(value); }

/// Those that come first in every benchmark's help, those of what messages consist of, and those that come last.
std::vector<Option> options_before(const RunRequest& request) {
  return {
      {"transport", "", request.transport},
      {"transport_option", "", fmt::format("{}", fmt::join(request.transport_options, " "))},
      {"interface", "", request.interface},
      {"host_name_suffix", "", request.host_name_suffix},
      {"local", "", integer(request.num_local)},
  };
}

std::vector<Option> options_of_data(const RunRequest& request) {
  return {
      {"allocator", "", request.allocator},
      {"fill", "", std::string(name_of(request.fill))},
      {"fill_seed", "", request.fill_seed},
      {"verify", "", request.verify},
  };
}

std::vector<Option> options_behind(const RunRequest& request) {
  return {
      {"wait", "", std::string(name_of(request.wait))},
      {"timeout", "s", request.timeout_s},
      {"output", "", request.output},
      {"format", "", std::string(name_of(request.format))},
      {"row_path", "", std::string(name_of(request.row_path))},
      {"overwrite", "", request.overwrite},
      {"quiet", "", request.quiet},
      {"dry_run", "", request.dry_run},
      {"ranks", "", integer(request.dry_run_ranks)},
      {"ranks_per_host", "", integer(request.dry_run_ranks_per_host)},
  };
}

std::vector<Option> joined(const std::vector<std::vector<Option>>& parts) {
  std::vector<Option> options;
  for (const auto& part : parts) options.insert(options.end(), part.begin(), part.end());
  return options;
}

/// Of a benchmark whose subject is messages.
std::vector<Option> all_options(const RunRequest& request, const std::vector<Option>& own) {
  return joined({options_before(request),
                 {{"message_size", "bytes", request.message_sizes_bytes}},
                 own,
                 options_of_data(request),
                 options_behind(request)});
}

/// "none", "ranks:2", "hosts:1".
std::string read_shift_text(const IoRequest& request) {
  if (request.read_shift == ReadShift::none) return name_of(request.read_shift);
  return fmt::format("{}:{}", name_of(request.read_shift), request.read_shift_by);
}

/// "key=value,key=value".
std::string hints_text(const IoRequest& request) {
  std::vector<std::string> hints;
  for (const auto& [key, value] : request.hints) hints.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(hints, ","));
}

std::vector<Option> options_of_movement(const IoRequest& request) {
  return {
      {"movement", "", std::string(schedule::name_of(request.movement))},
      {"strided", "", request.order == schedule::Order::strided},
      {"objects", "", request.num_objects},
      {"object_size", "bytes", request.object_size_bytes},
      {"io_ranks", "", request.io_ranks},
      {"io_hosts", "", fmt::format("{}", fmt::join(request.io_hosts, ","))},
      {"files", "", integer(request.num_files)},
      {"buffer_size", "bytes", request.buffer_size_bytes},
      {"ahead", "", integer(request.num_ahead)},
      {"no_self_send", "", request.self_send == schedule::SelfSend::no},
      {"no_file", "", request.no_file},
  };
}

std::vector<Option> options_of_files(const IoRequest& request) {
  return {
      {"backend", "", request.backend},
      {"calls", "", std::string(name_of(request.calls))},
      {"collective", "", request.collective},
      {"allow_fragile", "", request.allow_fragile},
      {"hints", "", hints_text(request)},
      {"barrier", "", request.barrier},
      {"target", "", request.target},
      {"targets", "", request.targets_file},
      {"overwrite_targets", "", request.overwrite_targets},
      {"delete", "", request.delete_files},
      {"preallocate", "bytes", request.preallocate_bytes},
  };
}

std::vector<Option> options_of_phases(const IoRequest& request) {
  return {
      {"op", "", std::string(name_of(request.operations))},
      {"repeat", "", integer(request.repeat)},
      {"sleep", "s", request.sleep_s},
      {"time_limit", "s", request.time_limit_s},
      {"fill", "", std::string(memory::name_of(request.file_fill))},
      {"touch", "", std::string(memory::name_of(request.touch))},
      {"check", "", std::string(memory::name_of(request.check))},
      {"allocator", "", request.allocator},
      {"direct", "", request.cache_path == CachePath::direct},
      {"uncached", "", request.cache_path == CachePath::uncached},
      {"drop_cache", "", request.between == BetweenPhases::drop},
      {"sync", "", std::string(name_of(request.sync))},
      {"read_shift", "", read_shift_text(request)},
      {"slow_calls", "", integer(request.num_slow_calls)},
      {"threshold", "", request.threshold},
  };
}

}  // namespace

std::vector<Option> options_of(const LinkRequest& request) {
  return all_options(request, {
                                  {"messages", "", request.num_messages},
                                  {"warmup", "", request.num_warmup},
                                  {"batches", "", integer(request.num_batches)},
                                  {"window", "", integer(request.window)},
                                  {"direction", "", std::string(name_of(request.direction))},
                                  {"all_to_all", "", std::string(name_of(request.all_to_all))},
                                  {"all_to_all_size", "bytes", request.all_to_all_size_bytes},
                                  {"bisection", "", request.bisection},
                                  {"between_hosts", "", request.between_hosts},
                                  {"one_per_host", "", request.one_per_host},
                                  {"budget", "s", request.budget_s},
                                  {"rounds", "", request.rounds},
                                  {"serial", "", request.serial},
                                  {"only_rounds", "", request.only_rounds},
                                  {"shuffle_rounds", "", request.shuffle_rounds},
                                  {"shuffle_ranks", "", integer(request.shuffle_ranks)},
                                  {"seed", "", request.seed},
                                  {"shuffle_rounds_seed", "", request.shuffle_rounds_seed},
                                  {"shuffle_ranks_seed", "", request.shuffle_ranks_seed},
                                  {"repeat", "", integer(request.repeat)},
                                  {"min_time", "s", request.min_time_s},
                                  {"retest", "", integer(request.retest)},
                                  {"no_diagnosis", "", request.no_diagnosis},
                                  {"topology", "", request.topology},
                                  {"threshold", "", request.diagnosis.threshold},
                                  {"false_discovery_rate", "", request.diagnosis.false_discovery_rate},
                                  {"baseline", "", request.baseline},
                                  {"fail_below", "", request.fail_below.text},
                                  {"strict", "", request.strict},
                                  {"health_check", "", request.health_check},
                                  {"buffers", "", integer(request.num_buffers)},
                                  {"check_buffers", "", request.check_buffers},
                              });
}

std::vector<Option> options_of(const TopologyRequest& request) {
  return all_options(request, {
                                  {"pattern", "", fmt::format("{}", fmt::join(request.patterns, ","))},
                                  {"edges", "", request.edges_file},
                                  {"mode", "", std::string(schedule::name_of(request.mode))},
                                  {"iterations", "", request.num_iterations},
                                  {"warmup", "", request.num_warmup},
                                  {"traced", "", request.num_traced},
                                  {"repeat", "", integer(request.repeat)},
                                  {"max_outstanding", "", integer(request.max_outstanding)},
                                  {"shared_buffers", "", request.shared_buffers},
                                  {"duration", "s", request.duration_s},
                                  {"verify_every", "", request.verify_every},
                                  {"print", "", std::string(name_of(request.rate))},
                              });
}

std::vector<Option> options_of(const BisectionRequest& request) {
  return all_options(request, {
                                  {"active_ranks_per_host", "", integer(request.active_ranks_per_host)},
                                  {"within_hosts", "", request.within_hosts},
                                  {"pattern", "", fmt::format("{}", fmt::join(request.patterns, ","))},
                                  {"seed", "", request.seed},
                                  {"worst", "", integer(request.num_worst_steps)},
                                  {"exchanges", "", request.num_exchanges},
                                  {"warmup", "", request.num_warmup},
                                  {"repeat", "", integer(request.repeat)},
                                  {"rounds", "", request.rounds},
                                  {"precision", "", request.precision},
                                  {"time_limit", "s", request.time_limit_s},
                                  {"baseline_pairs", "", integer(request.num_baseline_pairs)},
                                  {"retest", "", integer(request.retest)},
                                  {"threshold", "", request.threshold},
                                  {"buckets", "", integer(request.num_buckets)},
                              });
}

std::vector<Option> options_of(const IoRequest& request) {
  return joined({options_before(request), options_of_movement(request), options_of_files(request),
                 options_of_phases(request), options_behind(request)});
}

namespace {

struct TextOf {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  template <typename Number>
  std::string operator()(Number value) const {
    return fmt::format("{}", value);
  }
  template <typename Number>
  std::string operator()(const std::vector<Number>& values) const {
    return fmt::format("{}", fmt::join(values, ","));
  }
};

}  // namespace

std::vector<std::pair<std::string, std::string>> options_as_text(const std::vector<Option>& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Option& option : options) texts.emplace_back(option.name, as_text(option.value));
  return texts;
}

std::string as_text(const OptionValue& value) { return std::visit(TextOf{}, value); }

}  // namespace leadline
