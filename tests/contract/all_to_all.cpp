// SPDX-License-Identifier: Apache-2.0
// What every transport must do where all ranks exchange messages with all others.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contract/contents.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "kernel/exchange.hpp"

namespace leadline::contract {
namespace {

using kernel::AllToAllSteps;

/// In which of the messages of its own a rank has its step.
std::uint32_t message_of_step(const std::vector<std::int32_t>& partners, std::size_t step) {
  const auto end = partners.begin() + static_cast<std::ptrdiff_t>(step);
  const auto num_rests = std::count(partners.begin(), end, AllToAllSteps::rests);
  return static_cast<std::uint32_t>(step) - static_cast<std::uint32_t>(num_rests);
}

/// An exchange over as many buffers as there are partners: all that arrives stays.
void exchange_and_check(End& end, std::size_t size) {
  const auto partners = tournament(end.rank, end.size);
  const auto num = static_cast<std::uint32_t>(std::max(end.size - 1, 1));
  ManyBuffers many(end.rank, num, size);
  auto samples = fresh_samples(3);

  {
    const Checks checks(size > 0 ? Rule::completion : Rule::empty_message);
    end.transport.all_to_all({partners, size}, many.buffers(), samples);
  }

  {
    const Checks checks(Rule::length);
    EXPECT_TRUE(many.gaps_are_blank());
  }
  const Checks samples_checked(Rule::samples);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.num_messages, num);
    EXPECT_GT(sample.elapsed_ns, 0u);
    EXPECT_NE(sample.elapsed_ns, untouched);
  }
  const Checks checks(Rule::receiver);
  for (std::size_t step = 0; step < partners.size() && ranks().timed_messages_have_contents(); ++step) {
    const int partner = partners[step];
    if (partner == AllToAllSteps::rests) continue;
    EXPECT_TRUE(
        many.received(message_of_step(partners, step), partner, message_of_step(tournament(partner, end.size), step)))
        << "of size " << size << " in step " << step << " from rank " << partner;
  }
}

TEST_P(AllToAllContract, BringsEveryRankTheMessageOfEveryOther) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 4 * kib, 300 * kib}) exchange_and_check(end, size);
  });
}

TEST_P(AllToAllContract, KeepsTheLastMessageOfOneBuffer) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    auto partners = tournament(end.rank, end.size);
    Memory memory(1000);
    memory.send.fill(Fill::random, key_from(end.rank));
    auto samples = fresh_samples(2);
    end.transport.all_to_all({partners, 1000}, memory.buffers(), samples);
    const int last = partners.back() != AllToAllSteps::rests ? partners.back() : partners.end()[-2];
    if (!ranks().timed_messages_have_contents()) return;
    EXPECT_FALSE(memory.receive.first_wrong_byte(Fill::random, key_from(last)));
  });
}

TEST_P(AllToAllContract, BeatsThePulseAfterEveryStep) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    const auto partners = tournament(end.rank, end.size);
    Memory memory(8);
    auto samples = fresh_samples(4);
    const std::uint64_t before = end.progress_counter.count;
    end.transport.all_to_all({partners, 8}, memory.buffers(), samples);
    const Checks checks(Rule::progress_counter);
    EXPECT_GE(end.progress_counter.count, before + 5 * samples.front().num_messages);
  });
}

TEST_P(AllToAllContract, LeavesItsLinksFitForMeasurements) {
  on_all_ranks([](End& end) {
    connect_to_all(end);
    exchange_and_check(end, 100);
    if (end.size == 2) {
      Memory memory(100);
      auto samples = fresh_samples(2);
      const kernel::Role role = end.rank == 0 ? kernel::Role::lead : kernel::Role::follow;
      const kernel::Exchange exchange{.role = role, .message_size_bytes = 100, .num_messages = 5};
      end.transport.run(exchange, end.partner, memory.buffers(), samples);
      EXPECT_EQ(samples.front().num_messages, end.rank == 0 ? 3 : untouched);
    }
    exchange_and_check(end, 10);
  });
}

}  // namespace

std::vector<std::int32_t> tournament(int rank, int size) {
  if (size == 1) return {rank};
  const int last = size + size % 2 - 1;  // the seat that stands still; of an odd number of ranks nobody has it
  std::vector<std::int32_t> partners;
  for (int step = 0; step < last; ++step) {
    int partner = ((step - rank) % last + last) % last;
    if (rank == last) partner = step * ((last + 1) / 2) % last;  // who would meet itself
    if (partner == rank) partner = last;
    partners.push_back(partner < size ? partner : AllToAllSteps::rests);
  }
  return partners;
}

std::string party_name(const testing::TestParamInfo<Party>& info) {
  return std::string(name_of(info.param.wait)) + "_" + std::to_string(info.param.size);
}

std::vector<Party> parties(const std::string& transport, std::initializer_list<WaitMode> wait_modes, int min_size) {
  std::vector<Party> all;
  for (const WaitMode wait : tried_here(wait_modes)) {
    for (int size = min_size; size <= 4; ++size) all.push_back({transport, wait, size});
  }
  return all;
}

std::vector<Party> pairs(const std::string& transport, std::initializer_list<WaitMode> wait_modes) {
  std::vector<Party> all;
  for (const WaitMode wait : tried_here(wait_modes)) all.push_back({transport, wait, 2});
  return all;
}

}  // namespace leadline::contract
