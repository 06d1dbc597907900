// SPDX-License-Identifier: Apache-2.0
// LinkTest's record: what its own files hold, both byte orders, the extension behind it, and what is refused.
#include "result/sion/container/linktest_record.hpp"

#include <cmath>

#include "sion_fixture.hpp"

namespace leadline::test {
namespace {

using namespace result::sion;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string file_name = "x.sion";

RecordShape shape_of(Reader& reader, std::int64_t rank) {
  const std::string first = reader.content(0);
  return {reader.num_tasks(), rank,
          linktest_has_all_to_all(first, reader.num_tasks(), reader.payload_order(), reader.path())};
}

std::vector<LinkTestRecord> records_of(Reader& reader) {
  std::vector<LinkTestRecord> records;
  for (std::int64_t rank = 0; rank < reader.num_tasks(); ++rank) {
    const std::string bytes = reader.content(rank);
    DecodedRecord decoded = decode_linktest_record(bytes, shape_of(reader, rank), reader.payload_order(),
                                                   Trailing::extension, reader.path());
    EXPECT_FALSE(decoded.has_extension);
    records.push_back(std::move(decoded.record));
  }
  return records;
}

class LinkTestSamples : public ::testing::TestWithParam<const char*> {};

TEST_P(LinkTestSamples, decode_and_encode_to_the_same_bytes) {
  Reader reader = Reader::open(sample(GetParam()));
  std::int64_t rank = 0;
  for (const LinkTestRecord& record : records_of(reader)) {
    EXPECT_EQ(encode_linktest_record(record, shape_of(reader, rank)), reader.content(rank)) << "rank " << rank;
    EXPECT_EQ(record.location[0], rank);
    ++rank;
  }
}

TEST_P(LinkTestSamples, are_made_anew_with_our_own_layout) {
  Reader reader = Reader::open(sample(GetParam()));
  std::vector<TaskSize> tasks;
  Blocks blocks;
  for (const LinkTestRecord& record : records_of(reader)) {
    const auto rank = std::ssize(blocks);
    blocks.push_back({encode_linktest_record(record, shape_of(reader, rank))});
    tasks.push_back({rank, std::ssize(blocks.back()[0])});
  }
  const Layout layout = collective_layout(tasks, 4096, "pingpong_results_bin.sion");
  EXPECT_TRUE(file_of(layout, blocks) == contents_of(sample(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sion, LinkTestSamples,
                         ::testing::Values("linktest/ompi_n4_1B_par.sion", "linktest/ompi_n8_1KiB_a2a.sion",
                                           "linktest/ompi_n8_1MiB_ser.sion"));

TEST(LinkTestRecord, of_four_ranks_has_what_was_measured) {
  Reader reader = Reader::open(sample("linktest/ompi_n4_1B_par.sion"));
  const std::vector<LinkTestRecord> records = records_of(reader);
  ASSERT_EQ(records.size(), 4U);
  const LinkTestRun& run = records[0].run.value();
  EXPECT_EQ(run.message_size_bytes, 1);
  EXPECT_FALSE(run.has_all_to_all);
  EXPECT_FALSE(run.is_permuted);
  EXPECT_GT(run.times.min_s, 0);
  EXPECT_LE(run.times.min_s, run.times.mean_s);
  EXPECT_LE(run.times.mean_s, run.times.max_s);
  EXPECT_EQ(run.all_to_all_times, LinkTestTimes{});
  EXPECT_FALSE(records[1].run);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_FALSE(records[rank].host_name.empty());
    EXPECT_EQ(records[rank].time_s[rank], 0);
    EXPECT_EQ(records[rank].step[rank], 0);
    EXPECT_TRUE(records[rank].all_to_all_time_s.empty());
  }
}

TEST(LinkTestRecord, of_eight_ranks_has_all_to_all_and_retests) {
  Reader reader = Reader::open(sample("linktest/ompi_n8_1KiB_a2a.sion"));
  const std::vector<LinkTestRecord> records = records_of(reader);
  const LinkTestRun& run = records[0].run.value();
  EXPECT_TRUE(run.has_all_to_all);
  EXPECT_EQ(run.message_size_bytes, 1024);
  EXPECT_GT(run.all_to_all_times.mean_s, 0);
  ASSERT_EQ(records[5].all_to_all_time_s.size(), 8U);
  EXPECT_EQ(records[5].all_to_all_time_s[0], 0);
  EXPECT_GT(records[5].all_to_all_time_s[1], 0);
  for (const LinkTestRetest& retest : run.retests) {
    EXPECT_NE(retest.from_rank, retest.to_rank);
    EXPECT_GT(retest.time_s, 0);
    EXPECT_EQ(retest.first_time_s,
              records[static_cast<std::size_t>(retest.from_rank)].time_s[static_cast<std::size_t>(retest.to_rank)]);
  }
}

LinkTestRecord record_for(const RecordShape& shape) {
  LinkTestRecord record;
  record.host_name = "node01";
  record.location = {static_cast<std::int32_t>(shape.rank), 1, -2, 3};
  for (std::int64_t i = 0; i < shape.num_ranks; ++i) {
    record.time_s.push_back(0.25 * static_cast<double>(i + 1));
    record.step.push_back(static_cast<std::int32_t>(i + 7));
    if (shape.has_all_to_all) record.all_to_all_time_s.push_back(1.5 * static_cast<double>(i));
  }
  if (shape.rank == 0) {
    record.run = LinkTestRun{.num_iterations = 100,
                             .message_size_bytes = 1024,
                             .has_all_to_all = shape.has_all_to_all,
                             .is_serial = true,
                             .is_permuted = true,
                             .times = {1, 3, 2},
                             .all_to_all_times = {4, 6, 5},
                             .retests = {{1, 0, 0.5, 0.75}, {2, 0, 0.125, 8}}};
    record.run->retests.resize(std::min<std::size_t>(2, static_cast<std::size_t>(shape.num_ranks)));
  }
  return record;
}

TEST(LinkTestRecord, has_the_length_that_the_layout_says) {
  EXPECT_EQ(linktest_record_bytes({4, 0, false}), 553);
  EXPECT_EQ(linktest_record_bytes({4, 1, false}), 337);
  EXPECT_EQ(linktest_record_bytes({8, 0, true}), 761);
  EXPECT_EQ(linktest_record_bytes({8, 7, true}), 449);
}

TEST(LinkTestRecord, survives_the_way_there_and_back_in_both_byte_orders) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    for (const std::int64_t num_ranks : {1, 2, 3, 16}) {
      for (const bool has_all_to_all : {false, true}) {
        for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
          const RecordShape shape{num_ranks, rank, has_all_to_all};
          const LinkTestRecord record = record_for(shape);
          const std::string bytes = encode_linktest_record(record, shape, order);
          EXPECT_EQ(std::ssize(bytes), linktest_record_bytes(shape));
          EXPECT_EQ(decode_linktest_record(bytes, shape, order, Trailing::extension, file_name).record, record);
        }
      }
    }
  }
}

TEST(LinkTestRecord, has_its_fields_where_other_readers_look) {
  const RecordShape shape{3, 0, true};
  const std::string bytes = encode_linktest_record(record_for(shape), shape, ByteOrder::little);
  const auto integer = [&](std::size_t offset) {
    return number_at<std::int32_t>(bytes.data() + offset, ByteOrder::little);
  };
  const auto real = [&](std::size_t offset) { return number_at<double>(bytes.data() + offset, ByteOrder::little); };
  EXPECT_EQ(bytes.substr(0, 17), std::string("LKTST\1\0\0\0\2\0\0\0\1\0\0\0", 17));
  EXPECT_EQ(bytes.substr(17, 7), std::string("node01\0", 7));
  EXPECT_EQ(integer(273 + 8), -2);
  EXPECT_EQ(integer(289), 100);
  EXPECT_EQ(integer(289 + 4), 1024);
  EXPECT_EQ(integer(289 + 8), 1);
  EXPECT_EQ(integer(289 + 12), 1);
  EXPECT_EQ(integer(289 + 36), 1);
  EXPECT_EQ(real(329 + 8), 3);
  EXPECT_EQ(real(329 + 32), 6);
  EXPECT_EQ(real(409 + 16), 0.75);
  EXPECT_EQ(integer(409 + 24 + 4), 8);
  EXPECT_EQ(real(409 + 36 + 8), 1.5);
  constexpr std::size_t retests = 409 + 36 + 24;
  EXPECT_EQ(real(retests + 8), 0.125);
  EXPECT_EQ(real(retests + 24 + 8), 8);
  EXPECT_EQ(integer(retests + 48 + 4), 2);
  EXPECT_EQ(integer(retests + 60), 0);
}

TEST(LinkTestRecord, keeps_what_fits_of_a_long_host_name) {
  const RecordShape shape{2, 1, false};
  LinkTestRecord record = record_for(shape);
  record.host_name = std::string(300, 'h');
  const std::string bytes = encode_linktest_record(record, shape);
  EXPECT_EQ(bytes[17 + 254], 'h');
  EXPECT_EQ(bytes[17 + 255], '\0');
  EXPECT_EQ(decode_linktest_record(bytes, shape, host_byte_order, Trailing::extension, file_name).record.host_name,
            std::string(255, 'h'));
}

TEST(LinkTestRecord, may_have_a_host_name_without_an_end) {
  const RecordShape shape{2, 1, false};
  std::string bytes = encode_linktest_record(record_for(shape), shape);
  bytes.replace(17, 256, 256, 'h');
  EXPECT_EQ(decode_linktest_record(bytes, shape, host_byte_order, Trailing::extension, file_name).record.host_name,
            std::string(256, 'h'));
}

TEST(LinkTestRecord, ends_its_retests_before_the_zero_rows) {
  const RecordShape shape{4, 0, false};
  LinkTestRecord record = record_for(shape);
  record.run->retests = {{1, 2, 0.5, 0.5}, {}, {3, 2, 0.5, 0.5}};
  const std::string bytes = encode_linktest_record(record, shape);
  EXPECT_EQ(decode_linktest_record(bytes, shape, host_byte_order, Trailing::extension, file_name).record.run->retests,
            record.run->retests);
}

class Extensions : public ::testing::TestWithParam<ByteOrder> {
 protected:
  DecodedRecord decoded(const std::string& bytes, Trailing trailing = Trailing::extension) const {
    return decode_linktest_record(bytes, shape_, GetParam(), trailing, file_name);
  }
  std::string refused(const std::string& bytes) const {
    return error_of([&] { decoded(bytes); });
  }

  RecordShape shape_{4, 2, true};
  std::string record_ = encode_linktest_record(record_for(shape_), shape_, GetParam());
  std::string extension_ = linktest_extension_header(7, GetParam()) + "payload";
};

TEST_P(Extensions, are_found_behind_the_record) {
  const std::string bytes = record_ + extension_;
  const DecodedRecord found = decoded(bytes);
  EXPECT_EQ(found.record, record_for(shape_));
  EXPECT_TRUE(found.has_extension);
  EXPECT_EQ(found.extension_version, 1U);
  EXPECT_EQ(found.extension, "payload");
}

TEST_P(Extensions, may_be_empty_or_absent) {
  const std::string bytes = record_ + linktest_extension_header(0, GetParam());
  EXPECT_TRUE(decoded(bytes).has_extension);
  EXPECT_EQ(decoded(bytes).extension, "");
  EXPECT_FALSE(decoded(record_).has_extension);
}

TEST_P(Extensions, of_another_version_are_skipped) {
  const std::uint32_t version = 2;
  std::string bytes = record_;
  bytes += linktest_extension_magic;
  append_number(bytes, version, GetParam());
  bytes += extension_.substr(12);
  const DecodedRecord found = decoded(bytes);
  EXPECT_TRUE(found.has_extension);
  EXPECT_EQ(found.extension_version, version);
  EXPECT_EQ(found.extension, "");
}

TEST_P(Extensions, that_are_damaged_are_refused) {
  EXPECT_THAT(refused(record_ + "junk"), HasSubstr("rank 2, RECORDSIZE: 4 unknown bytes"));
  EXPECT_THAT(refused(record_ + "LEADLINE"), HasSubstr("rank 2, EXTENSION"));
  EXPECT_THAT(refused(record_ + extension_.substr(0, extension_.size() - 1)), HasSubstr("EXTENSION"));
  EXPECT_THAT(refused(record_ + extension_ + "x"), HasSubstr("EXTENSION"));
  std::string huge = record_ + "LEADLINE";
  append_number(huge, std::uint32_t{1}, GetParam());
  append_number(huge, std::uint32_t{0}, GetParam());
  append_number(huge, ~std::uint64_t{0}, GetParam());
  EXPECT_THAT(refused(huge), HasSubstr("EXTENSION"));
}

TEST_P(Extensions, in_a_salvaged_chunk_are_taken_if_they_are_whole) {
  const std::string room(100, '\0');
  const std::string whole = record_ + extension_ + room;
  EXPECT_EQ(decoded(whole, Trailing::anything).extension, "payload");
  EXPECT_FALSE(decoded(record_ + room, Trailing::anything).has_extension);
  EXPECT_FALSE(decoded(record_ + "LEADLINE", Trailing::anything).has_extension);
  EXPECT_FALSE(decoded(record_ + extension_.substr(0, extension_.size() - 1), Trailing::anything).has_extension);
}

INSTANTIATE_TEST_SUITE_P(Sion, Extensions, ::testing::Values(ByteOrder::little, ByteOrder::big));

TEST(LinkTestRecord, that_is_none_is_refused) {
  const RecordShape shape{4, 0, false};
  const std::string sound = encode_linktest_record(record_for(shape), shape);
  const auto refused = [&](const std::string& bytes) {
    return error_of([&] { decode_linktest_record(bytes, shape, host_byte_order, Trailing::anything, file_name); });
  };
  EXPECT_THAT(refused(""), HasSubstr("cannot read 'x.sion' (damaged SION file, rank 0, RECORDID"));
  EXPECT_THAT(refused("LKTS"), HasSubstr("RECORDID"));
  EXPECT_THAT(refused(std::string(1000, '\0')), HasSubstr("RECORDID"));
  EXPECT_THAT(refused(sound.substr(0, 288)), HasSubstr("RECORDSIZE"));
  EXPECT_THAT(refused(sound.substr(0, sound.size() - 1)), HasSubstr("RECORDSIZE"));
  EXPECT_THAT(refused("LinkTest" + std::string(1000, '\0')), HasSubstr("LinkTest 2.x, whose layout is unknown"));
}

TEST(LinkTestRecord, of_another_version_is_refused) {
  const RecordShape shape{4, 0, false};
  const std::string sound = encode_linktest_record(record_for(shape), shape);
  const auto refused = [&](std::array<std::int32_t, 3> version) {
    std::string bytes = sound;
    patch(bytes, 5, version);
    return error_of([&] { decode_linktest_record(bytes, shape, host_byte_order, Trailing::extension, file_name); });
  };
  EXPECT_THAT(refused({2, 1, 16}), HasSubstr("RECORDVERSION: layout 2.1.16 of LinkTest 2.x is unknown"));
  EXPECT_THAT(refused({1, 4, 0}), HasSubstr("RECORDVERSION: layout 1.4.0 of LinkTest is unknown"));
  EXPECT_THAT(refused({1, 2, 0}), HasSubstr("RECORDVERSION"));
}

TEST(LinkTestRecord, in_the_wrong_byte_order_is_refused) {
  const RecordShape shape{4, 0, false};
  const std::string bytes = encode_linktest_record(record_for(shape), shape, ByteOrder::big);
  EXPECT_THAT(
      error_of([&] { decode_linktest_record(bytes, shape, ByteOrder::little, Trailing::extension, file_name); }),
      HasSubstr("RECORDVERSION"));
}

TEST(LinkTestRecord, shows_on_rank_0_whether_all_to_all_was_measured) {
  const RecordShape shape{4, 0, true};
  const std::string bytes = encode_linktest_record(record_for(shape), shape);
  EXPECT_TRUE(linktest_has_all_to_all(bytes, 4, host_byte_order, file_name));
  // Rank 0 knows by itself, whatever the shape says.
  EXPECT_EQ(decode_linktest_record(bytes, {4, 0, false}, host_byte_order, Trailing::extension, file_name).record,
            record_for(shape));
  EXPECT_THAT(error_of([&] { linktest_has_all_to_all(bytes.substr(0, 400), 4, host_byte_order, file_name); }),
              HasSubstr("RECORDSIZE"));
}

}  // namespace
}  // namespace leadline::test
