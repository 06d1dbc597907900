// SPDX-License-Identifier: Apache-2.0
// MPI-IO joins the storage contract: the ranks of one mpirun go through it in lockstep. The first argument is the
// backend: mpi-io, mpi-io:ompio or mpi-io:romio.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>

#include "cluster/bootstrap.hpp"
#include "contract/storage_calls.hpp"
#include "contract/storage_contract.hpp"
#include "core/error.hpp"
#include "storage/table.hpp"
#include "support/folder.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

using storage::Access;
using storage::CallKind;
using testing::HasSubstr;

namespace {

const char* backend_argument(const std::string& choice) {
  return choice.find(':') == std::string::npos ? "" : choice.c_str() + choice.find(':') + 1;
}

/// All ranks are this program; MPI is started once, by the transport, for all tests.
class MpiRanks final : public StorageRanks {
 public:
  explicit MpiRanks(const std::string& choice)
      : module_(storage::load_backend(choice, cluster::detect_launcher())),
        transport_(transport::open_module("mpi", cluster::detect_launcher())),
        bootstrap_(transport_->bootstrap()),
        backend_(make(bootstrap_->rank(), bootstrap_->size(), backend_argument(choice))) {}

  int max_size() const override { return bootstrap_->size(); }

  void run(int size, const StorageBody& body) override {
    const test::Folder folder;  // of every rank; that of the first is used
    const std::string own = folder.path();
    const std::string first = bootstrap_->all_gather(own).substr(0, own.size());
    StorageEnd end{bootstrap_->rank(), size, *backend_, first, [&] {
                     if (size > 1) bootstrap_->all_gather(".");
                   }};
    try {
      if (end.rank < size) body(end);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "rank " << end.rank << " ended with: " << error.what();
    }
    bootstrap_->all_gather(".");  // before the folder goes
  }

  std::string cannot_bear(const CallKind& kind, Trouble trouble) const override {
    if (trouble == Trouble::end_of_file || kind.calls == storage::FileCalls::blocking) return {};
    if (backend_->library().find("MPICH") == std::string::npos) return {};
    return kind.collective ? "MPICH calls a non-blocking collective write that failed a success"
                           : "a non-blocking write of MPICH that fails is never done";
  }

  bool offers(const CallKind& kind) const { return backend_->refuses(kind).empty(); }

  /// Whether it is so on any rank.
  bool any(bool own) { return bootstrap_->all_gather(own ? "1" : "0").find('1') != std::string::npos; }

  storage::Backend& backend() { return *backend_; }
  storage::LoadedBackend& module() { return module_; }
  std::unique_ptr<storage::Backend> make(int rank, int size, const std::string& argument) {
    return module_->make({.rank = rank, .size = size, .argument = argument});
  }

 private:
  storage::LoadedBackend module_;
  transport::LoadedModule transport_;
  std::unique_ptr<cluster::Bootstrap> bootstrap_;
  std::unique_ptr<storage::Backend> backend_;
};

MpiRanks& mpi_ranks(const std::string& choice = "mpi-io") {
  static MpiRanks ranks(choice);
  return ranks;
}

std::vector<CallKind> collective_kinds() {
  return offered_kinds([](const CallKind& kind) { return !kind.collective || !mpi_ranks().offers(kind); });
}

}  // namespace

StorageRanks& storage_ranks() { return mpi_ranks(); }

INSTANTIATE_TEST_SUITE_P(Mpi, StorageContract, testing::ValuesIn(offered_kinds([](const CallKind& kind) {
                           return !mpi_ranks().offers(kind);
                         })),
                         kind_name);

/// Calls of several ranks together.
class CollectiveCalls : public testing::TestWithParam<CallKind> {};

INSTANTIATE_TEST_SUITE_P(Mpi, CollectiveCalls, testing::ValuesIn(collective_kinds()), kind_name);

TEST_P(CollectiveCalls, TakeUnequalShares) {
  on_all_ranks([](StorageEnd& end) {
    // Rank r brings r * 3000 bytes in the first call, none in the second, (size - r) * 3000 in the third.
    const auto size = static_cast<std::uint64_t>(end.size);
    const auto rank = static_cast<std::uint64_t>(end.rank);
    const std::uint64_t row = size * size * 3000;
    const auto share = [&](std::uint64_t call) {
      return call == 0 ? rank * 3000 : call == 1 ? 0 : (size - rank) * 3000;
    };
    const auto place = [&](std::uint64_t call) { return call * row + rank * size * 3000; };
    Calls writer(end, GetParam(), "unequal", Access::write);
    for (std::uint64_t call = 0; call < 3; ++call) {
      EXPECT_EQ(writer.write(place(call), Block::filled(share(call), 10 * rank + call).all()), share(call));
    }
    writer->sync();
    writer->close();
    end.barrier();
    Calls reader(end, GetParam(), "unequal", Access::read);
    for (std::uint64_t call = 0; call < 3; ++call) {
      const Block in(share(call));
      EXPECT_EQ(reader.read(place(call), in.all()), share(call));
      EXPECT_TRUE(in.text() == Block::filled(share(call), 10 * rank + call).text()) << call;
    }
    reader->close();
  });
}

TEST_P(CollectiveCalls, InterleaveSmallPieces) {
  on_all_ranks([](StorageEnd& end) {
    constexpr std::uint64_t piece = 1000, num_pieces = 40;
    const auto size = static_cast<std::uint64_t>(end.size);
    const auto rank = static_cast<std::uint64_t>(end.rank);
    Calls writer(end, GetParam(), "pieces", Access::write);
    for (std::uint64_t i = 0; i < num_pieces; ++i) {
      const std::uint64_t at = i * size + rank;
      EXPECT_EQ(writer.write(at * piece, Block::filled(piece, at).all()), piece);
    }
    writer->sync();
    writer->close();
    end.barrier();
    Calls reader(end, GetParam(), "pieces", Access::read);
    EXPECT_EQ(reader->size_bytes(), num_pieces * size * piece);
    for (std::uint64_t i = 0; i < num_pieces; ++i) {
      const std::uint64_t at = i * size + (rank + i) % size;
      const Block in(piece);
      EXPECT_EQ(reader.read(at * piece, in.all()), piece);
      EXPECT_TRUE(in.text() == Block::filled(piece, at).text()) << at;
    }
    reader->close();
  });
}

TEST_P(CollectiveCalls, ReturnLessAtTheEndOfTheFile) {
  on_all_ranks([](StorageEnd& end) {
    // The last rank's last piece is half there, everything behind it is not.
    const auto size = static_cast<std::uint64_t>(end.size);
    const auto rank = static_cast<std::uint64_t>(end.rank);
    const std::uint64_t bytes = 2 * size * unit_bytes - unit_bytes / 2;
    const Block text = Block::filled(bytes, 5);
    if (end.is_first()) std::ofstream(end.folder + "/short", std::ios::binary) << text.text();
    end.barrier();
    Calls reader(end, GetParam(), "short", Access::read);
    const bool is_last = rank == size - 1;
    const Block in(unit_bytes);
    EXPECT_EQ(reader.read(rank * unit_bytes, in.all()), unit_bytes);
    const std::uint64_t second = (size + rank) * unit_bytes, expected = is_last ? unit_bytes / 2 : unit_bytes;
    EXPECT_EQ(reader.read(second, in.all()), expected);
    EXPECT_TRUE(in.text().substr(0, expected) == text.text().substr(second, expected));
    EXPECT_EQ(reader.read((2 * size + rank) * unit_bytes, in.all()), 0u);
    reader->close();
  });
}

TEST_P(CollectiveCalls, DoNotHideThatTheFileSystemRefuses) {
  on_all_ranks([](StorageEnd& end) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto size = static_cast<std::uint64_t>(end.size);
    const rlimit low{size * unit_bytes + unit_bytes / 2, before.rlim_max};
    bool is_told = false;
    Calls writer(end, GetParam(), "refused", Access::write);
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
    const Block out = Block::filled(2 * unit_bytes, 1);
    try {
      is_told = writer.write(2 * static_cast<std::uint64_t>(end.rank) * unit_bytes, out.all()) < 2 * unit_bytes;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(writer.path()));
      is_told = true;
    }
    try {
      if (!mpi_ranks().any(is_told)) writer->close();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(writer.path()));
      is_told = true;
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(mpi_ranks().any(is_told));
  });
}

TEST(MpiIo, SomeRanksShareAFileAndOthersAnother) {
  on_all_ranks([](StorageEnd& end) {
    for (int turn = 0; turn < 2; ++turn) {  // the second time with the communicators of the first
      std::vector<std::int32_t> openers;
      for (int rank = end.rank % 2; rank < end.size; rank += 2) openers.push_back(rank);
      const std::string path = end.folder + "/half" + std::to_string(end.rank % 2);
      const auto file = end.backend.open({.path = path, .access = Access::write, .openers = openers, .hints = {}});
      const auto place = static_cast<std::uint64_t>(end.rank / 2);
      const Block out = Block::filled(unit_bytes, static_cast<std::uint64_t>(end.rank));
      EXPECT_EQ(file->write_at_all(place * unit_bytes, out.all()), unit_bytes);
      file->close();
      EXPECT_TRUE(test::contents_of(path).substr(place * unit_bytes, unit_bytes) == out.text());
    }
  });
}

TEST(MpiIo, WhatOneRankCannotOpenNoneHas) {
  if (storage_ranks().max_size() < 2) GTEST_SKIP() << "one rank alone";
  on_all_ranks([](StorageEnd& end) {
    std::vector<std::int32_t> openers(static_cast<std::size_t>(end.size));
    std::iota(openers.begin(), openers.end(), 0);
    const bool is_last = end.rank == end.size - 1;
    if (end.is_first()) std::ofstream(end.folder + "/there") << "x";
    end.barrier();
    // Not what a program may do, but what a file system does that is not mounted everywhere.
    const std::string path = end.folder + (is_last ? "/gone" : "/there");
    EXPECT_THROW(end.backend.open({.path = path, .access = Access::read, .openers = openers, .hints = {}}), Error);
  });
}

TEST(MpiIo, AnEndlessTransferEndsAtItsDeadline) {
  on_all_ranks([](StorageEnd& end) {
    const std::vector<std::int32_t> openers{end.rank};
    const std::string path = end.folder + "/own" + std::to_string(end.rank);
    const auto file = end.backend.open({.path = path, .access = Access::write, .openers = openers, .hints = {}});
    const Block out = Block::filled(64 << 20, 1);
    file->start_write(0, 0, out.all(), false);
    try {
      EXPECT_EQ(file->wait(0, Deadline::after(std::chrono::nanoseconds(0))), out.all().size());  // so fast
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("writing 64 MiB at 0 of " + path + " was not done in time"));
      EXPECT_EQ(file->wait(0, Deadline::after(std::chrono::seconds(60))), out.all().size());
    }
    file->close();
  });
}

TEST(MpiIo, HintsAreTakenAndShown) {
  on_all_ranks([](StorageEnd& end) {
    const storage::Hints hints{{"cb_buffer_size", "1048576"}};
    const std::vector<std::int32_t> openers{end.rank};
    const auto file = end.backend.open({.path = end.folder + "/hints" + std::to_string(end.rank),
                                        .access = Access::write,
                                        .openers = openers,
                                        .hints = hints});
    const storage::Hints shown = file->hints();
    EXPECT_THAT(shown, testing::Contains(hints.front()));
    if (end.backend.confirms_hints()) {
      EXPECT_GT(shown.size(), hints.size());
    }
    file->close();
  });
}

TEST(MpiIo, RefusesWhatMpiWouldMisunderstand) {
  on_all_ranks([](StorageEnd& end) {
    const std::vector<std::int32_t> openers{end.rank};
    const auto refused = [&](const std::string& name, const storage::Hints& hints) {
      try {
        end.backend.open({.path = end.folder + name, .access = Access::write, .openers = openers, .hints = hints});
        return std::string();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::run_failed);
        return std::string(error.what());
      }
    };
    EXPECT_THAT(refused("/a:b", {}), HasSubstr("colon"));
    EXPECT_THAT(refused("/plain", {{"", "1"}}), HasSubstr("hint"));
    EXPECT_THAT(refused("/plain", {{"key", ""}}), HasSubstr("hint"));
    EXPECT_THAT(refused("/plain", {{std::string(10'000, 'k'), "1"}}), HasSubstr("hint"));
  });
}

TEST(MpiIo, RefusesToGoAroundThePageCache) {
  for (const auto path : {storage::CachePath::direct, storage::CachePath::uncached}) {
    EXPECT_THAT(mpi_ranks().backend().refuses({.cache_path = path}), HasSubstr("--backend posix"));
  }
}

TEST(MpiIo, NamesTheLibraryAndItsImplementation) {
  const std::string library = mpi_ranks().backend().library();
  const std::string argument = mpi_ranks().module().argument();
  if (library.starts_with("MPICH")) {
    EXPECT_THAT(library, HasSubstr("(ROMIO)"));
  } else {
    EXPECT_THAT(library, HasSubstr("(" + (argument.empty() ? "ompio" : argument)));
  }
}

TEST(MpiIo, NeedsAllRanksOfMpi) {
  try {
    mpi_ranks().make(0, storage_ranks().max_size() + 1, "");
    ADD_FAILURE() << "one rank too many";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
  }
}

}  // namespace leadline::contract

int main(int argc, char** argv) {
  try {
    // MPI starts before the tests are listed, since its library says which there are.
    leadline::contract::mpi_ranks(argc > 1 ? argv[1] : "mpi-io");
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
