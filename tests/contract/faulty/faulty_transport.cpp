// SPDX-License-Identifier: Apache-2.0
// The transport faulty: that of the example, with the fault that is named behind "faulty.so:".
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/forwarding_transport.hpp"
#include "core/error.hpp"
#include "core/progress_counter.hpp"
#include "faulty_port.hpp"
#include "transport/messages.hpp"
#include "transport/tagged/tagged_transport.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::faulty {
namespace {

constexpr std::pair<std::string_view, Fault> faults[] = {
    {"flush-without-deadline", Fault::flush_without_deadline},
    {"open-blocks", Fault::open_blocks},
    {"open-never-returns", Fault::open_never_returns},
    {"send-never-done", Fault::send_never_done},
    {"receive-never-done", Fault::receive_never_done},
    {"receive-done-too-early", Fault::receive_done_too_early},
    {"post-waits", Fault::post_waits},
    {"progress-waits", Fault::progress_waits},
    {"reordered", Fault::reordered},
    {"twice", Fault::twice},
    {"last-byte-wrong", Fault::last_byte_wrong},
    {"byte-behind-the-end", Fault::byte_behind_the_end},
    {"wrong-receiver", Fault::wrong_receiver},
    {"empty-lost", Fault::empty_lost},
    {"token-needs-receive", Fault::token_needs_receive},
    {"send-done-too-early", Fault::send_done_too_early},
    {"sent-at-next-post", Fault::sent_at_next_post},
    {"no-barrier", Fault::no_barrier},
    {"loss-unnoticed", Fault::loss_unnoticed},
    {"never-closed", Fault::never_closed},
    {"to-itself-lost", Fault::to_itself_lost},
    {"wrong-ticket", Fault::wrong_ticket},
    {"samples-without-surplus", Fault::samples_without_surplus},
    {"counter-stands-still", Fault::counter_stands_still},
    {"opens-again", Fault::opens_again},
    {"wrong-name", Fault::wrong_name},
};

Fault fault_named(const std::string& name) {
  for (const auto& [known, fault] : faults) {
    if (known == name) return fault;
  }
  throw Error(ExitStatus::bad_command_line, "there is no fault \"" + name + "\"");
}

class WrongTickets final : public Messages {
 public:
  explicit WrongTickets(std::unique_ptr<Messages> inner) : inner_(std::move(inner)) {}

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    inner_->post_send(partner, data, ticket);
  }
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    inner_->post_receive(partner, data, ticket);
  }
  std::optional<Ticket> poll() override {
    auto ticket = inner_->poll();
    if (ticket) ++*ticket;
    return ticket;
  }
  Ticket await_any() override { return inner_->await_any() + 1; }

 private:
  std::unique_ptr<Messages> inner_;
};

class FaultyTransport final : public contract::ForwardingTransport {
 public:
  FaultyTransport(Fault fault, std::unique_ptr<Transport> inner)
      : ForwardingTransport(std::move(inner)), fault_(fault) {}

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    ForwardingTransport::run(exchange, partner, buffers, samples);
    if (fault_ == Fault::samples_without_surplus) samples.front().num_messages = exchange.num_messages / samples.size();
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> partners, std::size_t max_tickets) override {
    auto inner = ForwardingTransport::messages(partners, max_tickets);
    if (fault_ == Fault::wrong_ticket) return std::make_unique<WrongTickets>(std::move(inner));
    return inner;
  }

 private:
  Connected open_link(int partner, Deadline deadline) override {
    const Connected connected = ForwardingTransport::open_link(partner, deadline);
    return fault_ == Fault::opens_again ? Connected::anew : connected;
  }

  Fault fault_;
};

std::unique_ptr<Transport> open(const Context& context) {
  static ProgressCounter unused;
  const Fault fault = fault_named(context.settings.text("fault"));
  Context given{.rank = context.rank,
                .size = context.size,
                .host_of = context.host_of,
                .rendezvous = context.rendezvous,
                .wait = context.wait,
                .settings = {},
                .interface = {},
                .progress_counter = fault == Fault::counter_stands_still ? unused : context.progress_counter};
  auto transport = std::make_unique<tagged::TaggedTransport<FaultyPort>>(given, std::make_unique<FaultyPort>(fault));
  return std::make_unique<FaultyTransport>(fault, std::move(transport));
}

constexpr Setting settings[] = {{"fault", "NAME", "the fault that it has. Must be given"}};

}  // namespace

extern constexpr Module module{
    .settings = settings,
    .facts = [] { return std::vector<Fact>(); },
    .refuses_wait = [](WaitMode mode) { return std::string(mode == WaitMode::block ? "it does not sleep" : ""); },
    .refuses_memory = [](memory::Location) { return std::string(); },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = &open,
};

}  // namespace leadline::transport::faulty
