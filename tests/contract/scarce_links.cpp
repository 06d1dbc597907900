// SPDX-License-Identifier: Apache-2.0
// Tournaments among ranks with few open files.
#include "contract/scarce_links.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "contract/contents.hpp"
#include "contract/forked_ranks.hpp"
#include "contract/rules.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "kernel/exchange.hpp"

namespace leadline::contract {
namespace {

constexpr rlim_t left_to_others = 64;  // as link_limit() has it

/// All pairs of `self.size` ranks in the rounds of a tournament, as the link test has them.
void play_tournament(const ForkedRank& self, transport::Transport& opened) {
  std::byte out{}, in{};
  for (const std::int32_t partner : tournament(self.rank, self.size)) {
    opened.connect(partner, Deadline::after(std::chrono::seconds(20)));
    Sample sample;
    kernel::Exchange exchange{.role = self.rank < partner ? kernel::Role::lead : kernel::Role::follow};
    exchange.message_size_bytes = 1;
    opened.run(exchange, partner, {&out, &in}, {&sample, 1});
  }
}

void expect_refusal(const std::function<void()>& exchange) {
  try {
    exchange();
    ADD_FAILURE() << "three links are open";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_NE(error.hint().find("ulimit -n"), std::string::npos);
  }
}

}  // namespace

ScarceFiles::ScarceFiles(rlim_t num_files) {
  getrlimit(RLIMIT_NOFILE, &before_);
  const rlimit scarce{num_files, before_.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
}

ScarceFiles::~ScarceFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

void expect_links_closed_and_opened_again(const std::string& transport, rlim_t files_a_link) {
  run_forked(6, [&](ForkedRank& self) {
    // Ranks with room for two links and for three forget different ones.
    const ScarceFiles scarce(left_to_others + files_a_link * (self.rank % 2 == 0 ? 2 : 3));
    const auto opened = self.open(transport, WaitMode::yield);
    opened->connect(tournament(self.rank, self.size).front(), soon());
    const std::size_t num_first = num_open_files();  // a library may have opened some of its own
    for (int sweep = 0; sweep < 3; ++sweep) play_tournament(self, *opened);
    const Checks checks(Rule::closing);
    const std::size_t most = num_first + files_a_link * (self.rank % 2 == 0 ? 2 : 3);
    // A library closes its end of a link that its partner has left while it goes on.
    for (const auto deadline = Deadline::after(std::chrono::seconds(5));
         num_open_files() > most && !deadline.has_passed();) {
      opened->progress();
      std::this_thread::yield();
    }
    EXPECT_LE(num_open_files(), most) << "links stay open";
  });
}

void expect_too_many_at_once_refused(const std::string& transport, rlim_t files_a_link) {
  run_forked(4, [&](ForkedRank& self) {
    const ScarceFiles scarce(left_to_others + files_a_link * 2);
    const auto opened = self.open(transport, WaitMode::yield);
    play_tournament(self, *opened);
    const auto partners = tournament(self.rank, self.size);
    Sample sample;
    expect_refusal([&] { opened->all_to_all({partners, 0}, {}, {&sample, 1}); });
    std::vector<kernel::NeighbourChannel> channels;
    for (const std::int32_t partner : partners) channels.push_back({.partner = partner});
    expect_refusal([&] { opened->exchange_with_neighbours({.channels = channels}, {}, {}); });
  });
}

void expect_links_kept(const std::string& transport, rlim_t num_files) {
  run_forked(6, [&](ForkedRank& self) {
    const ScarceFiles scarce(num_files);
    const auto opened = self.open(transport, WaitMode::yield);
    for (int sweep = 0; sweep < 3; ++sweep) play_tournament(self, *opened);
    Sample sample;
    opened->all_to_all({tournament(self.rank, self.size), 0}, {}, {&sample, 1});
    EXPECT_GT(sample.elapsed_ns, 0u);
  });
}

}  // namespace leadline::contract
