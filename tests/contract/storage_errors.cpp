// SPDX-License-Identifier: Apache-2.0
// What every storage backend says of calls that go wrong, of files that cannot be opened, and of what it does not
// offer.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "contract/storage_calls.hpp"
#include "contract/storage_contract.hpp"
#include "core/error.hpp"
#include "support/folder.hpp"

namespace leadline::contract {

using storage::Access;
using storage::CallKind;
using test::contents_of;
using testing::HasSubstr;

namespace {

void expect_error_names(const Error& error, const std::string& path, const std::string& place) {
  EXPECT_EQ(error.status(), ExitStatus::run_failed) << error.what();
  EXPECT_THAT(error.what(), HasSubstr(path));
  EXPECT_THAT(error.what(), HasSubstr(place));
  EXPECT_FALSE(error.why().empty()) << error.what();
}

/// No file of this process grows beyond that while it lives.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t max_bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit low{max_bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  }
  ShortFiles(const ShortFiles&) = delete;
  ShortFiles& operator=(const ShortFiles&) = delete;
  ~ShortFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_P(StorageContract, AWriteThatIsRefusedNamesTheFileAndThePlace) {
  const std::string why = storage_ranks().cannot_bear(GetParam(), Trouble::error);
  if (!why.empty()) GTEST_SKIP() << why;
  on_one_rank([&](StorageEnd& end) {
    Calls writer(end, GetParam(), "refused", Access::write);
    const Block out = Block::filled(4 * unit_bytes, 1);
    const ShortFiles limit(16 * unit_bytes);
    EXPECT_EQ(writer.write(0, out.all()), 4 * unit_bytes);
    try {
      ADD_FAILURE() << writer.write(16 * unit_bytes, out.all()) << " bytes beyond the limit";
    } catch (const Error& error) {
      expect_error_names(error, writer.path(), "writing 16 KiB at 65536");
    }
    EXPECT_EQ(writer.write(4 * unit_bytes, out.all()), 4 * unit_bytes);  // the file can be used after all
    EXPECT_EQ(writer->size_bytes(), 8 * unit_bytes);
  });
}

TEST_P(StorageContract, AWriteThatDoesNotFitIsNeverCalledWhole) {
  const std::string why = storage_ranks().cannot_bear(GetParam(), Trouble::error);
  if (!why.empty()) GTEST_SKIP() << why;
  on_one_rank([&](StorageEnd& end) {
    Calls writer(end, GetParam(), "cut", Access::write);
    const Block out = Block::filled(4 * unit_bytes, 1);
    const ShortFiles limit(2 * unit_bytes);
    try {
      EXPECT_EQ(writer.write(0, out.all()), 2 * unit_bytes);
      EXPECT_TRUE(contents_of(writer.path()) == out.text().substr(0, 2 * unit_bytes));
    } catch (const Error& error) {  // libraries that go on by themselves
      expect_error_names(error, writer.path(), "writing 16 KiB at 0");
    }
  });
}

TEST(StorageBackend, HasALibraryAndAReasonForWhatItRefuses) {
  on_all_ranks([](StorageEnd& end) {
    EXPECT_FALSE(end.backend.library().empty());
    EXPECT_EQ(end.backend.refuses({}), "");  // the plainest kind
    for (const CallKind& kind : all_kinds()) {
      if (!end.backend.refuses(kind).empty()) continue;
      try {
        Calls calls(end, kind, "offered", Access::write);
        const auto data = Block::filled(unit_bytes, 0);
        EXPECT_EQ(calls.write(static_cast<std::uint64_t>(end.rank) * unit_bytes, data.all()), unit_bytes);
        calls->close();
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), ExitStatus::something_missing) << error.what();
      }
    }
  });
}

TEST(StorageBackend, SaysWhatCannotBeOpened) {
  on_all_ranks([](StorageEnd& end) {
    const std::string folder = "folder" + std::to_string(end.size);
    if (end.is_first()) std::filesystem::create_directory(end.folder + "/" + folder);
    end.barrier();
    const auto expect_refusal = [&](const std::string& name, Access access) {
      try {
        Calls(end, {}, name, access)->close();
        ADD_FAILURE() << name << " can be opened";
      } catch (const Error& error) {
        expect_error_names(error, end.folder + "/" + name, "open");
      }
    };
    expect_refusal("nowhere/file", Access::write);
    expect_refusal("nothing", Access::read);
    expect_refusal(folder, Access::write);
  });
}

TEST(StorageBackend, SaysWhatMayNotBeOpened) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may open everything";
  on_all_ranks([](StorageEnd& end) {
    if (end.is_first()) {
      put(end.folder + "/closed", "x");
      std::filesystem::permissions(end.folder + "/closed", std::filesystem::perms::none);
    }
    end.barrier();
    for (const auto access : {Access::read, Access::write}) {
      try {
        Calls(end, {}, "closed", access)->close();
        ADD_FAILURE() << "a closed file can be opened";
      } catch (const Error& error) {
        expect_error_names(error, end.folder + "/closed", "open");
      }
    }
  });
}

TEST(StorageBackend, TakesHintsThatItDoesNotKnow) {
  on_all_ranks([](StorageEnd& end) {
    const storage::Hints hints{{"bogus_key", "7"}};
    std::vector<std::int32_t> openers;
    for (std::int32_t rank = 0; rank < end.size; ++rank) openers.push_back(rank);
    const auto file = end.backend.open({.path = end.folder + "/hints",
                                        .access = Access::write,
                                        .cache_path = storage::CachePath::buffered,
                                        .openers = openers,
                                        .hints = hints,
                                        .max_started = 1});
    for (const auto& [key, value] : file->hints()) EXPECT_FALSE(key.empty()) << value;
    file->close();
  });
}

}  // namespace leadline::contract
