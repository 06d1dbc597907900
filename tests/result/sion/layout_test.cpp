// SPDX-License-Identifier: Apache-2.0
// The container's arithmetic, its bytes one by one, and both byte orders and all formats, at random as well.
#include <limits>

#include "core/random.hpp"
#include "sion_fixture.hpp"

namespace leadline::test::layout_test {
namespace {

using namespace result::sion;
using testing::ElementsAre;

constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();

std::vector<TaskSize> tasks_of(const std::vector<std::int64_t>& sizes) {
  std::vector<TaskSize> tasks;
  for (const std::int64_t size : sizes) tasks.push_back({std::ssize(tasks), size});
  return tasks;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

TEST(SionLayout, of_collective_writing_is_that_of_linktest) {
  const Layout four = collective_layout(tasks_of({553, 337, 337, 337}), 4096, "pingpong_results_bin.sion");
  EXPECT_THAT(four.chunk_size_bytes, ElementsAre(553, 337, 337, 2869));
  EXPECT_THAT(four.used_bytes, ElementsAre(553, 337, 337, 337));
  EXPECT_EQ(four.meta2_offset, 8192);
  EXPECT_EQ(four.file_number, 0);
  EXPECT_EQ(four.meta2_offset + std::ssize(encode_meta2(four)), 8256);

  const Layout eight = collective_layout(tasks_of({761, 449, 449, 449, 449, 449, 449, 449}), 4096, "");
  EXPECT_EQ(eight.chunk_size_bytes.back(), 641);
  EXPECT_EQ(eight.meta2_offset + std::ssize(encode_meta2(eight)), 8320);
  EXPECT_FALSE(problem_of(eight));
}

TEST(SionLayout, of_collective_writing_gives_no_room_away_where_the_end_fits) {
  const Layout layout = collective_layout(tasks_of({64, 64}), 128, "");
  EXPECT_THAT(layout.chunk_size_bytes, ElementsAre(64, 64));
  EXPECT_EQ(layout.meta2_offset, 1152 + 128);
}

TEST(SionLayout, dense_has_no_gaps) {
  const Layout layout = dense_layout(tasks_of({5, 0, 10}), "x.sion");
  EXPECT_EQ(layout.meta2_offset, 1088 + 3 * 16 + 15);
  EXPECT_EQ(layout.file_number, 1);
  EXPECT_EQ(layout.block_size_bytes, 1);
  EXPECT_EQ(encode_meta2(layout).size(), 3U * 16 + 4);
  EXPECT_FALSE(problem_of(layout));
}

TEST(SionLayout, sizes_that_leave_64_bits_are_an_error) {
  EXPECT_THROW(dense_layout(tasks_of({max64, 1}), ""), Error);
  EXPECT_THROW(dense_layout(tasks_of({max64 - 1000}), ""), Error);
  EXPECT_THROW(collective_layout(tasks_of({max64, 1}), 4096, ""), Error);
  EXPECT_THROW(collective_layout(tasks_of({max64}), 4096, ""), Error);
}

TEST(SionLayout, every_byte_is_where_the_format_has_it) {
  Layout layout = layout_with_chunks({16, 16});
  layout.file_number = 1;
  layout.prefix = "min2.sion";
  layout.tail = Tail::empty_mapping;
  layout.metadata_order = layout.payload_order = ByteOrder::little;
  const Blocks blocks{{"Hello"}, {"SION world"}};
  const std::string bytes = file_of(with_blocks(layout, blocks), blocks);
  ASSERT_EQ(bytes.size(), 1188U);
  EXPECT_EQ(hexadecimal(bytes.substr(0, 0x34)),
            "73696f6e"          // magic
            "00000000"          // byte orders
            "ef030000"          // library 1.7
            "06000000"          // patch level
            "05000000"          // format
            "10000000"          // block size
            "02000000"          // tasks
            "01000000"          // files
            "01000000"          // file number
            "0000000032000000"  // no key-value data
            "0000000000000000");
  EXPECT_EQ(bytes.substr(0x34, 1024), std::string("min2.sion") + std::string(1015, '\0'));
  EXPECT_EQ(hexadecimal(bytes.substr(0x434, 0x2c)),
            "0000000000000000"    // rank 0
            "0100000000000000"    // rank 1
            "1000000000000000"    // chunk 0
            "1000000000000000"    // chunk 1
            "01000000"            // rounds
            "8004000000000000");  // place of the second metadata block
  EXPECT_EQ(bytes.substr(0x460, 0x20), "Hello" + std::string(11, '\0') + "SION world" + std::string(6, '\0'));
  EXPECT_EQ(hexadecimal(bytes.substr(0x480)),
            "0100000000000000"  // blocks of task 0
            "0100000000000000"  // blocks of task 1
            "0500000000000000"  // used by task 0
            "0a00000000000000"  // used by task 1
            "00000000");        // empty mapping
}

TEST(SionLayout, the_mark_of_the_byte_orders_reads_the_same_both_ways) {
  Layout layout = layout_with_chunks({16});
  layout.metadata_order = ByteOrder::big;
  layout.payload_order = ByteOrder::little;
  EXPECT_EQ(hexadecimal(encode_meta1(layout).substr(4, 8)), "01000001000003ef");
  layout.payload_order = ByteOrder::big;
  EXPECT_EQ(hexadecimal(encode_meta1(layout).substr(4, 4)), "01010101");
}

TEST(SionLayout, a_file_is_unfinished_until_its_end_mark_is_there) {
  const Layout layout = dense_layout(tasks_of({5}), "x");
  const Folder folder;
  std::string bytes = encode_meta1(layout) + "Hello" + encode_meta2(layout);
  write_file(folder / "x.sion", bytes);
  EXPECT_THAT(error_opening(folder / "x.sion"), ::testing::HasSubstr("UNCLOSED"));
  bytes.replace(static_cast<std::size_t>(end_mark_offset(1)), 12, encode_end_mark(layout));
  write_file(folder / "x.sion", bytes);
  EXPECT_EQ(Reader::open(folder / "x.sion").content(0), "Hello");
}

TEST(SionLayout, formats_3_and_4_are_read) {
  const Folder folder;
  // Format 3 has the sizes asked for; both files are the same but for these.
  Layout layout = layout_with_chunks({16, 32});
  const Blocks blocks{{pattern(0, 16)}, {pattern(1, 20), "more"}};
  for (const std::int32_t format : {3, 4}) {
    layout.format_version = format;
    std::string bytes = file_of(with_blocks(layout, blocks), blocks);
    if (format == 3) patch(bytes, fixed_header_bytes + 2 * 8, std::array<std::int64_t, 2>{5, 17});
    write_file(folder / "x.sion", bytes);
    Reader reader = Reader::open(folder / "x.sion");
    EXPECT_EQ(reader.content(0), pattern(0, 16)) << format;
    EXPECT_EQ(reader.content(1), pattern(1, 20) + "more") << format;
  }
}

TEST(SionLayout, chunks_far_apart_are_read_without_taking_memory) {
  // Five tasks with a TiB each, of which a few bytes are used.
  const Folder folder;
  constexpr std::int64_t chunk = std::int64_t{1} << 40;
  Layout layout = layout_with_chunks(std::vector<std::int64_t>(5, chunk));
  const Blocks blocks{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}};
  layout = with_blocks(layout, blocks);
  const Geometry geometry = [&] {
    Problem problem;
    return *geometry_of(layout, problem);
  }();
  std::ofstream file(folder / "x.sion", std::ios::binary);
  file << encode_meta1(layout);
  for (std::int64_t task = 0; task < 5; ++task) {
    file.seekp(geometry.chunk_offset(task, 0)) << blocks[static_cast<std::size_t>(task)][0];
  }
  file.seekp(layout.meta2_offset) << encode_meta2(layout);
  file.seekp(end_mark_offset(5)) << encode_end_mark(layout);
  file.close();
  if (!file.good()) GTEST_SKIP() << "no file system for a file of 5 TiB here";

  Reader reader = Reader::open(folder / "x.sion");
  EXPECT_EQ(reader.content(4), "e");

  // The same, all of it used: streaming works, but nobody gets it as one piece.
  layout.used_bytes[1] = chunk;
  std::fstream again(folder / "x.sion", std::ios::binary | std::ios::in | std::ios::out);
  again.seekp(layout.meta2_offset) << encode_meta2(layout);
  again.close();
  Reader large = Reader::open(folder / "x.sion");
  std::string part(3, '?');
  EXPECT_EQ(large.read(1, 0, part), 3U);
  EXPECT_EQ(part, std::string("b\0\0", 3));
  EXPECT_EQ(large.read(1, chunk - 1, part), 1U);
  EXPECT_THAT(error_of([&] { large.content(1); }), ::testing::HasSubstr("LIMIT"));
}

struct RandomFile {
  Layout layout;
  Blocks blocks;
};

RandomFile random_file(Random& random) {
  RandomFile file;
  Layout& layout = file.layout;
  layout.metadata_order = static_cast<ByteOrder>(random.below(2));
  layout.payload_order = static_cast<ByteOrder>(random.below(2));
  layout.block_size_bytes = static_cast<std::int32_t>(1 + random.below(200));
  layout.file_number = static_cast<std::int32_t>(random.below(2));
  layout.tail = static_cast<Tail>(random.below(2));
  layout.prefix = std::string(random.below(1025), 'p');
  const std::uint64_t num_tasks = 1 + random.below(9), max_rounds = 1 + random.below(5);
  for (std::uint64_t task = 0; task < num_tasks; ++task) {
    const auto chunk = static_cast<std::int64_t>(random.below(3) == 0 ? 0 : random.below(300));
    layout.global_ranks.push_back(static_cast<std::int64_t>(random.next()));
    layout.chunk_size_bytes.push_back(chunk);
    file.blocks.emplace_back(1 + random.below(max_rounds));
    for (std::string& block : file.blocks.back()) {
      block = pattern(static_cast<std::int64_t>(random.below(99)),
                      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(chunk) + 1)));
    }
  }
  layout = with_blocks(layout, file.blocks);
  return file;
}

TEST(SionLayout, whatever_is_written_is_read_back) {
  const Folder folder;
  Random random(20);
  for (int round = 0; round < 100; ++round) {
    const RandomFile file = random_file(random);
    ASSERT_FALSE(problem_of(file.layout)) << problem_of(file.layout)->detail;
    write_file(folder / "x.sion", file_of(file.layout, file.blocks));
    Reader reader = Reader::open(folder / "x.sion");
    ASSERT_EQ(reader.files().front().layout, file.layout) << round;
    for (std::size_t task = 0; task < file.blocks.size(); ++task) {
      std::string expected;
      for (const std::string& block : file.blocks[task]) expected += block;
      ASSERT_EQ(reader.content(static_cast<std::int64_t>(task)), expected) << round << " task " << task;
    }
  }
}

TEST(SionLayout, a_prefix_discloses_no_folders) {
  EXPECT_EQ(prefix_for("/home/someone/x.sion"), "x.sion");
  EXPECT_EQ(prefix_for("x.sion"), "x.sion");
  EXPECT_EQ(prefix_for(std::string(2000, 'x')).size(), 1023U);
}

}  // namespace
}  // namespace leadline::test::layout_test
