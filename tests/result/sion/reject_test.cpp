// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong inside one file: refused with its code, or accepted where the format allows it.
#include <unistd.h>

#include <limits>

#include "result/sion/container/reader.hpp"
#include "sion_fixture.hpp"

namespace leadline::test::reject_test {
namespace {

using namespace result::sion;
using testing::HasSubstr;

constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t max32 = std::numeric_limits<std::int32_t>::max();

// The file that is damaged below: three tasks, two rounds. META1 has 1136 bytes, the data begin there.
constexpr std::size_t ranks_at = 1076, chunks_at = 1100, rounds_at = 1124, meta2_offset_at = 1128, data_at = 1136;
constexpr std::size_t meta2_at = data_at + 2 * 64, used_at = meta2_at + 24, end_at = meta2_at + 72;

std::string sound_file() {
  const Blocks blocks{{pattern(0, 16), pattern(0, 3)}, {pattern(1, 32)}, {pattern(2, 5)}};
  return file_of(with_blocks(layout_with_chunks({16, 32, 16}), blocks), blocks);
}

struct Row {
  const char* name;
  const char* code;
  std::function<void(std::string&)> damage;
};

void PrintTo(const Row& row, std::ostream* stream) { *stream << row.name; }

std::function<void(std::string&)> cut(std::size_t size) {
  return [size](std::string& bytes) { bytes.resize(size); };
}

template <typename Number>
std::function<void(std::string&)> set(std::size_t offset, Number number) {
  return [=](std::string& bytes) { patch(bytes, offset, number); };
}

std::function<void(std::string&)> order_word(std::array<char, 4> word) {
  return [=](std::string& bytes) { bytes.replace(4, 4, word.data(), 4); };
}

class Reject : public ::testing::TestWithParam<Row> {
 protected:
  Folder folder_;
  std::string path_ = folder_ / "x.sion";
};

TEST_P(Reject, names_file_and_code) {
  std::string bytes = sound_file();
  GetParam().damage(bytes);
  write_file(path_, bytes);
  const std::string error = error_opening(path_);
  EXPECT_THAT(error, HasSubstr("cannot read '" + path_ + "'"));
  EXPECT_THAT(error, HasSubstr("SION file, " + std::string(GetParam().code) + ": "));
}

const std::vector<Row> rows{
    {"row_1_empty", "TRUNCATED", cut(0)},
    {"row_1_one_byte", "TRUNCATED", cut(1)},
    {"row_1_no_tables", "TRUNCATED", cut(1075)},
    {"row_1_one_rank_less", "TRUNCATED", cut(chunks_at - 1)},
    {"row_1_no_end_mark", "TRUNCATED", cut(data_at - 1)},
    {"row_2_magic", "MAGIC", [](std::string& bytes) { bytes[3] = 'N'; }},
    {"row_2_other_short_file", "MAGIC", [](std::string& bytes) { bytes = "{\"benchmark\": 1}"; }},
    {"row_3_outer_differ", "ENDIAN", order_word({0, 0, 0, 1})},
    {"row_3_inner_differ", "ENDIAN", order_word({0, 1, 0, 0})},
    {"row_3_no_order", "ENDIAN", order_word({2, 0, 0, 2})},
    {"row_3_no_payload_order", "ENDIAN", order_word({0, -1, -1, 0})},
    {"row_4_too_old", "FORMAT", set(16, 2)},
    {"row_4_negative", "FORMAT", set(16, -5)},
    {"row_4_too_new", "FORMAT", set(16, 6)},
    {"row_5_zero", "FSBLK", set(20, 0)},
    {"row_5_negative", "FSBLK", set(20, -16)},
    {"row_6_none", "NTASKS", set(24, 0)},
    {"row_6_negative", "NTASKS", set(24, -1)},
    {"row_6_huge", "NTASKS", set(24, max32)},
    {"row_6_more_than_the_file_holds", "TRUNCATED", set(24, 1'000'000)},
    {"row_7_huge_tables", "TRUNCATED",
     [](std::string& bytes) {
       patch(bytes, rounds_at, max32);
       patch(bytes, meta2_offset_at, std::int64_t{data_at} + std::int64_t{64} * max32);
     }},
    {"row_8_none", "NFILES", set(28, 0)},
    {"row_8_negative", "NFILES", set(28, -3)},
    {"row_8_huge", "NFILES", set(28, max32)},
    {"row_9_negative", "FILENO", set(32, -1)},
    {"row_9_beyond_a_single_file", "FILENO", set(32, 2)},
    {"row_9_beyond_a_set", "FILENO",
     [](std::string& bytes) {
       patch(bytes, 28, 3);
       patch(bytes, 32, 3);
     }},
    {"row_10_not_implemented", "KEYVAL", set(36, std::int64_t{52} << 32)},
    {"row_10_negative", "KEYVAL", set(36, -(std::int64_t{50} << 32))},
    {"row_13_negative", "CHUNKSIZE", set(chunks_at + 8, std::int64_t{-1})},
    {"row_13_overflow", "OVERFLOW", set(chunks_at, max64 - 10)},
    {"row_13_overflow_behind_the_header", "META2POS", set(chunks_at, max64 - 100)},
    {"row_14_unfinished", "UNCLOSED",
     [](std::string& bytes) {
       patch(bytes, rounds_at, 0);
       patch(bytes, meta2_offset_at, std::int64_t{0});
     }},
    {"row_15_zero", "MAXCHUNKS", set(rounds_at, 0)},
    {"row_15_negative", "MAXCHUNKS", set(rounds_at, -1)},
    {"row_16_one_off", "META2POS", set(meta2_offset_at, std::int64_t{meta2_at - 1})},
    {"row_16_inside_the_header", "META2POS", set(meta2_offset_at, std::int64_t{1076})},
    {"row_16_negative", "META2POS", set(meta2_offset_at, std::int64_t{-8})},
    {"row_16_beyond_the_end", "META2POS", set(meta2_offset_at, max64)},
    {"row_16_other_rounds", "META2POS", set(rounds_at, 3)},
    {"row_16_huge_rounds", "META2POS",
     [](std::string& bytes) {
       patch(bytes, chunks_at, std::int64_t{1} << 40);
       patch(bytes, rounds_at, max32);
     }},
    {"row_17_not_there", "TRUNCATED", cut(meta2_at)},
    {"row_17_last_byte_missing", "TRUNCATED", cut(end_at - 1)},
    {"row_18_negative", "BLOCKCOUNT", set(meta2_at, std::int64_t{-1})},
    {"row_18_more_than_rounds", "BLOCKCOUNT", set(meta2_at + 8, std::int64_t{3})},
    {"row_18_none_has_all_rounds", "BLOCKCOUNT", set(meta2_at, std::int64_t{1})},
    {"row_19_negative", "BLOCKSIZE", set(used_at, std::int64_t{-1})},
    {"row_19_beyond_its_chunk", "BLOCKSIZE", set(used_at + 8, std::int64_t{33})},
    {"row_19_in_the_last_round", "BLOCKSIZE", set(used_at + 24, std::int64_t{17})},
};

INSTANTIATE_TEST_SUITE_P(Sion, Reject, ::testing::ValuesIn(rows),
                         [](const auto& test) { return std::string(test.param.name); });

class Accept : public Reject {};

TEST_P(Accept, reads_the_same_contents) {
  std::string bytes = sound_file();
  GetParam().damage(bytes);
  write_file(path_, bytes);
  Reader reader = Reader::open(path_);
  EXPECT_EQ(reader.content(0), pattern(0, 16) + pattern(0, 3));
  EXPECT_EQ(reader.content(1), pattern(1, 32));
  EXPECT_EQ(reader.content(2), pattern(2, 5));
}

const std::vector<Row> harmless{
    {"nothing", "", [](std::string&) {}},
    {"row_9_file_number_of_the_serial_interface", "", set(32, 1)},
    {"row_10_no_flags", "", set(36, std::int64_t{0})},
    {"row_11_prefix_without_an_end", "", [](std::string& bytes) { bytes.replace(52, 1024, 1024, '/'); }},
    {"row_12_prefix_that_leads_elsewhere", "", [](std::string& bytes) { bytes.replace(52, 11, "/etc/passwd"); }},
    {"library_version", "", set(8, -1)},
    {"lower_flags", "", set(36, 0x1234)},
    {"second_flags", "", set(44, max64)},
    {"unused_entries_of_the_mapped_writer", "",
     [](std::string& bytes) {
       patch(bytes, used_at + 32, std::int64_t{-1});
       patch(bytes, used_at + 40, max64);
     }},
    {"bytes_in_gaps", "", [](std::string& bytes) { bytes[data_at + 48 + 10] = 'x'; }},
    {"old_bytes_behind_the_end", "", [](std::string& bytes) { bytes += std::string(1000, '\xff'); }},
    {"empty_mapping", "", [](std::string& bytes) { bytes += std::string(4, '\0'); }},
    {"huge_mapping_of_a_single_file", "", [](std::string& bytes) { bytes += "\xff\xff\xff\x7f"; }},
    {"ranks_in_any_order", "", set(ranks_at, max64)},
    {"negative_rank", "", set(ranks_at, std::int64_t{-1})},
};

INSTANTIATE_TEST_SUITE_P(Sion, Accept, ::testing::ValuesIn(harmless),
                         [](const auto& test) { return std::string(test.param.name); });

class RejectMore : public ::testing::Test {
 protected:
  std::string with(const std::function<void(std::string&)>& damage) {
    std::string bytes = sound_file();
    damage(bytes);
    write_file(path_, bytes);
    return path_;
  }

  Folder folder_;
  std::string path_ = folder_ / "x.sion";
};

TEST_F(RejectMore, the_sound_file_is_where_the_table_thinks) {
  const std::string bytes = sound_file();
  EXPECT_EQ(bytes.size(), end_at);
  EXPECT_EQ(number_at<std::int64_t>(bytes.data() + meta2_offset_at, host_byte_order), std::int64_t{meta2_at});
}

TEST_F(RejectMore, every_shorter_file_is_refused) {
  const std::string bytes = sound_file();
  for (std::size_t size = 0; size < bytes.size(); size += size < 1000 ? 97 : 5) {
    write_file(path_, bytes.substr(0, size));
    EXPECT_THAT(error_opening(path_), HasSubstr("TRUNCATED")) << size;
  }
}

TEST_F(RejectMore, row_20_a_task_without_blocks_is_empty_unless_strict) {
  with(set(meta2_at + 16, std::int64_t{0}));
  EXPECT_EQ(Reader::open(path_).size_bytes(2), 0);
  EXPECT_THAT(error_opening(path_, {.strictness = Strictness::strict}), HasSubstr("BLOCKCOUNT: task 2"));
}

TEST_F(RejectMore, row_21_content_above_a_limit_is_refused_before_memory_is_taken) {
  Reader reader = Reader::open(with([](std::string&) {}));
  EXPECT_EQ(reader.content(0, 19).size(), 19U);
  EXPECT_THAT(error_of([&] { reader.content(0, 18); }), HasSubstr("LIMIT"));
}

TEST_F(RejectMore, row_28_ranks_that_no_result_has) {
  EXPECT_NO_THROW(Reader::open(with([](std::string&) {})).expect_distinct_ranks());
  Reader twice = Reader::open(with(set(ranks_at, std::int64_t{1})));
  EXPECT_THAT(error_of([&] { twice.expect_distinct_ranks(); }), HasSubstr("RANKS: two tasks have rank 1"));
  Reader negative = Reader::open(with(set(ranks_at, std::int64_t{-1})));
  EXPECT_THAT(error_of([&] { negative.expect_distinct_ranks(); }), HasSubstr("RANKS"));
}

TEST_F(RejectMore, row_30_a_file_that_shrinks_while_it_is_read) {
  Reader reader = Reader::open(with([](std::string&) {}));
  ASSERT_EQ(::truncate(path_.c_str(), data_at + 20), 0);
  EXPECT_THAT(error_of([&] { reader.content(1); }), HasSubstr("TRUNCATED"));
}

TEST_F(RejectMore, files_that_are_not_there_or_no_files) {
  EXPECT_THAT(error_opening(folder_ / "none.sion", {}, ExitStatus::bad_command_line),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(error_opening(folder_.path(), {}, ExitStatus::bad_command_line), HasSubstr("Is a directory"));
  EXPECT_THAT(error_opening("/dev/null", {}, ExitStatus::bad_command_line), HasSubstr("no regular file"));
}

TEST_F(RejectMore, a_salvaged_file_gives_chunks_as_far_as_it_goes) {
  with([](std::string& bytes) {
    patch(bytes, rounds_at, 0);
    patch(bytes, meta2_offset_at, std::int64_t{0});
    patch(bytes, chunks_at + 16, std::int64_t{1} << 50);
    bytes.resize(data_at + 50);
  });
  Reader reader = Reader::open(path_, {.unfinished = Unfinished::salvage});
  EXPECT_TRUE(reader.is_unfinished());
  EXPECT_EQ(reader.content(0), pattern(0, 16));
  EXPECT_EQ(reader.content(1), pattern(1, 32));
  EXPECT_EQ(reader.content(2), pattern(2, 2));
}

TEST_F(RejectMore, salvaging_a_finished_file_reads_all_of_it) {
  Reader reader = Reader::open(with([](std::string&) {}), {.unfinished = Unfinished::salvage});
  EXPECT_FALSE(reader.is_unfinished());
  EXPECT_EQ(reader.size_bytes(0), 19);
}

TEST_F(RejectMore, salvaging_does_not_forgive_damage) {
  with([](std::string& bytes) {
    patch(bytes, rounds_at, 0);
    patch(bytes, meta2_offset_at, std::int64_t{0});
    patch(bytes, chunks_at, std::int64_t{-1});
  });
  EXPECT_THAT(error_opening(path_, {.unfinished = Unfinished::salvage}), HasSubstr("CHUNKSIZE"));
}

TEST_F(RejectMore, a_sparse_file_cannot_make_tables_of_its_holes) {
  // Sixteen million tasks, of which the disk has next to nothing.
  with(set(24, static_cast<std::int32_t>(max_num_tasks)));
  ASSERT_EQ(::truncate(path_.c_str(), std::int64_t{1} << 32), 0);
  EXPECT_THAT(error_opening(path_), HasSubstr("LIMIT"));
}

TEST_F(RejectMore, a_row_that_was_never_written_reads_as_zeros) {
  constexpr std::int64_t chunk = 1 << 20;
  const Layout layout = layout_with_chunks({chunk, chunk});
  std::string bytes = encode_meta1(layout);
  write_file(path_, bytes.append(chunk, 'x'));
  ASSERT_EQ(::truncate(path_.c_str(), std::ssize(bytes) + chunk), 0);
  Reader reader = Reader::open(path_, {.unfinished = Unfinished::salvage});
  EXPECT_EQ(reader.content(0), std::string(chunk, 'x'));
  EXPECT_EQ(reader.content(1), std::string(chunk, '\0'));
}

class Records : public RejectMore {
 protected:
  /// A task that is this stream, in chunks of 16 bytes.
  std::string error_of_stream(const std::string& stream) {
    Layout layout = layout_with_chunks({16});
    layout.key_value_mode = KeyValueMode::inline_records;
    Blocks blocks{{}};
    for (std::size_t at = 0; at < stream.size(); at += 16) blocks[0].push_back(stream.substr(at, 16));
    write_file(path_, file_of(with_blocks(layout, blocks), blocks));
    Reader reader = Reader::open(path_);
    return error_of([&] {
      KeyValueRecords records(reader, 0);
      while (records.next()) num_records_++;
    });
  }

  static std::string record(std::uint64_t key, std::uint64_t size, const std::string& value) {
    std::string bytes;
    append_number(bytes, key, host_byte_order);
    append_number(bytes, size, host_byte_order);
    return bytes + value;
  }

  int num_records_ = 0;
};

TEST_F(Records, row_29_cut_header) {
  EXPECT_THAT(error_of_stream(record(1, 3, "abc") + "1234567"), HasSubstr("KVRECORD: task 0: the record at byte 19"));
  EXPECT_EQ(num_records_, 1);
}

TEST_F(Records, row_29_value_longer_than_the_rest) {
  EXPECT_THAT(error_of_stream(record(1, 0, "") + record(2, 4, "abc")), HasSubstr("KVRECORD"));
  EXPECT_EQ(num_records_, 1);
}

TEST_F(Records, row_29_length_that_would_overflow) {
  EXPECT_THAT(error_of_stream(record(1, ~std::uint64_t{0}, "abc")), HasSubstr("KVRECORD"));
  EXPECT_THAT(error_of_stream(record(1, ~std::uint64_t{0} - 15, "abc")), HasSubstr("KVRECORD"));
}

}  // namespace
}  // namespace leadline::test::reject_test
