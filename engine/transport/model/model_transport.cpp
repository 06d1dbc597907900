// SPDX-License-Identifier: Apache-2.0
// The module "model": a fabric out of a file, for demonstrations and tests; its times are virtual and repeatable.
#include <memory>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "kernel/run.hpp"
#include "kernel/verify.hpp"
#include "transport/link_sockets.hpp"
#include "transport/model/fabric.hpp"
#include "transport/model/model_link.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::model {
namespace {

class ModelTransport final : public Transport {
 public:
  explicit ModelTransport(const Context& context)
      : own_rank_(context.rank),
        file_(context.argument),
        fabric_(load_fabric(context.argument, context.size)),
        sender_{0, silent_after(fabric_, context.rank)},
        pulse_(context.pulse),
        sockets_(context.rank, context.rendezvous, link_limit()) {}

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "model";
    info.library = "make-believe fabric " + file_;
    info.simulated = true;
    return info;
  }

  void connect(int partner, Deadline deadline) override {
    if (partner != own_rank_) sockets_.connect(partner, deadline);
  }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    ModelLink link = link_to(partner, Payload::none);
    const Path path = partner == own_rank_ ? Path::to_self : Path::to_partner;
    kernel::run(link, exchange, path, buffers, samples, pulse_);
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    ModelLink link = link_to(partner, Payload::whole);
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::Ends ends = sends ? kernel::Ends{own_rank_, partner} : kernel::Ends{partner, own_rank_};
    return kernel::verify(link, exchange, ends, buffers, fill, pulse_);
  }

  std::string make_believe_host(int rank) const override {
    return fabric_.host_name + std::to_string(host_of(fabric_, rank));
  }

 private:
  ModelLink link_to(int partner, Payload payload) {
    const LinkEnds ends = partner == own_rank_ ? LinkEnds{} : sockets_.ends(partner);
    return {fabric_, sender_, own_rank_, partner, ends, payload};
  }

  int own_rank_;
  std::string file_;
  Fabric fabric_;
  Sender sender_;
  Pulse& pulse_;
  LinkSockets sockets_;
};

// Its ranks wait on real sockets, always asleep, and its times do not depend on it: any way of waiting will do.
constexpr Module module{
    .refuses_wait = [](WaitMode) { return std::string(); },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<ModelTransport>(context);
    },
};

}  // namespace
}  // namespace leadline::transport::model

extern "C" [[gnu::visibility("default")]] const leadline::transport::Module* leadline_transport_module() {
  return &leadline::transport::model::module;
}
