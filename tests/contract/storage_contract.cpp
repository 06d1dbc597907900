// SPDX-License-Identifier: Apache-2.0
// What every storage backend does: bytes go where they are told, counts are true, errors name the file and the place.
#include "contract/storage_contract.hpp"

#include <gmock/gmock.h>

#include <mutex>

#include "contract/storage_calls.hpp"
#include "core/error.hpp"
#include "support/folder.hpp"

namespace leadline::contract {

using storage::Access;
using storage::CallKind;
using test::contents_of;
using testing::HasSubstr;

namespace {

std::vector<std::uint64_t> sizes_for(const CallKind& kind) {
  if (kind.cache_path == storage::CachePath::direct) return {unit_bytes, 16 * unit_bytes, 1 << 20, 5 << 20};
  return {1, 100, unit_bytes - 1, unit_bytes, 65537, 1 << 20, (5 << 20) + 3};
}

}  // namespace

std::vector<CallKind> all_kinds() {
  std::vector<CallKind> kinds;
  for (const auto calls : {storage::FileCalls::blocking, storage::FileCalls::non_blocking}) {
    for (const bool collective : {false, true}) {
      for (const auto path : {storage::CachePath::buffered, storage::CachePath::direct, storage::CachePath::uncached}) {
        kinds.push_back({calls, collective, path});
      }
    }
  }
  return kinds;
}

std::vector<CallKind> offered_kinds(const std::function<bool(const CallKind&)>& refuses) {
  std::vector<CallKind> kinds = all_kinds();
  std::erase_if(kinds, refuses);
  return kinds;
}

std::string kind_name(const testing::TestParamInfo<CallKind>& info) {
  const CallKind& kind = info.param;
  const char* path = kind.cache_path == storage::CachePath::buffered ? "buffered"
                     : kind.cache_path == storage::CachePath::direct ? "direct"
                                                                     : "uncached";
  return std::string(kind.calls == storage::FileCalls::blocking ? "blocking_" : "non_blocking_") +
         (kind.collective ? "collective_" : "") + path;
}

void StorageContract::SetUp() {
  std::string why;  // the same on all ranks, whether or not they share it
  std::mutex turn;
  on_all_ranks([&](StorageEnd& end) {
    try {
      Calls(end, GetParam(), "probe", Access::write)->close();
    } catch (const Error& error) {
      if (error.status() != ExitStatus::something_missing) throw;
      const std::lock_guard own_turn(turn);
      why = error.what();
    }
  });
  if (!why.empty()) GTEST_SKIP() << why;
}

TEST_P(StorageContract, WhatIsWrittenIsReadBack) {
  on_one_rank([&](StorageEnd& end) {
    for (const std::uint64_t size : sizes_for(GetParam())) {
      const std::string name = "size" + std::to_string(size);
      const Block out = Block::filled(size, size);
      Calls writer(end, GetParam(), name, Access::write);
      EXPECT_EQ(writer.write(0, out.all()), size);
      writer->close();
      const Block in(size);
      Calls reader(end, GetParam(), name, Access::read);
      EXPECT_EQ(reader->size_bytes(), size);
      EXPECT_EQ(reader.read(0, in.all()), size);
      reader->close();
      EXPECT_TRUE(in.text() == out.text()) << size;
      EXPECT_TRUE(contents_of(reader.path()) == out.text()) << size;
    }
  });
}

TEST_P(StorageContract, EveryCallGoesToItsOwnOffset) {
  on_one_rank([&](StorageEnd& end) {
    const std::uint64_t size = 3 * unit_bytes;
    std::string expected;
    Calls writer(end, GetParam(), "pieces", Access::write);
    for (std::uint64_t i = 5; i-- > 0;) EXPECT_EQ(writer.write(i * size, Block::filled(size, i).all()), size);
    writer->close();
    for (std::uint64_t i = 0; i < 5; ++i) expected += Block::filled(size, i).text();
    EXPECT_TRUE(contents_of(writer.path()) == expected);
    Calls reader(end, GetParam(), "pieces", Access::read);
    for (const std::uint64_t i : {3u, 0u, 4u, 1u}) {
      const Block in(size);
      EXPECT_EQ(reader.read(i * size, in.all()), size);
      EXPECT_TRUE(in.text() == Block::filled(size, i).text()) << i;
    }
    reader->close();
  });
}

TEST_P(StorageContract, ReadsAtTheEndOfTheFileReturnLess) {
  const std::string why = storage_ranks().cannot_bear(GetParam(), Trouble::end_of_file);
  if (!why.empty()) GTEST_SKIP() << why;
  on_one_rank([&](StorageEnd& end) {
    const std::string text = Block::filled(10'000, 7).text();
    put(end.folder + "/short", text);
    Calls reader(end, GetParam(), "short", Access::read);
    const Block in(unit_bytes);
    EXPECT_EQ(reader.read(2 * unit_bytes, in.all()), 10'000 - 2 * unit_bytes);
    EXPECT_EQ(in.text().substr(0, 1808), text.substr(2 * unit_bytes));
    EXPECT_EQ(reader.read(10'000, in.all()), 0u);  // where a caller goes on
    EXPECT_EQ(reader.read(3 * unit_bytes, in.all()), 0u);
    EXPECT_EQ(reader.read(1 << 20, in.all()), 0u);
    EXPECT_EQ(reader.read(unit_bytes, in.all()), unit_bytes);  // and all is well behind it
    reader->close();
  });
}

TEST_P(StorageContract, WhatIsNotWrittenOverIsKept) {
  on_one_rank([&](StorageEnd& end) {
    std::string expected = Block::filled(4 * unit_bytes, 1).text();
    put(end.folder + "/kept", expected);
    Calls writer(end, GetParam(), "kept", Access::write);
    const Block middle = Block::filled(unit_bytes, 2);
    EXPECT_EQ(writer.write(unit_bytes, middle.all()), unit_bytes);
    writer->close();
    expected.replace(unit_bytes, unit_bytes, middle.text());
    EXPECT_TRUE(contents_of(writer.path()) == expected);
  });
}

TEST_P(StorageContract, EmptyDataMovesNothing) {
  on_one_rank([&](StorageEnd& end) {
    put(end.folder + "/empty", std::string(unit_bytes, 'x'));
    Calls writer(end, GetParam(), "empty", Access::write);
    EXPECT_EQ(writer.write(8 * unit_bytes, {}), 0u);
    EXPECT_EQ(writer->size_bytes(), unit_bytes);
    writer->close();
    Calls reader(end, GetParam(), "empty", Access::read);
    EXPECT_EQ(reader.read(0, {}), 0u);
    reader->close();
  });
}

TEST_P(StorageContract, OffsetsMayBeBeyond4GiB) {
  on_one_rank([&](StorageEnd& end) {
    const std::uint64_t far = (std::uint64_t{5} << 30) + unit_bytes;
    const Block out = Block::filled(unit_bytes, 3);
    Calls writer(end, GetParam(), "far", Access::write);
    EXPECT_EQ(writer.write(far, out.all()), unit_bytes);
    EXPECT_EQ(writer->size_bytes(), far + unit_bytes);
    writer->close();
    Calls reader(end, GetParam(), "far", Access::read);
    const Block in(unit_bytes);
    EXPECT_EQ(reader.read(far, in.all()), unit_bytes);
    EXPECT_TRUE(in.text() == out.text());
    EXPECT_EQ(reader.read(far - unit_bytes, in.all()), unit_bytes);
    EXPECT_TRUE(in.text() == std::string(unit_bytes, '\0'));
    reader->close();
  });
}

TEST_P(StorageContract, SeveralTransfersAreUnderWayAtOnce) {
  if (GetParam().calls != storage::FileCalls::non_blocking) return;
  on_one_rank([&](StorageEnd& end) {
    const std::uint64_t size = 8 * unit_bytes;
    const bool collective = GetParam().collective;
    Calls writer(end, GetParam(), "several", Access::write);
    Calls reader(end, GetParam(), "several", Access::read);
    for (std::uint64_t turn = 0; turn < 3; ++turn) {  // tickets are used again
      std::vector<Block> out, in;
      for (std::uint64_t i = 0; i < Calls::max_started; ++i) {
        out.push_back(Block::filled(size, 10 * turn + i));
        in.emplace_back(size);
      }
      for (std::uint64_t i = 0; i < out.size(); ++i) writer->start_write(i, i * size, out[i].all(), collective);
      for (std::uint64_t i = out.size(); i-- > 0;) EXPECT_EQ(writer.wait(i), size);
      writer->sync();
      for (std::uint64_t i = 0; i < in.size(); ++i) reader->start_read(i, i * size, in[i].all(), collective);
      for (const std::uint64_t i : {1u, 3u, 0u, 2u}) EXPECT_EQ(reader.wait(i), size);
      for (std::uint64_t i = 0; i < in.size(); ++i) EXPECT_TRUE(in[i].text() == out[i].text()) << turn << " " << i;
    }
    writer->close();
    reader->close();
  });
}

TEST_P(StorageContract, RanksShareAFile) {
  on_all_ranks([&](StorageEnd& end) {
    const auto size = static_cast<std::uint64_t>(end.size);
    const auto own = static_cast<std::uint64_t>(end.rank);
    Calls writer(end, GetParam(), "shared", Access::write);
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::uint64_t place = i * size + own;
      EXPECT_EQ(writer.write(place * unit_bytes, Block::filled(unit_bytes, place).all()), unit_bytes);
    }
    writer->sync();
    writer->close();
    end.barrier();
    Calls reader(end, GetParam(), "shared", Access::read);
    EXPECT_EQ(reader->size_bytes(), 6 * size * unit_bytes);
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::uint64_t place = i * size + (own + 1) % size;
      const Block in(unit_bytes);
      EXPECT_EQ(reader.read(place * unit_bytes, in.all()), unit_bytes);
      EXPECT_TRUE(in.text() == Block::filled(unit_bytes, place).text()) << place;
    }
    reader->close();
  });
}

TEST_P(StorageContract, ARankMayHaveNothingToGiveToACollectiveCall) {
  if (!GetParam().collective) return;
  on_all_ranks([&](StorageEnd& end) {
    Calls writer(end, GetParam(), "uneven", Access::write);
    const Block out = Block::filled(unit_bytes, 1);
    const auto data = end.is_first() ? out.all() : std::span<std::byte>();
    EXPECT_EQ(writer.write(unit_bytes, data), data.size());
    writer->sync();
    writer->close();
    end.barrier();
    Calls reader(end, GetParam(), "uneven", Access::read);
    const Block in(unit_bytes);
    const bool is_last = end.rank == end.size - 1;
    EXPECT_EQ(reader.read(unit_bytes, is_last ? in.all() : std::span<std::byte>()), is_last ? unit_bytes : 0);
    if (is_last) {
      EXPECT_TRUE(in.text() == out.text());
    }
    reader->close();
  });
}

TEST_P(StorageContract, SyncingAndPreallocatingKeepContents) {
  on_all_ranks([&](StorageEnd& end) {
    if (end.is_first()) put(end.folder + "/long", std::string(unit_bytes, 'x'));
    end.barrier();
    Calls writer(end, GetParam(), "long", Access::write);
    try {
      writer->preallocate(64 * unit_bytes);
    } catch (const Error& error) {  // not every file system can
      EXPECT_THAT(error.what(), HasSubstr(writer.path()));
      return;
    }
    end.barrier();
    EXPECT_GE(writer->size_bytes(), 64 * unit_bytes);
    end.barrier();
    writer->preallocate(2 * unit_bytes);  // shorter than it is: nothing is cut off
    end.barrier();
    EXPECT_GE(writer->size_bytes(), 64 * unit_bytes);
    writer->sync();
    writer->close();
    EXPECT_TRUE(contents_of(writer.path()).substr(0, unit_bytes) == std::string(unit_bytes, 'x'));
  });
}

TEST_P(StorageContract, FilesMayBeLeftToTheirDestructor) {
  on_all_ranks([&](StorageEnd& end) {
    const Block out = Block::filled(unit_bytes, static_cast<std::uint64_t>(end.rank));
    const std::uint64_t offset_bytes = static_cast<std::uint64_t>(end.rank) * unit_bytes;
    {
      Calls writer(end, GetParam(), "left", Access::write);
      EXPECT_EQ(writer.write(offset_bytes, out.all()), unit_bytes);
    }
    EXPECT_TRUE(contents_of(end.folder + "/left").substr(offset_bytes, unit_bytes) == out.text());
  });
}

}  // namespace leadline::contract
