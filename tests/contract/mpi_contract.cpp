// SPDX-License-Identifier: Apache-2.0
// MPI joins the contract suite: the ranks of one mpirun go through it in lockstep.
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

#include "cluster/bootstrap.hpp"
#include "contract/transport_contract.hpp"
#include "contract/watch.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::contract {
namespace {

/// MPI needs nobody to bring its ranks together.
class NoRendezvous final : public cluster::Rendezvous {
  Descriptor meet(int, Deadline, const ProgressFunction&) override {
    throw Error(ExitStatus::run_failed, "nobody is to be met here");
  }
};

/// All ranks are this program; MPI is started once for all tests.
class MpiRanks final : public Ranks {
 public:
  MpiRanks() : module_(transport::open_module("mpi")), bootstrap_(module_->bootstrap()) {}

  int size() const { return bootstrap_->size(); }

  void run(int size, const std::string&, WaitMode wait, const Body& body) override {
    ASSERT_LE(size, bootstrap_->size());
    ASSERT_EQ(module_->refuses_wait(wait), "");
    ASSERT_EQ(module_->refuses_memory(memory::Location::host), "");
    const int rank = bootstrap_->rank();
    if (rank >= size) return;
    const std::vector<std::uint32_t> host_of(static_cast<std::size_t>(size), 0);
    NoRendezvous rendezvous;
    ProgressCounter progress_counter;
    const auto opened = watched(module_->open({.rank = rank,
                                               .size = size,
                                               .host_of = host_of,
                                               .rendezvous = rendezvous,
                                               .wait = wait,
                                               .settings = {},
                                               .interface = {},
                                               .progress_counter = progress_counter}),
                                rank);
    End end{rank, size, 1 - rank, *opened, progress_counter};
    body(end);
  }

  bool may_lose_a_rank() const override { return false; }
  bool are_forked() const override { return false; }
  bool may_open_again() const override { return false; }

  transport::LoadedModule& module() { return module_; }
  cluster::Bootstrap& bootstrap() { return *bootstrap_; }

 private:
  transport::LoadedModule module_;
  std::unique_ptr<cluster::Bootstrap> bootstrap_;
};

MpiRanks& mpi_ranks() {
  static MpiRanks two;
  return two;
}

}  // namespace

Ranks& ranks() { return mpi_ranks(); }

INSTANTIATE_TEST_SUITE_P(Mpi, TransportContract,
                         testing::ValuesIn(candidates("mpi", {WaitMode::yield, WaitMode::spin})), candidate_name);
INSTANTIATE_TEST_SUITE_P(Mpi, CallContract, testing::ValuesIn(pairs("mpi", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Mpi, AllToAllContract, testing::ValuesIn(parties("mpi", {WaitMode::yield, WaitMode::spin})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Mpi, NeighbourContract, testing::ValuesIn(parties("mpi", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(MpiSpinning, NeighbourContract, testing::Values(Party{"mpi", WaitMode::spin, 2}), party_name);
INSTANTIATE_TEST_SUITE_P(Mpi, CollectivesContract, testing::ValuesIn(pairs("mpi", {WaitMode::yield})), party_name);
INSTANTIATE_TEST_SUITE_P(Mpi, MessagesContract, testing::ValuesIn(parties("mpi", {WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(MpiSpinning, MessagesContract, testing::Values(Party{"mpi", WaitMode::spin, 2}), party_name);

TEST(MpiModule, CannotSleep) { EXPECT_NE(mpi_ranks().module()->refuses_wait(WaitMode::block), ""); }

TEST(MpiModule, SaysWhyItCannotReadTheMemoryOfGpus) {
  const std::string reason = mpi_ranks().module()->refuses_memory(memory::Location::gpu);
  EXPECT_TRUE(reason.empty() || reason.find(" was built without CUDA support") != std::string::npos) << reason;
}

TEST(MpiBootstrap, GathersEveryRanksText) {
  const std::string own = "rank " + std::to_string(mpi_ranks().bootstrap().rank());
  EXPECT_EQ(mpi_ranks().bootstrap().all_gather(own), "rank 0rank 1");
  EXPECT_FALSE(mpi_ranks().bootstrap().launcher().empty());
}

TEST(MpiMessages, ThatWereGivenUpTakeNothingFromThoseThatFollow) {
  mpi_ranks().run(2, "mpi", WaitMode::yield, [](End& end) {
    end.transport.connect(end.partner, Deadline::after(std::chrono::seconds(5)));
    const std::int32_t partner = end.partner;
    std::byte given_up{7}, taken{7}, sent{9};
    if (end.is_first()) end.transport.messages({&partner, 1}, 1)->post_receive(partner, {&given_up, 1}, 0);
    end.transport.connect(end.partner, Deadline::after(std::chrono::seconds(5)));  // nothing was sent before
    const auto messages = end.transport.messages({&partner, 1}, 1);
    end.is_first() ? messages->post_receive(partner, {&taken, 1}, 0) : messages->post_send(partner, {&sent, 1}, 0);
    EXPECT_EQ(messages->await_any(), 0u);
    EXPECT_EQ(given_up, std::byte{7});
    EXPECT_EQ(taken, end.is_first() ? sent : std::byte{7});
  });
}

TEST(MpiTransport, AnMpiErrorArrivesAsAnError) {
  mpi_ranks().run(2, "mpi", WaitMode::yield, [](End& end) {
    try {
      end.transport.connect(1000, Deadline::after(std::chrono::seconds(5)));
      ADD_FAILURE() << "rank 1000 answered";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::run_failed);
      EXPECT_NE(error.why(), "");
    }
  });
}

}  // namespace leadline::contract

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    leadline::contract::mpi_ranks();  // MPI starts before the first test
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
