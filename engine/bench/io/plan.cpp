// SPDX-License-Identifier: Apache-2.0
// Lays out files and ranks, shifts reads, and estimates memory.
#include "bench/io/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/io/buffers.hpp"
#include "bench/io/names.hpp"
#include "bench/plan.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "memory/block_pattern.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;

constexpr std::uint64_t usual_buffer_bytes = 64 << 20;
constexpr std::uint64_t direct_unit_bytes = 4096;

[[noreturn]] void refuse(const std::string& problem, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, problem, why, hint);
}

[[noreturn]] void refuse_no_effect(const IoRequest& request, const char* option) {
  refuse(fmt::format("{} has no effect", option),
         fmt::format("with --movement {} every rank does its own I/O and sends nothing", name_of(request.movement)),
         "Leave it out");
}

void check_movement(const IoRequest& request) {
  if (!schedule::is_funnel(request.movement)) {
    if (request.no_file) refuse_no_effect(request, "--no-file");
    if (request.self_send == schedule::SelfSend::no) refuse_no_effect(request, "--no-self-send");
    if (!request.io_ranks.empty()) refuse_no_effect(request, "--io-ranks");
    if (!request.io_hosts.empty()) refuse_no_effect(request, "--io-hosts");
    if (request.buffer_size_bytes != 0) refuse_no_effect(request, "--buffer-size");
  }
  if (request.movement == Movement::n_n && request.order == schedule::Order::strided) {
    refuse("--strided has no effect", "with --movement N-N no file has objects of two ranks", "Leave it out");
  }
  if (request.movement != Movement::n_m && request.num_files != 0) {
    refuse("--files has no effect",
           fmt::format("the number of files follows from --movement {}", name_of(request.movement)), "Leave it out");
  }
}

void check_contents_size(std::uint64_t object) {
  if (object != 0 && object % memory::word_size_bytes == 0) return;
  refuse(fmt::format("--object-size cannot be {} B", object),
         fmt::format("contents are words of {} bytes", memory::word_size_bytes), "Choose a multiple of 8, at least 8");
}

void check_sizes(const IoRequest& request) {
  const std::uint64_t object = request.object_size_bytes;
  if (!request.metadata) check_contents_size(object);
  if (request.num_objects == 0) refuse("--objects cannot be 0", "there would be no files", "Choose at least 1");
  if (request.num_ahead < 0) {
    refuse(fmt::format("--ahead cannot be {}", request.num_ahead), "it is a number of buffers", "Choose at least 0");
  }
  if (request.cache_path == storage::CachePath::direct && object % direct_unit_bytes != 0) {
    refuse("--direct and --object-size do not go together",
           fmt::format("{} is no multiple of {}, in which bytes go round the page cache", format_bytes(object),
                       format_bytes(direct_unit_bytes)),
           "Choose another --object-size, for example 4KiB or 1MiB");
  }
}

std::uint64_t buffer_size_of(const IoRequest& request) {
  const std::uint64_t object = request.object_size_bytes, asked = request.buffer_size_bytes;
  if (!schedule::is_funnel(request.movement)) return object;
  if (asked == 0) return std::max<std::uint64_t>(usual_buffer_bytes / object, 1) * object;
  if (asked % object == 0) return asked;
  const std::uint64_t below = std::max<std::uint64_t>(asked / object, 1) * object;
  refuse(fmt::format("--buffer-size cannot be {}", format_bytes(asked)),
         fmt::format("it is no multiple of --object-size, {}", format_bytes(object)),
         fmt::format("Choose for example {}B", below));
}

/// Of each of --io-hosts; all its ranks where nothing was asked.
std::vector<schedule::IoHost> io_hosts_of(const IoRequest& request, const RankLayout& rank_layout, const Names& names) {
  if (request.io_ranks.size() > 1 && request.io_ranks.size() != request.io_hosts.size()) {
    refuse(fmt::format("--io-ranks has {} numbers and --io-hosts {} names", request.io_ranks.size(),
                       request.io_hosts.size()),
           "each host has one number", "Give as many of both, or one number that counts for each host");
  }
  std::vector<schedule::IoHost> hosts;
  for (std::size_t i = 0; i < request.io_hosts.size(); ++i) {
    const std::string& name = request.io_hosts[i];
    if (std::find(request.io_hosts.begin(), request.io_hosts.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        request.io_hosts.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(fmt::format("--io-hosts names {} twice", name), {}, "Name each host once");
    }
    const auto found = std::ranges::find(names.hosts, name);
    if (found == names.hosts.end()) {
      refuse(fmt::format("--io-hosts names {}, which is not there", name),
             fmt::format("ranks run on {}{}", names.hosts.empty() ? "hosts without names" : names.hosts.front(),
                         names.hosts.size() > 1 ? fmt::format(" and {} more", names.hosts.size() - 1) : ""),
             "Give names as leadline prints them");
    }
    const auto host = static_cast<std::uint32_t>(found - names.hosts.begin());
    const std::int64_t num_there =
        rank_layout.host_of.empty() ? rank_layout.num_ranks : std::ranges::count(rank_layout.host_of, host);
    std::int64_t num = num_there;
    if (!request.io_ranks.empty()) num = request.io_ranks.size() == 1 ? request.io_ranks.front() : request.io_ranks[i];
    if (num < 1 || num > num_there) {
      refuse(
          fmt::format("--io-ranks cannot be {} on {}", num, name),
          fmt::format("it has {} rank{}", num_there, num_there == 1 ? "" : "s"),
          fmt::format("Choose 1{}, or start more ranks there", num_there > 1 ? fmt::format(" to {}", num_there) : ""));
    }
    hosts.push_back({host, static_cast<int>(num)});
  }
  return hosts;
}

schedule::IoRanks io_ranks_of(const IoRequest& request, const RankLayout& rank_layout, const Names& names) {
  if (!schedule::is_funnel(request.movement)) return schedule::all_do_io(rank_layout.num_ranks);
  if (!request.io_hosts.empty()) {
    const std::vector<std::uint32_t> one_host(static_cast<std::size_t>(rank_layout.num_ranks), 0);
    return schedule::io_ranks_on_hosts(rank_layout.host_of.empty() ? one_host : rank_layout.host_of,
                                       io_hosts_of(request, rank_layout, names));
  }
  if (request.io_ranks.empty()) return schedule::all_do_io(rank_layout.num_ranks);
  if (request.io_ranks.size() > 1) {
    refuse(fmt::format("--io-ranks has {} numbers", request.io_ranks.size()),
           "a list says how many on each host, and there is no --io-hosts",
           "Add --io-hosts, or give one number for all hosts together");
  }
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return schedule::io_ranks_in_blocks(rank_layout.num_ranks,
                                      static_cast<int>(std::clamp<std::int64_t>(request.io_ranks.front(), 0, most)));
}

/// Of --block-size; a last block that is not full would leave holes behind it.
std::uint64_t objects_per_block_of(const IoRequest& request) {
  const std::uint64_t block = request.block_size_bytes, object = request.object_size_bytes;
  if (block == 0) return 1;
  if (block % object != 0) {
    refuse(fmt::format("--block-size cannot be {}", format_bytes(block)),
           fmt::format("it is no multiple of --object-size, {}", format_bytes(object)),
           fmt::format("Choose for example {}B", std::max<std::uint64_t>(block / object, 1) * object));
  }
  const std::uint64_t in_block = block / object;
  if (request.num_objects % in_block != 0) {
    refuse(fmt::format("--objects cannot be {}", request.num_objects),
           fmt::format("a block has {} of them, and the last one would not be full", in_block),
           fmt::format("Choose a multiple, for example {}", (request.num_objects / in_block + 1) * in_block));
  }
  return in_block;
}

int num_files_of(const IoRequest& request, const RankLayout& rank_layout, const Names& names) {
  if (request.movement != Movement::n_m) return 1;
  const bool is_by_list = request.num_files == 0;
  if (is_by_list && request.targets_file.empty()) {
    refuse("--movement N-M needs a number of files", "neither --files nor --targets says how many", "Add --files M");
  }
  const auto num =
      static_cast<std::int64_t>(is_by_list ? names.targets.size() : static_cast<std::size_t>(request.num_files));
  if (num < 1 || num > rank_layout.num_ranks) {
    refuse(is_by_list ? fmt::format("--targets names {} files", num) : fmt::format("--files cannot be {}", num),
           fmt::format("{} rank{} share them, and each belongs to one", rank_layout.num_ranks,
                       rank_layout.num_ranks == 1 ? "" : "s"),
           is_by_list ? "Say with --files how many of them to take"
                      : fmt::format("Choose at most {}", rank_layout.num_ranks));
  }
  return static_cast<int>(num);
}

schedule::FileLayout layout_of(const IoRequest& request, const RankLayout& rank_layout, const Names& names) {
  schedule::LayoutShape shape;
  shape.movement = request.movement;
  shape.order = request.order;
  shape.self_send = request.self_send;
  shape.num_objects = request.num_objects;
  shape.object_size_bytes = request.object_size_bytes;
  shape.num_files = num_files_of(request, rank_layout, names);
  shape.objects_per_block = objects_per_block_of(request);
  schedule::FileLayout layout(shape, io_ranks_of(request, rank_layout, names));
  if (request.no_file && layout.io_ranks().ranks.size() == static_cast<std::size_t>(rank_layout.num_ranks)) {
    refuse("--no-file leaves nothing to do", "all ranks are I/O ranks, and none sends anything",
           "Choose fewer --io-ranks than there are ranks");
  }
  return layout;
}

/// Of one repetition, in order.
std::vector<IoOperation> operations_of(const IoRequest& request) {
  std::vector<IoOperation> operations;
  if (request.metadata) {
    if (request.items != MetadataItems::files) operations = {IoOperation::mkdir, IoOperation::rmdir};
    if (request.items == MetadataItems::directories) return operations;
    operations.insert(operations.end(), {IoOperation::create, IoOperation::stat, IoOperation::open,
                                         IoOperation::read_file, IoOperation::unlink});
    return operations;
  }
  if (request.operations != IoOperations::read) operations.push_back(IoOperation::write);
  if (request.mix_read_share > 0) operations.push_back(IoOperation::mix);
  if (request.operations != IoOperations::write) operations.push_back(IoOperation::read);
  return operations;
}

std::vector<PhasePosition> phases_of(const IoRequest& request) {
  std::vector<PhasePosition> phases;
  const auto add = [&](IoOperation operation, int repeat) {
    phases.push_back({static_cast<int>(phases.size()), operation, repeat});
  };
  for (int repeat = 0; repeat < request.repeat; ++repeat) {
    for (const IoOperation operation : operations_of(request)) add(operation, repeat);
  }
  return phases;
}

void set_shift(const IoRequest& request, Plan& plan) {
  if (schedule::is_funnel(request.movement)) {
    refuse("--read-shift cannot be had",
           fmt::format("with --movement {} files are read by I/O ranks alone, for whom the file is",
                       name_of(request.movement)),
           "Use --drop-cache, or another --movement");
  }
  if (request.read_shift == ReadShift::ranks) {
    plan.shift_by_ranks = shift_by_ranks(request.read_shift_by, plan.layout.num_ranks());
  } else {
    plan.reads = reads_by_hosts(request.read_shift_by, plan.rank_layout);
  }
}

void choose_shift(const IoRequest& request, Plan& plan) {
  if (request.read_shift == ReadShift::none) return;
  try {
    set_shift(request, plan);
  } catch (const Error&) {
    if (!request.is_shift_optional) throw;
  }
}

/// Layout (16), whom it reads for, its name and the list that names are kept in.
constexpr double bytes_per_rank = 128;
/// Rows, histograms and the lists of slow calls while a phase goes on.
constexpr double fixed_bytes = 1 << 16;

/// From the beginning of one buffer to that of the next: each begins on a page.
double stride_of(std::uint64_t bytes) {
  const std::uint64_t num_pages = (bytes + page_bytes - 1) / page_bytes;
  return static_cast<double>(num_pages * page_bytes);
}

double ring_bytes(const IoRequest& request) {
  return stride_of(request.object_size_bytes) * static_cast<double>(ring_size(request));
}

/// An I/O rank of a funnel makes its own objects where they are written from, and has no ring.
double io_rank_bytes(const IoRequest& request, const Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return ring_bytes(request);
  return stride_of(plan.buffer_size_bytes) * plan.num_buffers;
}

double bytes_on_fullest_host(const Plan& plan, double own, double io_rank) {
  std::vector<double> on_host(1, 0.0);
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) {
    const auto& host_of = plan.rank_layout.host_of;
    const std::size_t host = host_of.empty() ? 0 : host_of[static_cast<std::size_t>(rank)];
    if (host >= on_host.size()) on_host.resize(host + 1, 0.0);
    on_host[host] += plan.layout.is_opener(rank) ? io_rank : own;
  }
  return *std::ranges::max_element(on_host);
}

double file_bytes(const IoRequest& request, const Plan& plan) {
  if (request.no_file) return 0;
  double bytes = 0;
  for (int file = 0; file < plan.layout.num_files(); ++file) {
    bytes += static_cast<double>(std::max(plan.layout.file_size_bytes(file), request.preallocate_bytes));
  }
  return bytes;
}

double funnel_bytes(const IoRequest& request, const Plan& plan) {
  if (!schedule::is_funnel(request.movement)) return 0;
  double num_senders = 0;
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) num_senders += plan.layout.is_opener(rank) ? 0 : 1;
  return num_senders * static_cast<double>(plan.num_objects) * static_cast<double>(request.object_size_bytes);
}

[[noreturn]] void refuse(const char* kind, std::int64_t by, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("--read-shift cannot be {}:{}", kind, by), why, hint);
}

std::size_t index(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Plan plan(const IoRequest& request, const RankLayout& rank_layout, const Names& names) {
  check_movement(request);
  check_sizes(request);
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.buffer_size_bytes = buffer_size_of(request);
  plan.num_buffers = request.num_ahead + 1;
  plan.num_objects = request.num_objects;
  plan.layout = layout_of(request, rank_layout, names);
  plan.phases = phases_of(request);
  if (!request.no_file) plan.templates = templates_of(request, plan, names);
  choose_shift(request, plan);
  plan.estimate = estimate_of(request, plan);
  return plan;
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  check_available(
      {plan.rank_layout.max_ranks_per_host, plan.estimate.host_bytes}, available_bytes,
      "Choose a smaller --object-size or --buffer-size, less --ahead or --queue-depth, or fewer ranks on a host");
}

Estimate estimate_of(const IoRequest& request, const Plan& plan) {
  const double tables = bytes_per_rank * plan.layout.num_ranks() + fixed_bytes;
  const double own = ring_bytes(request) + tables, io_rank = io_rank_bytes(request, plan) + tables;
  Estimate estimate;
  estimate.own_bytes = whole_bytes(own);
  estimate.io_rank_bytes = whole_bytes(io_rank);
  estimate.host_bytes = bytes_on_fullest_host(plan, own, io_rank);
  estimate.file_bytes = whole_bytes(file_bytes(request, plan));
  estimate.funnel_bytes = whole_bytes(funnel_bytes(request, plan));
  return estimate;
}

std::int64_t shift_by_ranks(std::int64_t by, int num_ranks) {
  const std::int64_t shift = (by % num_ranks + num_ranks) % num_ranks;
  if (shift != 0) return shift;
  refuse(
      "ranks", by,
      num_ranks == 1 ? "there is 1 rank" : fmt::format("with {} ranks every rank would read its own", num_ranks),
      num_ranks == 1 ? "Start more ranks, or leave it out" : fmt::format("Choose ranks:1 to ranks:{}", num_ranks - 1));
}

std::vector<std::int32_t> reads_by_hosts(std::int64_t by, const RankLayout& rank_layout) {
  const auto num_ranks = static_cast<std::int64_t>(rank_layout.host_of.size());
  const std::int64_t num_hosts = num_ranks == 0 ? 1 : std::int64_t{*std::ranges::max_element(rank_layout.host_of)} + 1;
  if (num_hosts == 1) {
    refuse("hosts", by, "all ranks are on one host",
           "Start ranks on several hosts, use --drop-cache or --direct, or leave it out");
  }
  const std::int64_t hosts_on = (by % num_hosts + num_hosts) % num_hosts;
  if (hosts_on == 0) {
    refuse("hosts", by, fmt::format("with {} hosts every rank would read its own", num_hosts),
           fmt::format("Choose hosts:1 to hosts:{}", num_hosts - 1));
  }
  std::vector<std::int64_t> num_on(index(num_hosts), 0);
  for (const std::uint32_t host : rank_layout.host_of) ++num_on[host];
  const std::int64_t most = *std::ranges::max_element(num_on);
  if (most > num_ranks - most) {
    refuse("hosts", by,
           fmt::format("one host has {} of {} ranks, so that some would read what it wrote itself", most, num_ranks),
           "Spread ranks evenly over hosts, use --drop-cache or --direct, or leave it out");
  }
  // Nobody stays on its host who moves on by as many ranks as the fullest host has, and as far from the other side.
  const std::int64_t to_that_host = std::accumulate(num_on.begin(), num_on.begin() + hosts_on, std::int64_t{0});
  const std::int64_t distance = std::clamp(to_that_host, most, num_ranks - most);

  std::vector<std::int32_t> by_host(index(num_ranks));
  std::iota(by_host.begin(), by_host.end(), 0);
  std::ranges::stable_sort(by_host, {}, [&](std::int32_t rank) { return rank_layout.host_of[index(rank)]; });
  std::vector<std::int32_t> reads(index(num_ranks));
  for (std::int64_t seat = 0; seat < num_ranks; ++seat) {
    reads[index(by_host[index(seat)])] = by_host[index((seat + distance) % num_ranks)];
  }
  return reads;
}

std::int32_t reads_for(const Plan& plan, const IoRequest& request, int rank) {
  switch (request.read_shift) {
    case ReadShift::none:
      return rank;
    case ReadShift::ranks:
      return static_cast<std::int32_t>((rank + plan.shift_by_ranks) % plan.layout.num_ranks());
    case ReadShift::hosts:
      return plan.reads.empty() ? rank : plan.reads[index(rank)];
  }
  return rank;
}

}  // namespace leadline::bench::io
