// SPDX-License-Identifier: Apache-2.0
// POSIX joins the storage contract: its ranks are threads, since they have nothing to say to each other.
#include <barrier>
#include <exception>
#include <thread>
#include <vector>

#include "contract/storage_contract.hpp"
#include "storage/posix/posix.hpp"
#include "support/folder.hpp"

namespace leadline::contract {
namespace {

class PosixRanks final : public StorageRanks {
 public:
  int max_size() const override { return 3; }

  void run(int size, const StorageBody& body) override {
    const test::Folder folder;
    std::barrier meeting(size);
    std::vector<std::jthread> others;
    const auto run_rank = [&](int rank) {
      try {
        const auto backend = storage::posix::module().make({.rank = rank, .size = size, .argument = {}});
        StorageEnd end{rank, size, *backend, folder.path(), [&] { meeting.arrive_and_wait(); }};
        body(end);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << " ended with: " << error.what();
      }
      meeting.arrive_and_drop();
    };
    for (int rank = 1; rank < size; ++rank) others.emplace_back(run_rank, rank);
    run_rank(0);
  }
};

bool refuses(const storage::CallKind& kind) { return !storage::posix::module().make({})->refuses(kind).empty(); }

}  // namespace

StorageRanks& storage_ranks() {
  static PosixRanks threads;
  return threads;
}

INSTANTIATE_TEST_SUITE_P(Posix, StorageContract, testing::ValuesIn(offered_kinds(refuses)), kind_name);

}  // namespace leadline::contract
