// SPDX-License-Identifier: Apache-2.0
// The contract of a transport: a way to move bytes between two ranks. tests/contract/ is its definition in code.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/rendezvous.hpp"
#include "core/deadline.hpp"
#include "core/dynamic_library.hpp"
#include "core/progress_counter.hpp"
#include "kernel/exchange.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "memory/buffer.hpp"
#include "model/provenance.hpp"
#include "model/request.hpp"
#include "transport/collectives.hpp"
#include "transport/messages.hpp"
#include "transport/settings.hpp"

namespace leadline::transport {

enum class Connected : std::uint8_t {
  again,  ///< the link was open at both ends
  anew,
};

/// Of one rank, over all links that it has opened; each end of a link counts its own.
struct ConnectionTimes {
  std::uint64_t num_opened = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::int32_t longest_partner = -1;
};

/// Links that broke in an exchange of many ranks, of which the rest has been done.
class LinksLost : public Error {
 public:
  /// At least one, each partner once.
  explicit LinksLost(std::vector<cluster::ConnectionLost> links) : Error(links.front()), links_(std::move(links)) {}

  const std::vector<cluster::ConnectionLost>& links() const { return links_; }

 private:
  std::vector<cluster::ConnectionLost> links_;
};

/// What this end of a link has sent again, since it was not acknowledged in time.
struct Resent {
  std::int32_t partner = -1;
  std::uint64_t num = 0;  ///< in the units of the transport: TCP segments
};

/// What a transport is given when it is opened. References outlive the transport.
struct Context {
  int rank = 0;
  int size = 1;
  std::span<const std::uint32_t> host_of;  ///< host index of every rank
  cluster::Rendezvous& rendezvous;         ///< direct sockets to partners, for data or for addresses
  WaitMode wait = WaitMode::spin;          ///< decided: never automatic
  Settings settings;                       ///< of those that the module has
  std::string interface;                   ///< network to use: see cluster::matches(); empty = the transport's choice
  ProgressCounter& progress_counter;       ///< to be beaten after every batch
};

/// Whether no message leaves the host.
bool is_on_one_host(const Context& context);

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Local. Library, version, device.
  virtual TransportInfo info() const = 0;

  /// Partners: both ends call it before anything else passes between them, in any order of partners as long as
  /// no two pairs wait for each other. Opens the link and passes one empty message each way, so that set-up is
  /// never timed. Calling it again for an open link is cheap. A transport that keeps a bounded number of links closes
  /// those that were connected longest ago, but none to kernel::barrier_partners(): these are opened once, others
  /// before each use. partner == own rank opens the loop to itself.
  /// Throws Error(run_failed) when the deadline passes.
  void connect(int partner, Deadline deadline);

  /// Local: what connect() has cost this rank so far.
  const ConnectionTimes& connection_times() const { return connection_times_; }

  /// Local, before the first link is opened: a link over which nothing has come through for so long, though something
  /// is under way or awaited, counts as broken. False where the transport cannot tell, or the others cannot go on
  /// after connect(), run() or verify() with one partner has thrown cluster::ConnectionLost. Where it returns true,
  /// exchange_with_neighbours() does all but what is to pass over a link that breaks or is not open, and then throws
  /// LinksLost.
  virtual bool give_up_silent_links(std::chrono::milliseconds /*limit*/) { return false; }

  /// Local, on all ranks between the same two exchanges with neighbours, after give_up_silent_links(): barriers of
  /// these exchanges are done by this function, so that no links to kernel::barrier_partners() are needed.
  virtual void replace_barrier(std::function<void()> /*barrier*/) {}

  /// Local, after such an error: closes the link, so that the partner gets one, too, if it still waits.
  virtual void drop_link(int /*partner*/) {}

  /// Partners: one measurement, both ends with the same numbers and opposite roles (bidirectional: any roles).
  /// Blocks. `samples` is where the leading side's batches go: num_messages are spread over them as evenly as
  /// whole messages allow, earlier ones getting the surplus; samples.size() is at least 1 and at most
  /// num_messages, and the same on both ends. The following side's samples are left alone, except in a
  /// bidirectional exchange, where both sides time their own. With partner == own rank every message goes from the rank
  /// to itself, once. In the timed region: no allocation, lock, log, virtual call or exception, and no system call that
  /// is not the subject. Throws Error(run_failed) when the link breaks; may otherwise wait for ever, since the watch
  /// (cluster/) ends a process whose partner is gone.
  virtual void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                   std::span<Sample> samples) = 0;

  /// Partners: num_messages messages from the leading to the following side, every byte of every message new and
  /// checked by the receiver; untimed. Returns what the receiver found wrong first; the sender returns nothing.
  virtual std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner,
                                                 const kernel::Buffers& buffers, Fill fill) = 0;

  /// Collective over the ranks whose steps fit together: the exchange once untimed, then once for each sample, whose
  /// time is that of this rank's whole exchange (num_messages: its messages out). Links are open already. Like run() it
  /// blocks, throws and keeps the timed region free.
  virtual void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                          std::span<Sample> samples) = 0;

  /// Collective over all ranks, whose exchanges fit together and whose tasks are alike: exchanges with many neighbours,
  /// a barrier of all ranks before and behind each, by this rank's clock. Links to all partners are open already, and
  /// so are those to kernel::barrier_partners(), for transports that have no barrier of their own. Like run() it
  /// blocks, throws and keeps the timed region free. Returns the first mismatch that this rank found in a verification.
  virtual std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                            const kernel::NeighbourBuffers& buffers,
                                                                            const kernel::NeighbourTask& task) = 0;

  /// Local: whether in an exchange as streams (kernel::TimedStreams) what a rank receives counts as done only when what
  /// it sends is, so that the channels are not independent.
  virtual bool has_streams_in_step() const noexcept { return false; }

  /// Local: messages one by one with these partners (each once, none the rank itself), links to all of whom are open
  /// already; nothing else passes over those links while it lives. At most max_tickets are under way, or done and not
  /// handed out.
  virtual std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) = 0;

  /// Collective over all ranks: collective operations of the library itself in this rank's group. Groups are disjoint;
  /// each of its ranks names all of it (ascending), and a rank that is in none names nobody, and gets null. Null on all
  /// ranks where the library has no such operations.
  virtual std::unique_ptr<Collectives> collectives(std::span<const std::int32_t> /*group*/) { return nullptr; }

  /// Local: links on which something had to be sent again since the last call, as far as the transport can tell.
  virtual std::vector<Resent> resent() { return {}; }

  /// Local: called while the rank waits on the control plane, so that what it has sent goes on its way.
  virtual void progress() noexcept {}

  /// Local: whether progress() does anything; a rank that need not progress may sleep in its waits.
  virtual bool needs_progress() const noexcept { return false; }

  /// Local: the host of a rank in a simulated fabric; empty = the one it is really on.
  virtual std::string simulated_host(int /*rank*/) const { return {}; }

 private:
  /// As connect(), which keeps the time of those that are opened anew; both ends return the same.
  virtual Connected open_link(int partner, Deadline deadline) = 0;

  ConnectionTimes connection_times_;
};

/// Something worth knowing about a library as it is here: {"library", "UCX 1.13.1"}, {"device", "rxe0, port 1, ..."},
/// {"limit", "locked memory 8 MiB (ulimit -l)"}.
struct Fact {
  std::string name;
  std::string value;
};

/// What a transport offers: the constant `module` in its own namespace. See transport/module.hpp for how it is found.
struct Module {
  /// Those that this transport has; the first is what may stand behind "name:".
  std::span<const Setting> settings;

  /// Local: opens the vendor's library; null where there is none. Throws Error(something_missing) with the loader's
  /// reason.
  void (*load)() = nullptr;

  /// Local, in a process of its own: version, devices and limits, for people. Throws Error(something_missing) where the
  /// library cannot be used here.
  std::vector<Fact> (*facts)();

  /// Local: the reason why a wait mode cannot be had, or empty.
  std::string (*refuses_wait)(WaitMode mode);

  /// Local, once the library is started: the reason why messages cannot lie in memory of this kind, or empty.
  std::string (*refuses_memory)(memory::Location place);

  /// Local, before all others: takes the functions of MPI from the library that was found; null where a transport calls
  /// no MPI. Throws Error(something_missing) where the library lacks one.
  void (*take_mpi)(const DynamicLibrary& library) = nullptr;

  /// Collective: starts the library under its launcher and says who we are; null where a transport starts nothing.
  std::unique_ptr<cluster::Bootstrap> (*bootstrap)();

  /// Collective. Throws Error(something_missing) where a device or permission is missing.
  std::unique_ptr<Transport> (*open)(const Context& context);
};

/// Changes where a virtual function, an argument or what one means changes that others than our own transports use.
inline constexpr std::uint64_t interface_version = 2;

/// What program and file must have in common: the version, the sizes of what crosses between them, the compiler.
constexpr std::uint64_t interface_hash() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const std::uint64_t value :
       {interface_version, std::uint64_t{sizeof(Module)}, std::uint64_t{sizeof(Context)},
        std::uint64_t{sizeof(Transport)}, std::uint64_t{sizeof(Messages)}, std::uint64_t{sizeof(CollectiveCall)},
        std::uint64_t{sizeof(Setting)}, std::uint64_t{sizeof(Fact)}, std::uint64_t{sizeof(TransportInfo)},
        std::uint64_t{sizeof(kernel::Exchange)}, std::uint64_t{sizeof(kernel::Buffers)},
        std::uint64_t{sizeof(kernel::AllToAllSteps)}, std::uint64_t{sizeof(kernel::NeighbourExchange)},
        std::uint64_t{sizeof(kernel::NeighbourBuffers)}, std::uint64_t{sizeof(kernel::NeighbourTask)},
        std::uint64_t{sizeof(Sample)}, std::uint64_t{sizeof(Error)}, std::uint64_t{sizeof(LinksLost)},
        std::uint64_t{sizeof(ProgressCounter)}}) {
    add(value);
  }
  for (const char* letter = __VERSION__; *letter != '\0'; ++letter) add(static_cast<unsigned char>(*letter));
  return hash;
}

/// What the file of a transport exports that is no part of the program, with C linkage. It is data, and is compared
/// before anything of the file is called. Its layout never changes.
struct TransportFile {
  std::uint64_t interface = 0;  ///< interface_hash()
  const char* name = nullptr;
  const char* version = nullptr;  ///< of Leadline, as the commit
  const char* commit = nullptr;
  const Module* module = nullptr;
};
inline constexpr const char* transport_file_symbol = "leadline_transport_file";

/// "8.0 MiB", "unlimited", "unknown"
std::string locked_memory_limit();

/// The same for Module::facts().
Fact locked_memory();

}  // namespace leadline::transport
