// SPDX-License-Identifier: Apache-2.0
// The table itself: one line per transport.
#include "transport/table.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

using cluster::Launcher;

// MPICH has no PMIx in Debian's build: under Slurm with --mpi=pmix every one of its ranks would be alone.
constexpr Launcher open_mpi_launchers[] = {Launcher::open_mpi, Launcher::slurm_pmix, Launcher::pmix};
constexpr Launcher mpich_launchers[] = {Launcher::mpich, Launcher::slurm_pmi2};

constexpr ModuleFile tcp_files[] = {{"tcp", {}}};
constexpr ModuleFile mpi_files[] = {{"mpi_openmpi", open_mpi_launchers}, {"mpi_mpich", mpich_launchers}};
constexpr ModuleFile model_files[] = {{"model", {}}};

constexpr Limit tcp_limits[] = {{"--allocator cuda", "no: sockets read and write ordinary memory"}};
constexpr Limit mpi_limits[] = {{"--allocator cuda", "if the MPI library is built for it"}};
constexpr Limit model_limits[] = {{"--allocator cuda", "no: its bytes travel through sockets"},
                                  {"--check-buffers", "no: its timed messages have no contents"}};

constexpr Entry table[] = {
    {"tcp", "the kernel's TCP sockets; works everywhere", tcp_files, tcp_limits},
    {"mpi", "the MPI library that the launcher belongs to", mpi_files, mpi_limits},
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
