// SPDX-License-Identifier: Apache-2.0
// The link test's plan: repeats, rounds, and what they will cost in time and memory.
#include "bench/link/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::bench::link {
namespace {

constexpr std::uint64_t bytes_per_record = sizeof(std::uint32_t) + 5 * sizeof(double);  // PairRow
constexpr std::uint64_t bytes_per_host_index = sizeof(std::uint32_t);
constexpr std::uint64_t bytes_per_seat = 2 * sizeof(std::int32_t);  // a permutation and its inverse
constexpr std::uint64_t bytes_per_median = sizeof(double);          // sorted copy while a slice is summarised

Estimate estimate_of(const LinkRequest& request, const Plan& plan) {
  Estimate estimate;
  const auto ranks = static_cast<std::uint64_t>(plan.presence.num_ranks);
  const bool both_at_once = request.direction == Direction::bidirectional || ranks == 1;
  const double halves = both_at_once ? 1 : 2;
  const double ways = request.direction == Direction::semidirectional && ranks > 1 ? 2 : 1;
  const double messages = static_cast<double>(request.num_messages + request.num_warmup) +
                          (request.verify ? static_cast<double>(request.num_messages) : 0);
  for (const std::uint64_t size : request.message_sizes_bytes) {
    const double message_ns =
        estimate.assumption.latency_ns + 1e9 * static_cast<double>(size) / estimate.assumption.bandwidth_bytes_per_s;
    estimate.measuring_s += 1e-9 * message_ns * messages * halves * ways;
    estimate.file_bytes += ranks * ranks * bytes_per_record;
  }
  estimate.measuring_s *= static_cast<double>(plan.num_rounds) * plan.num_repeats;
  estimate.file_bytes *= static_cast<std::uint64_t>(plan.num_repeats);

  const std::uint64_t largest =
      *std::max_element(request.message_sizes_bytes.begin(), request.message_sizes_bytes.end());
  estimate.buffer_bytes = 2 * std::max<std::uint64_t>(largest, 1);
  const std::uint64_t seats = request.shuffle_ranks > 0 ? bytes_per_seat : 0;
  const std::uint64_t order = request.shuffle_rounds ? sizeof(std::int64_t) : 0;
  estimate.table_bytes = ranks * (bytes_per_record + bytes_per_host_index + bytes_per_median + seats + order);
  return estimate;
}

std::uint64_t read_number(const std::filesystem::path& file, std::uint64_t otherwise) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? value : otherwise;  // "max" is no number: no limit
}

std::uint64_t control_group_leaves() {
  constexpr std::uint64_t unlimited = UINT64_MAX;
  for (const auto& [limit_file, usage_file] :
       {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        std::pair{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const std::uint64_t limit = read_number(limit_file, unlimited);
    if (limit == unlimited) continue;
    const std::uint64_t used = read_number(usage_file, 0);
    return limit > used ? limit - used : 0;
  }
  return unlimited;
}

}  // namespace

int permutation_of(const LinkRequest& request, int repeat) {
  return request.shuffle_ranks == 0 ? -1 : repeat % request.shuffle_ranks;
}

schedule::Spec schedule_spec(const LinkRequest& request, int num_ranks, int repeat) {
  schedule::Spec spec;
  spec.num_ranks = num_ranks;
  spec.serial = request.serial;
  spec.rounds = request.rounds;
  spec.shuffle_rounds = request.shuffle_rounds;
  spec.permutation = permutation_of(request, repeat);
  spec.seed = request.seed;
  return spec;
}

std::vector<Slice> slices_of(const LinkRequest& request, int repeat) {
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < request.message_sizes_bytes.size(); ++i) {
    slices.push_back({repeat, permutation_of(request, repeat), static_cast<int>(i), request.message_sizes_bytes[i]});
  }
  return slices;
}

Plan plan(const LinkRequest& request, const Presence& presence) {
  Plan plan;
  plan.presence = presence;
  plan.num_repeats = request.repeat * std::max(1, request.shuffle_ranks);
  schedule::Spec spec = schedule_spec(request, presence.num_ranks, 0);
  spec.permutation = -1;  // neither changes the number of rounds, both cost memory
  spec.shuffle_rounds = false;
  plan.num_rounds = schedule::Schedule(spec).num_rounds();
  plan.num_batches = static_cast<std::uint32_t>(std::min<std::uint64_t>(request.num_batches, request.num_messages));
  plan.estimate = estimate_of(request, plan);
  return plan;
}

std::uint64_t available_memory_bytes() {
  std::uint64_t available =
      static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, rest; meminfo >> key;) {
    std::uint64_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) {
      available = kibibytes * 1024;
      break;
    }
    std::getline(meminfo, rest);
  }
  return std::min(available, control_group_leaves());
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  const auto per_rank =
      static_cast<double>(plan.estimate.buffer_bytes) + static_cast<double>(plan.estimate.table_bytes);
  const double needed = per_rank * plan.presence.max_ranks_per_host;
  if (needed <= static_cast<double>(available_bytes)) return;
  throw Error(ExitStatus::something_missing, "the message buffers do not fit into memory",
              fmt::format("{} ranks on a host need {:.1f} GiB, {:.1f} GiB are free", plan.presence.max_ranks_per_host,
                          needed / (1 << 30), static_cast<double>(available_bytes) / (1 << 30)),
              "Choose a smaller --message-size, or fewer ranks on a host");
}

}  // namespace leadline::bench::link
