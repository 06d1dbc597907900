// SPDX-License-Identifier: Apache-2.0
// The suite that defines a storage backend: what a backend's own file here hands to it. A backend joins with one file,
// storage_NAME_contract.cpp, that has a class of StorageRanks, storage_ranks() for the only one, and
//   INSTANTIATE_TEST_SUITE_P(Name, StorageContract, testing::ValuesIn(offered_kinds()), kind_name);
// Where a launcher starts the ranks, all of them go through the suite in lockstep, and the file has a main() of its own
// that makes storage_ranks() first (as mpi_contract.cpp does).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace leadline::contract {

/// One rank's end of a test: all ranks run the same body, each with its own end.
struct StorageEnd {
  int rank = 0;
  int size = 1;
  storage::Backend& backend;
  std::string folder;             ///< empty at first, of this run alone, the same on all ranks; removed afterwards
  std::function<void()> barrier;  ///< of these ranks

  bool is_first() const { return rank == 0; }
};

using StorageBody = std::function<void(StorageEnd&)>;

/// What some libraries do not survive.
enum class Trouble : std::uint8_t { end_of_file, error };

/// The ranks of a fresh backend; each candidate's file says how it gets them.
class StorageRanks {
 public:
  virtual ~StorageRanks() = default;

  /// 1, or more where a file can have several openers.
  virtual int max_size() const = 0;

  /// Runs `body` on ranks 0 to size - 1, ranks beyond do nothing; failures on any fail the test.
  virtual void run(int size, const StorageBody& body) = 0;

  /// Why such calls must not be led into this, since the library would crash or hang; empty = they may.
  virtual std::string cannot_bear(const storage::CallKind& /*kind*/, Trouble /*trouble*/) const { return {}; }
};

/// Defined by the candidate's file.
StorageRanks& storage_ranks();

/// Every combination, of which a backend refuses some.
std::vector<storage::CallKind> all_kinds();

/// For INSTANTIATE_TEST_SUITE_P, before there is a backend: all that `refuses` has no reason against.
std::vector<storage::CallKind> offered_kinds(const std::function<bool(const storage::CallKind&)>& refuses);

std::string kind_name(const testing::TestParamInfo<storage::CallKind>& info);

/// One kind of calls. Skipped where the folder's file system has no such calls.
class StorageContract : public testing::TestWithParam<storage::CallKind> {
 protected:
  void SetUp() override;
};

}  // namespace leadline::contract
