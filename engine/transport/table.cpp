// SPDX-License-Identifier: Apache-2.0
// The table itself: one line per transport.
#include "transport/table.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

constexpr ModuleFile tcp_files[] = {{"tcp", {}}};
constexpr ModuleFile mpi_files[] = {{"mpi_openmpi", open_mpi_launchers}, {"mpi_mpich", mpich_launchers}};
constexpr ModuleFile ucx_files[] = {{"ucx", {}}};
constexpr ModuleFile libfabric_files[] = {{"libfabric", {}}};
constexpr ModuleFile verbs_files[] = {{"verbs", {}}};
constexpr ModuleFile psm2_files[] = {{"psm2", {}}};
constexpr ModuleFile portals4_files[] = {{"portals4", {}}};
constexpr ModuleFile model_files[] = {{"model", {}}};

constexpr Limit tcp_limits[] = {{"--allocator cuda", "no: sockets read and write ordinary memory"}};
constexpr Limit mpi_limits[] = {{"--allocator cuda", "if the MPI library is built for it"}};
constexpr Limit ucx_limits[] = {{"--allocator cuda", "if UCX is built for it"}};
constexpr Limit libfabric_limits[] = {{"--allocator cuda", "no"}};
constexpr Limit verbs_limits[] = {{"--allocator cuda", "no"}};
constexpr Limit psm2_limits[] = {{"--allocator cuda", "no"}};
constexpr Limit portals4_limits[] = {{"--allocator cuda", "no"}};
constexpr Limit model_limits[] = {{"--allocator cuda", "no: its bytes travel through sockets"},
                                  {"--check-buffers", "no: its timed messages have no contents"}};

constexpr Entry table[] = {
    {"tcp", "the kernel's TCP sockets; works everywhere", tcp_files, tcp_limits},
    {"mpi", "the MPI library that the launcher belongs to", mpi_files, mpi_limits},
    {"ucx", "UCX: shared memory, TCP, InfiniBand, whatever UCX_TLS allows (ucx:tcp,self)", ucx_files, ucx_limits},
    {"libfabric", "libfabric: Slingshot, EFA, Omni-Path, TCP, shared memory, by its provider (libfabric:shm)",
     libfabric_files, libfabric_limits},
    {"verbs", "InfiniBand verbs: InfiniBand and RoCE, by device (verbs:mlx5_0)", verbs_files, verbs_limits},
    {"psm2", "PSM2: Omni-Path", psm2_files, psm2_limits},
    {"portals4", "Portals 4: BXI, and whatever else has an implementation", portals4_files, portals4_limits},
    {"model", "a make-believe fabric out of a file (model:FILE)", model_files, model_limits},
};

}  // namespace

std::span<const Entry> transports() { return table; }

const Entry& transport_named(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& e) { return e.name == name; });
  if (found != std::end(table)) return *found;
  std::string names;
  for (const Entry& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw Error(ExitStatus::bad_command_line, "there is no transport \"" + std::string(name) + "\"",
              "the transports are " + names, "\"leadline transports\" says which can be used here");
}

const ModuleFile* fitting_file(std::span<const ModuleFile> files, cluster::Launcher launcher) {
  for (const ModuleFile& file : files) {
    const auto& under = file.launchers;
    if (under.empty() || std::find(under.begin(), under.end(), launcher) != under.end()) return &file;
  }
  return nullptr;
}

std::string why_not_fitting(cluster::Launcher launcher) {
  if (launcher == cluster::Launcher::none) return "no launcher has started this process";
  return std::string("what started this process is: ") + cluster::name_of(launcher);
}

const Limit* limit_of(const Entry& transport, std::string_view option) {
  for (const Limit& limit : transport.limits) {
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
