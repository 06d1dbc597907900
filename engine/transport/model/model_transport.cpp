// SPDX-License-Identifier: Apache-2.0
// The transport model: a fabric out of a file, for demonstrations and tests; its times are virtual and repeatable.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "transport/link_sockets.hpp"
#include "transport/model/fabric.hpp"
#include "transport/model/model_link.hpp"
#include "transport/model/model_neighbours.hpp"
#include "transport/socket_traffic.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::model {

/// Whoever works between messages does so in real time, on real disks: virtual times of messages would mean nothing.
class ModelMessages final : public Messages {
 public:
  ModelMessages(const Fabric& fabric, Station& own, std::span<const std::int32_t> partners, std::size_t max_tickets,
                const LinkSockets& sockets)
      : fabric_(fabric), own_(own), wire_(partners, max_tickets, sockets, WaitMode::block) {}

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    while (own_.silent_after && own_.num_sent >= *own_.silent_after) ::pause();
    ++own_.num_sent;
    wire_.post_send(partner, data, ticket);
  }

  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    const auto byte = corrupted_byte(fabric_, partner, own_.rank, num_taken_[partner]++);
    if (byte && *byte < data.size()) to_corrupt_[ticket] = &data[*byte];
    wire_.post_receive(partner, data, ticket);
  }

  std::optional<Ticket> poll() override {
    const auto done = wire_.poll();
    if (done) corrupt(*done);
    return done;
  }

  Ticket await_any() override {
    const Ticket done = wire_.await_any();
    corrupt(done);
    return done;
  }

 private:
  void corrupt(Ticket ticket) {
    const auto found = to_corrupt_.find(ticket);
    if (found == to_corrupt_.end()) return;
    *found->second ^= std::byte{0x01};
    to_corrupt_.erase(found);
  }

  const Fabric& fabric_;
  Station& own_;
  SocketMessages wire_;
  std::map<int, std::uint64_t> num_taken_;  ///< by partner
  std::map<Ticket, std::byte*> to_corrupt_;
};

namespace {

/// See kernel/all_to_all.hpp. All ranks begin at once; the clock goes on from link to link, so that a rank that waits
/// for a partner who is late is late for the next.
struct StepLinks {
  const Fabric& fabric;
  Station& own;
  std::span<const std::int32_t> partners;
  const std::vector<LinkEnds>& ends;
  Posted& posted;

  void start() const { own.clock_ns = 0; }
  ModelLink at(std::size_t step) const { return {fabric, own, partners[step], ends[step], posted, Payload::none}; }
  std::uint64_t now_ns() const { return own.clock_ns; }
};

class ModelTransport final : public Transport {
 public:
  explicit ModelTransport(const Context& context)
      : file_(context.settings.text("file")),
        num_ranks_(context.size),
        fabric_(load_fabric(file_, context.size)),
        own_{.rank = context.rank, .silent_after = silent_after(fabric_, context.rank)},
        progress_counter_(context.progress_counter),
        sockets_(context.rank, context.size, context.rendezvous, link_limit()) {}

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "model";
    info.library = "simulated fabric " + file_;
    info.simulated = true;
    return info;
  }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    Posted posted(kernel::num_in_flight(exchange));
    ModelLink link = link_to(partner, posted, Payload::none);
    const Path path = partner == own_.rank ? Path::to_self : Path::to_partner;
    kernel::run(link, exchange, path, buffers, samples, progress_counter_);
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    Posted posted(kernel::num_in_flight(exchange));
    ModelLink link = link_to(partner, posted, Payload::whole);
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own_.rank, partner} : kernel::TransferRanks{partner, own_.rank};
    return kernel::verify(link, exchange, ends, buffers, fill, progress_counter_);
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    const std::vector<LinkEnds> ends = sockets_.all_ends(steps.partners);
    Posted posted(1);
    StepLinks links{fabric_, own_, steps.partners, ends, posted};
    kernel::all_to_all(links, steps, buffers, samples, progress_counter_);
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    const bool is_verified = std::holds_alternative<kernel::VerifiedExchanges>(task);
    const Neighbourhood around(exchange, own_.rank, num_ranks_, sockets_);
    ModelNeighbours links(fabric_, own_, around, exchange, buffers, is_verified ? Payload::whole : Payload::none,
                          completions_for(task));
    return kernel::run_neighbours(links, exchange, own_.rank, buffers, task, progress_counter_);
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) override {
    return std::make_unique<ModelMessages>(fabric_, own_, partners, max_tickets, sockets_);
  }

  std::string simulated_host(int rank) const override {
    return fabric_.host_name + std::to_string(host_of(fabric_, rank));
  }

 private:
  Connected open_link(int partner, Deadline deadline) override {
    return partner == own_.rank ? Connected::again : sockets_.connect(partner, deadline);
  }

  ModelLink link_to(int partner, Posted& posted, Payload payload) {
    own_.clock_ns = 0;
    return {fabric_, own_, partner, sockets_.ends(partner), posted, payload};
  }

  std::string file_;
  int num_ranks_;
  Fabric fabric_;
  Station own_;
  ProgressCounter& progress_counter_;
  LinkSockets sockets_;
};

constexpr Setting settings[] = {{"file", "FILE", "the fabric; see docs/formats/model-fabric.md. Must be given"}};

}  // namespace

// Its ranks sleep while they wait on real sockets, and its times do not depend on that: any wait mode is accepted.
extern constexpr Module module{
    .settings = settings,
    .facts =
        [] {
          return std::vector<Fact>{{"library", "none: simulated"}};
        },
    .refuses_wait = [](WaitMode) { return std::string(); },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "a simulated fabric takes nothing but ordinary memory";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<ModelTransport>(context);
    },
};

}  // namespace leadline::transport::model
