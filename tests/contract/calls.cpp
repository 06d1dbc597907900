// SPDX-License-Identifier: Apache-2.0
// What every transport must do about when its calls end, whom they wait for, and what they leave.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "contract/contents.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "contract/watch.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "transport/messages.hpp"

namespace leadline::contract {
namespace {

using namespace std::chrono_literals;
using transport::Messages;

/// A number that forked ranks share, beside their transport.
class SharedNumber {
 public:
  SharedNumber() {
    void* const place =
        ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    number_ = new (place) std::atomic<int>(0);
  }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  ~SharedNumber() { ::munmap(number_, sizeof *number_); }

  void raise() const { ++*number_; }
  int value() const { return *number_; }

  /// Whether it gets there before a call would have had to end. The rank makes the calls of one that waits elsewhere.
  bool reaches(int value, const End& end) const {
    const auto deadline = Deadline::after(call_limit());
    while (*number_ < value) {
      if (deadline.has_passed()) return false;
      if (end.transport.needs_progress()) end.transport.progress();
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

 private:
  std::atomic<int>* number_;
};

kernel::Exchange exchange_of(std::size_t size, std::uint64_t num_messages, const End& end) {
  return {.role = end.is_first() ? kernel::Role::lead : kernel::Role::follow,
          .message_size_bytes = size,
          .num_messages = num_messages};
}

/// A failure of connect() is no failure here: what counts is that it comes back, which is watched.
void try_to_connect(End& end, std::chrono::milliseconds patience) {
  try {
    end.transport.connect(end.partner, Deadline::after(patience));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed) << error.what();
  }
}

#define LEADLINE_SKIP_UNLESS_FORKED()                                               \
  if (!ranks().are_forked())                                                        \
  GTEST_SKIP() << "the ranks go on to the next test, and share nothing beside the " \
                  "transport"

TEST_P(CallContract, ConnectingEndsByItsDeadlineWithoutAPartner) {
  LEADLINE_SKIP_UNLESS_FORKED();
  const SharedNumber num_done;
  on_all_ranks([&](End& end) {
    if (end.is_first()) {
      try_to_connect(end, 300ms);
      num_done.raise();
    }
    EXPECT_TRUE(num_done.reaches(1, end)) << "the other rank has not come back";
  });
}

TEST_P(CallContract, ConnectingEndsByItsDeadlineWithAPartner) {
  LEADLINE_SKIP_UNLESS_FORKED();
  const SharedNumber num_done;
  on_all_ranks([&](End& end) {
    try_to_connect(end, 300ms);
    num_done.raise();
    EXPECT_TRUE(num_done.reaches(2, end)) << "the other rank has not come back";
  });
}

TEST_P(CallContract, MessagesOfSizesAroundPowersOfTwoArriveWhole) {
  if (!ranks().can_verify()) GTEST_SKIP() << "contents are made and compared in ordinary memory";
  on_all_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    for (std::size_t power = 1; power <= 128 * kib; power *= 2) {
      for (const std::size_t size : {power - 1, power, power + 1}) {
        const Checks checks(size > 0 ? Rule::last_byte : Rule::empty_message);
        Memory memory(size);
        const auto mismatch =
            end.transport.verify(exchange_of(size, 2, end), end.partner, memory.buffers(), Fill::random);
        ASSERT_FALSE(mismatch) << "message " << mismatch->message << ", byte " << mismatch->byte << " of " << size;
      }
    }
  });
}

TEST_P(CallContract, BarriersNeedNoPostedReceive) {
  on_all_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    const Checks checks(Rule::token);
    std::vector<kernel::ExchangeSample> samples(20);
    end.transport.exchange_with_neighbours({.message_size_bytes = 1}, {}, kernel::TimedExchanges{samples});
  });
}

TEST_P(CallContract, NobodyLeavesABarrierBeforeAllHaveCome) {
  LEADLINE_SKIP_UNLESS_FORKED();
  const SharedNumber num_come;
  on_all_ranks([&](End& end) {
    end.transport.connect(end.partner, soon());
    const Checks checks(Rule::barrier);
    std::vector<kernel::ExchangeSample> samples(1);
    if (end.is_first()) {
      EXPECT_TRUE(num_come.reaches(1, end));
      std::this_thread::sleep_for(50ms);  // time for the other rank to leave wrongly
    }
    num_come.raise();
    end.transport.exchange_with_neighbours({.message_size_bytes = 1}, {}, kernel::TimedExchanges{samples});
    EXPECT_EQ(num_come.value(), 2) << "this rank has left the barrier";
  });
}

TEST_P(MessagesContract, ASendThatIsDoneHasReadItsBuffer) {
  if (GetParam().size > 2) return;  // it is about two ranks
  on_all_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    const Checks checks(Rule::free_buffer);
    const auto messages = end.transport.messages(std::vector<std::int32_t>{end.partner}, 1);
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, 4 * kib, 64 * kib + 1, mib}) {
      for (int i = 0; i < 5; ++i) {
        Bytes bytes(size, end.is_first() ? std::byte{7} : std::byte{0});
        end.is_first() ? messages->post_send(end.partner, bytes.span(), 0)
                       : messages->post_receive(end.partner, bytes.span(), 0);
        messages->await_any();
        if (end.is_first()) {
          const std::vector<std::byte> changed(size, std::byte{9});
          bytes.write(0, changed);
        } else {
          EXPECT_TRUE(bytes.is_all(0, size, std::byte{7})) << "the sender has changed its buffer afterwards";
        }
      }
    }
  });
}

TEST_P(MessagesContract, PostingAndPollingDoNotWaitForThePartner) {
  if (GetParam().size > 2) return;  // it is about two ranks
  LEADLINE_SKIP_UNLESS_FORKED();
  const SharedNumber num_posted;
  on_all_ranks([&](End& end) {
    end.transport.connect(end.partner, soon());
    constexpr std::uint32_t num = 4;
    const Checks checks(Rule::posting);
    const auto messages = end.transport.messages(std::vector<std::int32_t>{end.partner}, 2 * num);
    const Bytes out(mib, std::byte{7}), in(num * mib);
    std::size_t num_left = 2 * num;
    if (end.is_first()) {
      for (std::uint32_t i = 0; i < num; ++i) messages->post_receive(end.partner, in.span().subspan(i * mib, mib), i);
      for (std::uint32_t i = 0; i < num; ++i) messages->post_send(end.partner, out.span(), num + i);
      for (int i = 0; i < 10; ++i) {
        if (messages->poll()) --num_left;
      }
      num_posted.raise();
    } else {
      ASSERT_TRUE(num_posted.reaches(1, end)) << "the other rank has not posted its messages";
      for (std::uint32_t i = 0; i < num; ++i) messages->post_receive(end.partner, in.span().subspan(i * mib, mib), i);
      for (std::uint32_t i = 0; i < num; ++i) messages->post_send(end.partner, out.span(), num + i);
    }
    for (; num_left > 0; --num_left) messages->await_any();
    EXPECT_TRUE(in.is_all(0, num * mib, std::byte{7}));
  });
}

TEST_P(MessagesContract, WhatWasSentArrivesWithoutFurtherCallsThanProgress) {
  if (GetParam().size > 2) return;  // it is about two ranks
  LEADLINE_SKIP_UNLESS_FORKED();
  for (const std::size_t size : {std::size_t{1}, 4 * kib, mib}) {
    const SharedNumber num_arrived;
    on_all_ranks([&](End& end) {
      end.transport.connect(end.partner, soon());
      const Checks checks(Rule::progress);
      const auto messages = end.transport.messages(std::vector<std::int32_t>{end.partner}, 1);
      const Bytes bytes(size);
      if (end.is_first()) {
        messages->post_send(end.partner, bytes.span(), 0);
        messages->await_any();
        EXPECT_TRUE(num_arrived.reaches(1, end)) << "a message of " << size << " bytes has not arrived";
      } else {
        messages->post_receive(end.partner, bytes.span(), 0);
        messages->await_any();
        num_arrived.raise();
      }
    });
  }
}

/// A library may keep files to the end of the process, and close others a little later: what counts is whether each
/// transport leaves one more.
TEST_P(CallContract, TheEndOfATransportClosesItsLinks) {
  constexpr int num_first = 2, num_all = 6;
  if (!ranks().may_open_again()) GTEST_SKIP() << "a process has one transport of this kind";
  on_all_ranks([](End& end) {
    const Checks checks(Rule::closing);
    std::vector<std::size_t> num_files;
    for (int i = 0; i < num_all; ++i) {
      const auto transport = end.open_again();
      transport->connect(end.partner, soon());
      transport->connect(end.rank, soon());
      Memory memory(100);
      auto samples = fresh_samples(1);
      transport->run(exchange_of(100, 2, end), end.partner, memory.buffers(), samples);
      if (i >= num_first) num_files.push_back(num_open_files());
    }
    EXPECT_LT(num_files.back(), num_files.front() + num_files.size() - 1) << "each transport leaves files open";
  });
}

}  // namespace
}  // namespace leadline::contract
