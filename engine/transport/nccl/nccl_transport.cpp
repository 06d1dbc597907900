// SPDX-License-Identifier: Apache-2.0
// The transport nccl: sends and receives of NCCL, within a host and between hosts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/address.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "memory/cuda/driver.hpp"
#include "model/request.hpp"
#include "transport/address_exchange.hpp"
#include "transport/link_sockets.hpp"
#include "transport/nccl/library.hpp"
#include "transport/nccl/nccl_collectives.hpp"
#include "transport/nccl/nccl_neighbours.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::nccl {

/// See kernel/link.hpp. Owns nothing, and so is cheap to make.
template <WaitMode wait>
class NcclLink {
 public:
  NcclLink(Operations& operations, int partner) : operations_(operations), partner_(partner) {}

  void send(const std::byte* data, std::size_t size) {
    operations_.add_send(partner_, data, size);
    operations_.complete<wait>();
  }

  void receive(std::byte* data, std::size_t size) {
    operations_.add_receive(partner_, data, size);
    operations_.complete<wait>();
  }

  void post_send(const std::byte* data, std::size_t size) { operations_.add_send(partner_, data, size); }
  void post_receive(std::byte* data, std::size_t size) { operations_.add_receive(partner_, data, size); }
  void complete_posted() { operations_.complete<wait>(); }

  void send_receipt() { send(nullptr, 0); }
  void await_receipt() { receive(nullptr, 0); }

  std::uint64_t now_ns() const { return leadline::now_ns(); }

 private:
  Operations& operations_;
  int partner_;
};

namespace {

/// For all ranks to come and for NCCL to look at network and devices. Guessed, for a thousand ranks and more.
constexpr auto patience = std::chrono::seconds(120);

/// Rank 0's goes down a tree, so that no rank connects to more than three others.
UniqueId share_id(const Context& context, const UniqueId& own, Deadline deadline) {
  UniqueId id = own;
  const auto exchange_with = [&](int partner) {
    const Descriptor socket = context.rendezvous.meet(partner, deadline);
    const std::string answer =
        exchange_addresses(socket.fd(), partner, {id.bytes, context.rank < partner ? sizeof id.bytes : 0}, deadline);
    if (partner < context.rank && answer.size() == sizeof id.bytes)
      std::memcpy(id.bytes, answer.data(), sizeof id.bytes);
  };
  if (context.rank > 0) exchange_with((context.rank - 1) / 2);
  for (const int child : {2 * context.rank + 1, 2 * context.rank + 2}) {
    if (child < context.size) exchange_with(child);
  }
  return id;
}

/// Collective. NCCL looks for the network by itself; what the user has chosen comes first.
UniqueId make_id(const Context& context, Deadline deadline) {
  if (!context.interface.empty()) {
    ::setenv("NCCL_SOCKET_IFNAME", ("=" + cluster::local_address(context.interface).device).c_str(), 1);
  }
  UniqueId id{};
  if (context.rank == 0) library().check(library().get_unique_id(&id), "ncclGetUniqueId");
  return share_id(context, id, deadline);
}

/// See kernel/all_to_all.hpp.
template <WaitMode wait>
struct StepLinks {
  Operations& operations;
  std::span<const std::int32_t> partners;  ///< by step

  void start() const {}
  NcclLink<wait> at(std::size_t step) { return {operations, partners[step]}; }
  std::uint64_t now_ns() const { return leadline::now_ns(); }
};

/// One communicator of all ranks. NCCL's manual warns of several that are in use at once: an operation keeps its place
/// on the GPU until its partner comes, and operations of two communicators may keep each other from beginning.
class NcclTransport final : public Transport {
  template <class Use>
  auto with_constant(const Use& use) {
    driver_.enter();
    if (wait_ == WaitMode::spin) return use(std::integral_constant<WaitMode, WaitMode::spin>{});
    return use(std::integral_constant<WaitMode, WaitMode::yield>{});
  }

 public:
  explicit NcclTransport(const Context& context)
      : library_(library()),
        driver_(memory::cuda::driver()),
        own_rank_(context.rank),
        num_ranks_(context.size),
        wait_(context.wait),
        progress_counter_(context.progress_counter),
        sockets_(context.rank, context.size, context.rendezvous, link_limit()),
        communicator_(bring_together(context)),
        operations_(driver_, *communicator_) {}

  TransportInfo info() const override {
    const auto device = driver_.facts_of(driver_.device());
    TransportInfo info;
    info.name = "nccl";
    info.library = library_.version();
    info.device = device.name + " " + device.pci_bus_id;
    return info;
  }

  /// NCCL does the operations of a communicator one after the other: apart, sends and receives around a ring would wait
  /// for one another for ever. So both are in one group.
  bool has_streams_in_step() const noexcept override { return true; }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = partner == own_rank_ ? Path::to_self : Path::to_partner;
    with_constant([&](auto wait) {
      NcclLink<wait> link(operations_, partner);
      kernel::run(link, exchange, path, buffers, samples, progress_counter_);
    });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own_rank_, partner} : kernel::TransferRanks{partner, own_rank_};
    return with_constant([&](auto wait) {
      NcclLink<wait> link(operations_, partner);
      return kernel::verify(link, exchange, ends, buffers, fill, progress_counter_);
    });
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    with_constant([&](auto wait) {
      StepLinks<wait> links{operations_, steps.partners};
      kernel::all_to_all(links, steps, buffers, samples, progress_counter_);
    });
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    const Neighbourhood around(exchange, own_rank_, num_ranks_, sockets_);
    return with_constant([&](auto wait) {
      NcclNeighbours<wait> links(operations_, around, exchange, buffers);
      return kernel::run_neighbours(links, exchange, own_rank_, buffers, task, progress_counter_);
    });
  }

  /// Its operations run in order, so a receive that waits would hold up every send behind it. Nothing asks for such
  /// messages where they lie in GPU memory.
  std::unique_ptr<Messages> messages(std::span<const std::int32_t> /*partners*/, std::size_t /*max_tickets*/) override {
    throw Error(ExitStatus::something_missing, "NCCL has no messages that go one by one",
                "what a rank does with it happens in order", "Choose another --transport");
  }

  std::unique_ptr<Collectives> collectives(std::span<const std::int32_t> group) override {
    driver_.enter();
    std::unique_ptr<Communicator> own;
    if (group.size() < static_cast<std::size_t>(num_ranks_)) {
      const int color = group.empty() ? Library::in_no_group : group.front();
      own = std::make_unique<Communicator>(*communicator_, color, own_rank_);
      if (group.empty()) return nullptr;
    }
    return std::make_unique<NcclCollectives>(driver_, *communicator_, std::move(own), group.size(), wait_,
                                             progress_counter_);
  }

 private:
  /// The socket tells that the partner is there, too; NCCL, which opens its own ways with the first message, would wait
  /// for it for ever.
  Connected open_link(int partner, Deadline deadline) override {
    driver_.enter();
    const bool is_open =
        partner == own_rank_ ? std::exchange(has_loop_, true) : sockets_.connect(partner, deadline) == Connected::again;
    if (is_open) return Connected::again;
    greet(partner, deadline);
    return Connected::anew;
  }

  static std::unique_ptr<Communicator> bring_together(const Context& context) {
    const auto deadline = Deadline::after(patience);
    const UniqueId id = make_id(context, deadline);
    return std::make_unique<Communicator>(memory::cuda::driver(), context.rank, context.size, id, deadline);
  }

  void greet(int partner, Deadline deadline) {
    operations_.add_send(partner, nullptr, 0);
    operations_.add_receive(partner, nullptr, 0);
    if (!operations_.complete_by(deadline)) throw_late(partner);
  }

  const Library& library_;
  const memory::cuda::Driver& driver_;
  int own_rank_, num_ranks_;
  WaitMode wait_;
  ProgressCounter& progress_counter_;
  LinkSockets sockets_;
  std::unique_ptr<Communicator> communicator_;
  Operations operations_;
  bool has_loop_ = false;
};

std::vector<Fact> facts() {
  std::vector<Fact> facts{{"library", library().version()}};
  for (auto& [name, value] : memory::cuda::facts(memory::cuda::driver())) facts.push_back({name, value});
  return facts;
}

}  // namespace

extern constexpr Module module{
    .settings = {},
    .load = [] { library(); },
    .facts = &facts,
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "NCCL's messages are awaited by looking at the GPU" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::gpu ? "" : "messages of this transport lie in GPU memory: --allocator cuda";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<NcclTransport>(context);
    },
};

}  // namespace leadline::transport::nccl
