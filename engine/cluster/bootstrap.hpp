// SPDX-License-Identifier: Apache-2.0
// How processes that were started together learn who they are and where the others listen.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"

namespace leadline::cluster {

enum class Launcher : std::uint8_t {
  none,         ///< nothing: a shell
  hosts,        ///< Leadline itself on the hosts of --hosts
  environment,  ///< the LEADLINE_* variables, or those of torchrun
  linktest,     ///< the LINKTEST_TCP_* variables
  open_mpi,     ///< mpirun of Open MPI
  mpich,        ///< mpiexec of MPICH (Hydra), or another launcher with PMI-1
  slurm_pmix,   ///< srun --mpi=pmix
  slurm_pmi2,   ///< srun --mpi=pmi2
  pmix,         ///< another launcher with PMIx
  slurm_step,   ///< srun with another PMI, or none
};

/// Whose variables count beside the launchers' own.
enum class FrontEnd : std::uint8_t {
  leadline,
  linktest,  ///< the LINKTEST_TCP_* ones too, which go before all others
};

Launcher detect_launcher(FrontEnd front_end = FrontEnd::leadline);

/// A launcher whose processes cannot find each other by what it tells them.
struct UnsupportedLauncher {
  const char* name;       ///< for people
  const char* rank;       ///< the variable with a process's number
  const char* num_ranks;  ///< the variable with the number of all of them, not always set; null = it has none
};

/// The one that started this process and others; null where there is none, and where it started this one alone.
const UnsupportedLauncher* unsupported_launcher();

/// For people: "Open MPI mpirun", "Slurm (pmix)" ...
const char* name_of(Launcher launcher);

/// This process's rank as its launcher says; 0 if it says nothing.
int rank_hint(FrontEnd front_end = FrontEnd::leadline);

/// Whether this process should print an error that comes up before the ranks can agree on one: under a launcher
/// with one terminal rank 0 reports for all; each of the ranks that were started one by one reports for itself.
bool speaks_before_joining(FrontEnd front_end = FrontEnd::leadline);

/// Where one rank listens: an IPv4 or IPv6 address in text and a port.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

/// What a bootstrap may know without communication: where each rank listens, and the secret of the run.
class Membership {
 public:
  virtual ~Membership() = default;

  /// Local, once: the socket on which this rank listens at its endpoint.
  virtual Descriptor take_listener() = 0;

  /// Local. Throws Error(bad_command_line) where the user has to say it and did not.
  virtual Endpoint endpoint_of(int rank) const = 0;

  /// Known to all ranks of the run and to no other process.
  virtual std::string_view secret() const = 0;
};

/// A host that is known not to come.
struct AbsentHost {
  std::string name;
  std::string why;
};

/// Who we are, from whatever started us. Implemented by the local launcher, by the explicit environment
/// variables (both in cluster/) and by transports whose library has a launcher of its own (MPI).
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// For people: "local", "environment", "Open MPI mpirun" ...
  virtual std::string launcher() const = 0;

  /// Local: what is known without asking, owned by the bootstrap; null where only all_gather can tell.
  virtual Membership* membership() { return nullptr; }

  /// Collective, only before the cluster stands, and only where there is no membership: every rank's text, one
  /// behind the other, by rank. All the same length; zeros stand for a rank that is absent.
  virtual std::string all_gather(const std::string& own);

  /// Local: what all ranks know, and of those who can read the network nobody else; it becomes part of the secret of
  /// the run. Empty where all_gather goes over connections that are not ours.
  virtual std::string_view known_secret() const { return {}; }

  /// Local: the cluster stands, and all_gather will not be called again.
  virtual void joined() {}

  /// Local: whether nobody else sees to it that all ranks are there.
  virtual bool starts_ranks_one_by_one() const { return false; }

  /// Local: the host of a rank that is known not to come; null for all others.
  virtual const AbsentHost* absent_host(int) const { return nullptr; }

  /// Local, on rank 0, later on one that takes its part: from now on the run goes on where another rank dies.
  virtual void going_on_without_lost_ranks() {}

  /// Local, from the watch thread: this process is about to say on stderr why the run failed. False where another has
  /// said it, as far as that is known.
  virtual bool reporting() { return true; }

  /// Local, from the watch thread: it has said so, and all end; those that are inside a call into a file system may not
  /// be able to.
  virtual void ends_but_for_the_kernel() {}

  /// Local, from the watch thread, as the last thing: makes the launcher end all processes, also one that is stopped
  /// and would keep it waiting. May end this process, or never return.
  virtual void end_all() {}
};

}  // namespace leadline::cluster
