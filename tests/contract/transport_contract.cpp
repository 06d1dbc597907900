// SPDX-License-Identifier: Apache-2.0
// What every transport must do, whatever it is made of.
#include "contract/transport_contract.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "contract/contents.hpp"
#include "contract/rules.hpp"
#include "core/error.hpp"
#include "kernel/exchange.hpp"
#include "memory/pattern.hpp"
#include "model/samples.hpp"

namespace leadline::contract {
namespace {

using kernel::Exchange;
using kernel::Role;

void expect_untouched(const std::vector<Sample>& samples) {
  const Checks checks(Rule::samples);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.elapsed_ns, untouched);
    EXPECT_EQ(sample.num_messages, untouched);
  }
}

/// As even as whole messages allow, the surplus in the earlier batches, and some time in each.
void expect_filled(const std::vector<Sample>& samples, std::uint64_t num_messages) {
  const Checks checks(Rule::samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint64_t surplus = i < num_messages % samples.size() ? 1 : 0;
    EXPECT_EQ(samples[i].num_messages, num_messages / samples.size() + surplus) << "batch " << i;
    EXPECT_GT(samples[i].elapsed_ns, 0u) << "batch " << i;
    EXPECT_NE(samples[i].elapsed_ns, untouched) << "batch " << i;
  }
}

Role role_of(const End& end, int leader) { return end.rank == leader ? Role::lead : Role::follow; }

/// One measurement led by `leader`: checks the samples, and that the last message is the partner's.
void measure_and_check(End& end, Exchange exchange, int leader, std::size_t num_samples) {
  exchange.role = role_of(end, leader);
  Memory memory(exchange.message_size_bytes);
  memory.send.fill(Fill::random, key_from(end.rank));
  auto samples = fresh_samples(num_samples);

  {
    const Checks checks(exchange.message_size_bytes > 0 ? Rule::completion : Rule::empty_message);
    end.transport.run(exchange, end.partner, memory.buffers(), samples);
  }

  const bool leads = exchange.role == Role::lead;
  const bool times = leads || exchange.direction == Direction::bidirectional;
  const bool receives = !leads || exchange.direction != Direction::unidirectional;
  if (times) expect_filled(samples, exchange.num_messages);
  if (!times) expect_untouched(samples);
  if (receives && ranks().timed_messages_have_contents()) {
    const Checks checks(Rule::last_byte);
    EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(end.partner)))
        << "message size " << exchange.message_size_bytes;
  }
}

/// One measurement over several buffers: every message must lie where its turn was.
void take_turns_and_check(End& end, Exchange exchange, int leader, int partner) {
  constexpr std::uint32_t num = 5;
  exchange.role = partner == end.rank ? Role::lead : role_of(end, leader);
  ManyBuffers many(end.rank, num, exchange.message_size_bytes);
  auto samples = fresh_samples(2);

  const Checks order(exchange.message_size_bytes > 0 ? Rule::order : Rule::empty_message);
  end.transport.run(exchange, partner, many.buffers(), samples);

  const bool follows = exchange.role == Role::follow;
  const bool receives = follows || partner == end.rank || exchange.direction != Direction::unidirectional;
  const std::uint64_t num_received = receives ? exchange.num_warmup + exchange.num_messages : 0;
  {
    const Checks length(Rule::length);
    EXPECT_TRUE(many.gaps_are_blank());
  }
  for (std::uint32_t i = 0; i < num && ranks().timed_messages_have_contents(); ++i) {
    EXPECT_TRUE(i < num_received ? many.received(i, partner, i) : many.is_blank(i))
        << "buffer " << i << " of messages of size " << exchange.message_size_bytes;
  }
}

void verify_and_check(End& end, Exchange exchange, int leader, Fill fill) {
  if (!ranks().can_verify()) return;
  exchange.role = role_of(end, leader);
  const Checks checks(exchange.message_size_bytes > 0 ? Rule::last_byte : Rule::empty_message);
  Memory memory(exchange.message_size_bytes);
  const auto mismatch = end.transport.verify(exchange, end.partner, memory.buffers(), fill);
  EXPECT_FALSE(mismatch) << "message " << mismatch->message << " byte " << mismatch->byte << " of messages of size "
                         << exchange.message_size_bytes;
}

TEST_P(TransportContract, TimesMessagesOfEverySizeWithEitherRankLeading) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, 4 * kib, 64 * kib + 1, mib}) {
      for (const std::uint32_t window : {1u, 64u}) {
        Exchange exchange{.direction = GetParam().direction, .message_size_bytes = size};
        exchange.num_messages = size == mib ? (window == 1 ? 5 : 9) : (window == 1 ? 11 : 70);
        exchange.num_warmup = size == mib ? 1 : 3;
        exchange.window = window;
        measure_and_check(end, exchange, 0, 4);
        measure_and_check(end, exchange, 1, 4);
      }
    }
  });
}

TEST_P(TransportContract, DeliversEveryByteOfEveryMessageInOrder) {
  if (!ranks().can_verify()) GTEST_SKIP() << "contents are made and compared in ordinary memory";
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, 4 * kib, 64 * kib + 1, mib}) {
      Exchange exchange{.direction = GetParam().direction, .message_size_bytes = size, .num_messages = 6, .window = 4};
      verify_and_check(end, exchange, 0, Fill::random);
      verify_and_check(end, exchange, 1, Fill::ramp);
    }
    verify_and_check(end, {.message_size_bytes = 8, .num_messages = 300}, 0, Fill::random);
  });
}

#ifdef LEADLINE_SANITIZE
constexpr std::size_t large = 16 * mib;  // each page and each byte takes its time there
#else
constexpr std::size_t large = 64 * mib;
#endif

TEST_P(TransportContract, CarriesALargeMessage) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    const Exchange exchange{.direction = GetParam().direction, .message_size_bytes = large};
    measure_and_check(end, exchange, 0, 1);
    verify_and_check(end, exchange, 1, Fill::ramp);
  });
}

TEST_P(TransportContract, AsManyBatchesAsMessagesAndAWindowThatIsNeverFull) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    Exchange exchange{.direction = GetParam().direction, .message_size_bytes = 100, .num_messages = 5, .window = 64};
    measure_and_check(end, exchange, 0, 5);
    exchange.num_messages = 1;
    measure_and_check(end, exchange, 1, 1);
  });
}

TEST_P(TransportContract, BeatsThePulseAfterEveryBatchOnBothRanks) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    const std::uint64_t before = end.progress_counter.count;
    const Exchange exchange{.direction = GetParam().direction, .message_size_bytes = 16, .num_messages = 21};
    measure_and_check(end, exchange, 0, 7);
    const Checks checks(Rule::progress_counter);
    EXPECT_GE(end.progress_counter.count, before + 7);
  });
}

TEST_P(TransportContract, ConnectingAgainChangesNothing) {
  on_both_ranks([](End& end) {
    for (int i = 0; i < 5; ++i) end.transport.connect(end.partner, soon());
    {
      const Checks checks(Rule::open_once);
      EXPECT_EQ(end.transport.connection_times().num_opened, 1u);
    }
    const Exchange exchange{.direction = GetParam().direction, .message_size_bytes = 1000, .num_messages = 10};
    measure_and_check(end, exchange, 0, 2);
    end.transport.connect(end.partner, soon());
    measure_and_check(end, exchange, 1, 2);
    verify_and_check(end, exchange, 0, Fill::random);
  });
}

TEST_P(TransportContract, LoopsToItselfBesideItsPartner) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    end.transport.connect(end.rank, soon());
    const Checks checks(Rule::to_itself);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 4 * kib, mib}) {
      Memory memory(size);
      memory.send.fill(Fill::random, key_from(end.rank));
      auto samples = fresh_samples(3);
      Exchange exchange{.direction = GetParam().direction, .message_size_bytes = size, .num_messages = 20};
      exchange.num_warmup = 1;
      exchange.window = 8;
      end.transport.run(exchange, end.rank, memory.buffers(), samples);
      expect_filled(samples, exchange.num_messages);
      if (ranks().timed_messages_have_contents()) {
        EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(end.rank)));
      }
      if (!ranks().can_verify()) continue;
      EXPECT_FALSE(end.transport.verify(exchange, end.rank, memory.buffers(), Fill::ramp));
    }
    measure_and_check(end, {.direction = GetParam().direction, .message_size_bytes = 8, .num_messages = 4}, 0, 1);
  });
}

TEST_P(TransportContract, TakesSeveralBuffersInTurn) {
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    end.transport.connect(end.rank, soon());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 4 * kib}) {
      for (const std::uint64_t num_messages : {2u, 13u}) {
        Exchange exchange{.direction = GetParam().direction, .message_size_bytes = size, .num_messages = num_messages};
        exchange.num_warmup = 1;
        exchange.window = 4;
        take_turns_and_check(end, exchange, 0, end.partner);
        take_turns_and_check(end, exchange, 1, end.partner);
        take_turns_and_check(end, exchange, end.rank, end.rank);
      }
    }
  });
}

TEST_P(TransportContract, MayBeAskedToProgressAtAnyTime) {
  on_both_ranks([](End& end) {
    end.transport.progress();
    end.transport.connect(end.partner, soon());
    end.transport.progress();
    measure_and_check(end, {.direction = GetParam().direction, .message_size_bytes = 8, .num_messages = 4}, 0, 1);
    end.transport.progress();
  });
}

TEST_P(TransportContract, SaysWhatItIs) {
  on_both_ranks([](End& end) {
    const Checks checks(Rule::description);
    const TransportInfo info = end.transport.info();
    EXPECT_EQ(info.name, std::filesystem::path(GetParam().transport.substr(0, GetParam().transport.find(':'))).stem());
    EXPECT_FALSE(info.library.empty());
    EXPECT_EQ(info.library.find('\n'), std::string::npos);
  });
}

TEST_P(TransportContract, APartnerThatVanishesIsAnErrorThatNamesIt) {
  if (!ranks().may_lose_a_rank())
    GTEST_SKIP() << "the library ends the whole run when a rank vanishes, or does not notice";
  on_both_ranks([](End& end) {
    end.transport.connect(end.partner, soon());
    if (!end.is_first()) return;
    Memory memory(4 * kib);
    auto samples = fresh_samples(1);
    const Checks checks(Rule::lost_partner);
    const Exchange exchange{
        .direction = GetParam().direction, .message_size_bytes = 4 * kib, .num_messages = 100'000, .window = 16};
    try {
      end.transport.run(exchange, end.partner, memory.buffers(), samples);
      ADD_FAILURE() << "a measurement without a partner came to its end";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::run_failed);
      EXPECT_THAT(error.what(), testing::HasSubstr("rank 1"));
    }
  });
}

}  // namespace

std::vector<WaitMode> tried_here(std::initializer_list<WaitMode> wait_modes) {
  std::vector<WaitMode> tried = wait_modes;
#ifdef LEADLINE_SANITIZE
  std::erase(tried, WaitMode::spin);
#endif
  return tried;
}

std::string candidate_name(const testing::TestParamInfo<Candidate>& info) {
  return std::string(name_of(info.param.wait)) + "_" + name_of(info.param.direction);
}

std::vector<Candidate> candidates(const std::string& transport, std::initializer_list<WaitMode> wait_modes) {
  std::vector<Candidate> all;
  for (const WaitMode wait : tried_here(wait_modes)) {
    for (const Direction direction :
         {Direction::semidirectional, Direction::unidirectional, Direction::bidirectional}) {
      all.push_back({transport, wait, direction});
    }
  }
  return all;
}

}  // namespace leadline::contract
