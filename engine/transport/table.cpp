// SPDX-License-Identifier: Apache-2.0
// The table itself: one line per transport.
#include "transport/table.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

/// Most have one build of their own name, under any launcher.
constexpr Entry one_build(const char* name, const char* purpose, std::array<Limit, 2> limits) {
  return {name, purpose, {{{name}}}, limits};
}

constexpr std::array<Limit, 2> no_gpu_memory(const char* why) { return {{{"--allocator cuda", why}}}; }

/// Its messages lie nowhere else.
constexpr Entry in_gpu_memory(const char* name, const char* purpose) {
  Entry entry =
      one_build(name, purpose, {{{"--verify", "no: the pass makes and compares its contents in ordinary memory"}}});
  entry.allocator = "cuda";
  return entry;
}

/// Ranks that do not come may be left out, where the user gives the setting or it is empty.
constexpr Entry without_absent(Entry entry, const char* setting = "") {
  entry.begins_without_absent = setting;
  return entry;
}

constexpr Entry table[] = {
    without_absent(one_build("tcp", "the kernel's TCP sockets; works everywhere",
                             no_gpu_memory("no: sockets read and write ordinary memory"))),
    {"mpi",
     "the MPI library that the launcher belongs to",
     {{{"mpi_openmpi", leadline::mpi::Abi::open_mpi},
       {"mpi_mpich", leadline::mpi::Abi::mpich},
       {"mpi_abi", leadline::mpi::Abi::standard}}},
     no_gpu_memory("if the MPI library is built for it")},
    without_absent(one_build("ucx", "UCX: shared memory, TCP, InfiniBand, whatever UCX_TLS allows (ucx:tcp,self)",
                             no_gpu_memory("if UCX is built for it")),
                   "go-on=yes"),
    without_absent(one_build(
        "libfabric", "libfabric: Slingshot, EFA, Omni-Path, TCP, shared memory, by its provider (libfabric:shm)",
        no_gpu_memory("no: it is not registered with libfabric"))),
    without_absent(one_build("verbs", "InfiniBand verbs: InfiniBand and RoCE, by device (verbs:mlx5_0)",
                             no_gpu_memory("no: it is not registered with the adapter"))),
    one_build("psm2", "PSM2: Omni-Path", no_gpu_memory("no: PSM2 is not asked for it")),
    one_build("portals4", "Portals 4: BXI, and whatever else has an implementation",
              no_gpu_memory("no: Portals 4 knows ordinary memory alone")),
    in_gpu_memory("cuda", "GPU memory of one host, copied by the GPUs' own engines"),
    in_gpu_memory("nccl", "NCCL: GPU memory within a host and between hosts, a GPU for every rank"),
    one_build("model", "a simulated fabric from a file (model:FILE)",
              {{{"--allocator cuda", "no: its bytes travel through sockets"},
                {"--check-buffers", "no: its timed messages have no contents"}}}),
};

}  // namespace

std::span<const Entry> transports() { return table; }

bool is_file(std::string_view name) { return name.find('/') != std::string_view::npos; }

const Entry& transport_named(std::string_view name) {
  static constexpr Entry in_file = one_build("file", "a transport in a file", {});
  if (is_file(name)) return in_file;
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& e) { return e.name == name; });
  if (found != std::end(table)) return *found;
  std::string names;
  for (const Entry& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw Error(ExitStatus::bad_command_line, "there is no transport \"" + std::string(name) + "\"",
              "the transports are " + names, "\"leadline transports\" says which can be used here");
}

const char* default_allocator(std::string_view choice) {
  const std::string name = parse_choice(choice).name;
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& entry) { return entry.name == name; });
  return found == std::end(table) ? nullptr : found->allocator;
}

std::string why_no_mpi(cluster::Launcher launcher) {
  if (launcher == cluster::Launcher::none) return "no launcher has started this process";
  return std::string("what started this process is: ") + cluster::name_of(launcher);
}

std::string how_to_start_mpi(cluster::Launcher launcher, std::string_view command) {
  if (launcher == cluster::Launcher::slurm_step) return "Try: srun --mpi=pmix (Open MPI) or srun --mpi=pmi2 (MPICH)";
  return "Try: mpirun -n 4 " + std::string(command);
}

std::span<const Build> Entry::builds() const {
  const auto end =
      std::find_if(build_list.begin(), build_list.end(), [](const auto& build) { return build.name == nullptr; });
  return {build_list.begin(), end};
}

std::span<const Limit> Entry::limits() const {
  const auto end =
      std::find_if(limit_list.begin(), limit_list.end(), [](const auto& limit) { return limit.option == nullptr; });
  return {limit_list.begin(), end};
}

bool begins_without_absent(const Entry& transport, std::span<const std::string> settings) {
  const char* const setting = transport.begins_without_absent;
  if (setting == nullptr || *setting == '\0') return setting != nullptr;
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

const Limit* limit_of(const Entry& transport, std::string_view option) {
  for (const Limit& limit : transport.limits()) {
    if (option == limit.option) return &limit;
  }
  return nullptr;
}

Choice parse_choice(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace leadline::transport
