// SPDX-License-Identifier: Apache-2.0
// What every transport must do with messages one by one.
#include "transport/messages.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "contract/contents.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "memory/pattern.hpp"

namespace leadline::contract {
namespace {

using transport::Messages;

enum class TransferDirection { out, in };

/// Who asks what is done: one that goes on with other work, or one that has nothing else to do.
enum class Asking { polls, awaits };

/// Messages between two ranks in one direction, the same on both ends.
struct Stream {
  int partner = 0;
  TransferDirection direction = TransferDirection::out;
  std::vector<std::size_t> sizes;
};

std::vector<std::size_t> alike(std::size_t num, std::size_t size) { return std::vector<std::size_t>(num, size); }

/// Moves streams with at most `window` messages of each under way; each message has contents of its own.
class Mover {
 public:
  Mover(End& end, std::vector<Stream> streams, std::size_t window) : end_(end), streams_(std::move(streams)) {
    for (std::size_t i = 0; i < streams_.size(); ++i)
      for (std::size_t n = 0; n < window; ++n) slots_.push_back({.stream = i});
    next_.resize(streams_.size());
  }

  void move(Messages& messages, Asking asking) {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) post_next(messages, slot);
    while (!posted_.empty()) {
      const auto done = asking == Asking::polls ? messages.poll() : messages.await_any();
      if (!done) {
        std::this_thread::yield();  // other work, which ranks that share a core need done
        continue;
      }
      {
        const Checks checks(Rule::ticket);
        ASSERT_EQ(posted_.erase(*done), 1u) << "ticket " << *done << " was handed out and not posted";
      }
      check(slots_[*done]);
      post_next(messages, *done);
    }
    EXPECT_EQ(messages.poll(), std::nullopt);
    for (std::size_t i = 0; i < streams_.size(); ++i) EXPECT_EQ(next_[i], streams_[i].sizes.size());
  }

  std::size_t num_tickets() const { return slots_.size(); }

 private:
  struct Slot {
    std::size_t stream = 0;
    std::size_t number = 0;
    std::optional<Bytes> bytes{};
  };

  void post_next(Messages& messages, std::size_t index) {
    Slot& slot = slots_[index];
    const Stream& stream = streams_[slot.stream];
    if (next_[slot.stream] == stream.sizes.size()) return;
    slot.number = next_[slot.stream]++;
    slot.bytes.emplace(stream.sizes[slot.number], std::byte{0xee});
    const auto ticket = static_cast<Messages::Ticket>(index);
    posted_.insert(ticket);
    if (stream.direction == TransferDirection::in)
      return messages.post_receive(stream.partner, slot.bytes->span(), ticket);
    slot.bytes->fill(Fill::random, key_of(end_.rank, stream.partner, slot.number));
    messages.post_send(stream.partner, slot.bytes->span(), ticket);
  }

  void check(const Slot& slot) const {
    const Stream& stream = streams_[slot.stream];
    if (stream.direction == TransferDirection::out) return;
    const auto wrong = slot.bytes->first_wrong_byte(Fill::random, key_of(stream.partner, end_.rank, slot.number));
    EXPECT_FALSE(wrong) << "byte " << wrong->byte << " of message " << slot.number << " of "
                        << slot.bytes->span().size() << " bytes from rank " << stream.partner;
  }

  static memory::PatternKey key_of(int from, int to, std::size_t number) {
    return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), number};
  }

  End& end_;
  std::vector<Stream> streams_;
  std::vector<Slot> slots_;  ///< by ticket
  std::vector<std::size_t> next_;
  std::set<Messages::Ticket> posted_;
};

void move(End& end, std::span<const std::int32_t> partners, const std::vector<Stream>& streams, std::size_t window,
          Asking asking, Rule rule = Rule::order) {
  const Checks checks(rule);
  Mover mover(end, streams, window);
  const auto messages = end.transport.messages(partners, mover.num_tickets());
  mover.move(*messages, asking);
}

TEST_P(MessagesContract, OfAPairArriveInOrderWhateverTheirSizes) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    if (end.rank > 1) return;
    const std::vector<std::size_t> sizes{1, 4 * mib,  7,       64 * kib, 1, 1,    300 * kib + 1, 4 * kib, mib,
                                         3, 64 * kib, 2 * mib, 5,        2, 1000, mib,           1};
    for (const int sender : {0, 1}) {
      const Stream stream{1 - end.rank, end.rank == sender ? TransferDirection::out : TransferDirection::in, sizes};
      for (const std::size_t window : {std::size_t{1}, std::size_t{5}, sizes.size()}) {
        for (const Asking asking : {Asking::awaits, Asking::polls}) move(end, partners, {stream}, window, asking);
      }
    }
  });
}

TEST_P(MessagesContract, OfSeveralSendersReachOneReceiver) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    for (const std::size_t size : {std::size_t{1}, 64 * kib, mib}) {
      const std::vector<std::size_t> sizes = alike(size == mib ? 12 : 40, size);
      std::vector<Stream> streams;
      if (end.rank == 0) {
        for (const std::int32_t partner : partners) streams.push_back({partner, TransferDirection::in, sizes});
      } else {
        streams.push_back({0, TransferDirection::out, sizes});
      }
      move(end, partners, streams, 4, Asking::awaits, Rule::receiver);
    }
  });
}

TEST_P(MessagesContract, OfOneSenderReachSeveralReceivers) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    std::vector<Stream> streams;
    if (end.rank == 0) {
      for (const std::int32_t partner : partners)
        streams.push_back({partner, TransferDirection::out, alike(30, 256 * kib)});
    } else {
      streams.push_back({0, TransferDirection::in, alike(30, 256 * kib)});
    }
    move(end, partners, streams, 3, Asking::polls, Rule::receiver);
  });
}

TEST_P(MessagesContract, GoBothWaysAtOnce) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    for (const Asking asking : {Asking::awaits, Asking::polls}) {
      std::vector<Stream> streams;
      for (const std::int32_t partner : partners) {
        // Larger than any socket's buffer: nobody may wait for a send before it has received.
        streams.push_back({partner, TransferDirection::out, alike(2, 5 * mib)});
        streams.push_back({partner, TransferDirection::in, alike(2, 5 * mib)});
      }
      move(end, partners, streams, 2, asking, Rule::both_ways);
    }
  });
}

TEST_P(MessagesContract, PollSaysNothingUntilSomethingIsDone) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    if (end.rank > 1) return;
    const auto messages = end.transport.messages(partners, 8);
    const Checks checks(Rule::ticket);
    EXPECT_EQ(messages->poll(), std::nullopt);
    Bytes go(1, std::byte{1}), answer(1);
    if (end.rank == 1) {
      messages->post_receive(0, go.span(), 3);
      EXPECT_EQ(messages->await_any(), 3u);
      answer.write(0, std::array{std::byte{9}});
      messages->post_send(0, answer.span(), 3);
      EXPECT_EQ(messages->await_any(), 3u);
    } else {
      messages->post_receive(1, answer.span(), 7);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(messages->poll(), std::nullopt);  // rank 1 waits for our word
      messages->post_send(1, go.span(), 2);
      const std::set<Messages::Ticket> done{messages->await_any(), messages->await_any()};
      EXPECT_EQ(done, (std::set<Messages::Ticket>{2, 7}));
      EXPECT_TRUE(answer.is_all(0, 1, std::byte{9}));
    }
    EXPECT_EQ(messages->poll(), std::nullopt);
  });
}

TEST_P(MessagesContract, LeaveTheirLinksFitForOthers) {
  on_all_ranks([](End& end) {
    const auto partners = connect_to_all(end);
    if (end.rank > 1) return;
    const Stream stream{1 - end.rank, end.rank == 0 ? TransferDirection::out : TransferDirection::in,
                        alike(5, 100 * kib)};
    for (int twice = 0; twice < 2; ++twice) {
      move(end, partners, {stream}, 2, Asking::awaits);
      const kernel::Exchange exchange{.role = end.is_first() ? kernel::Role::lead : kernel::Role::follow,
                                      .message_size_bytes = 100,
                                      .num_messages = 4};
      Memory memory(100);
      if (!ranks().can_verify()) continue;
      EXPECT_FALSE(end.transport.verify(exchange, 1 - end.rank, memory.buffers(), Fill::random));
      end.transport.connect(1 - end.rank, soon());
    }
  });
}

/// Awaits what cannot come any more.
void expect_loss(End& end, const std::function<void(Messages&)>& post) {
  const auto messages = end.transport.messages(std::vector<std::int32_t>{1}, 1);
  const Checks checks(Rule::lost_partner);
  try {
    for (;;) {
      post(*messages);
      messages->await_any();
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 1"));
  }
}

TEST_P(MessagesContract, APartnerThatVanishesIsAnErrorThatNamesIt) {
  if (!ranks().may_lose_a_rank())
    GTEST_SKIP() << "the library ends the whole run when a rank vanishes, or does not notice";
  for (const TransferDirection direction : {TransferDirection::in, TransferDirection::out}) {
    on_all_ranks([&](End& end) {
      if (end.rank > 1) return;
      end.transport.connect(1 - end.rank, soon());
      if (end.rank == 1) return;
      const Bytes bytes(mib);
      expect_loss(end, [&](Messages& messages) {
        direction == TransferDirection::in ? messages.post_receive(1, bytes.span(), 0)
                                           : messages.post_send(1, bytes.span(), 0);
      });
    });
  }
}

}  // namespace
}  // namespace leadline::contract
