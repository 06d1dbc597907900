// SPDX-License-Identifier: Apache-2.0
// Files that the original library wrote: what is in them, what is refused, and rewriting them byte for byte.
#include "result/sion/container/reader.hpp"
#include "sion_fixture.hpp"

namespace leadline::test {
namespace {

using namespace result::sion;
using testing::HasSubstr;

struct Sample {
  std::string name;
  std::vector<std::int64_t> global_ranks;
  std::vector<std::int64_t> sizes;
};

void PrintTo(const Sample& sample, std::ostream* stream) { *stream << sample.name; }

class Samples : public ::testing::TestWithParam<Sample> {};

TEST_P(Samples, hold_their_pattern) {
  Reader reader = Reader::open(sample(GetParam().name));
  std::vector<std::int64_t> global_ranks, sizes;
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) {
    global_ranks.push_back(reader.global_rank(task));
    sizes.push_back(reader.size_bytes(task));
    EXPECT_EQ(reader.content(task), pattern(task, reader.size_bytes(task))) << "task " << task;
  }
  EXPECT_EQ(global_ranks, GetParam().global_ranks);
  EXPECT_EQ(sizes, GetParam().sizes);
  EXPECT_FALSE(reader.is_unfinished());
  EXPECT_FALSE(reader.has_key_value_records());
  EXPECT_NO_THROW(reader.expect_distinct_ranks());
}

INSTANTIATE_TEST_SUITE_P(Sion, Samples,
                         ::testing::Values(Sample{"sion/02-serial-chunks.sion", {7, 5, 3, 9}, {1000, 0, 100, 0}},
                                           Sample{"sion/06-mpi-single.sion", {0, 1, 2, 3}, {300, 600, 10, 1500}},
                                           Sample{"sion/07-mpi-multi.sion", {0, 1, 2, 3, 4}, {300, 600, 10, 1500, 300}},
                                           Sample{"sion/10-mpi-coll-groups.sion",
                                                  {0, 1, 2, 3, 4, 5, 6, 7},
                                                  {100, 200, 300, 100, 200, 300, 100, 200}},
                                           Sample{"sion/21-defrag-of-06.sion", {0, 1, 2, 3}, {300, 600, 10, 1500}}));

TEST(SionSamples, the_smallest_one_has_its_words) {
  Reader reader = Reader::open(sample("sion/01-serial-min2.sion"));
  ASSERT_EQ(reader.num_tasks(), 2);
  EXPECT_EQ(reader.content(0), "Hello");
  EXPECT_EQ(reader.content(1), "SION world");
  EXPECT_EQ(reader.files().front().layout.prefix, "01-serial-min2.sion");
}

TEST(SionSamples, reading_gives_never_more_than_is_asked_for) {
  Reader reader = Reader::open(sample("sion/06-mpi-single.sion"));
  const std::string all = pattern(3, reader.size_bytes(3));
  for (const std::int64_t offset : {0L, 1L, 511L, 512L, 513L, 1499L, 1500L, 5000L}) {
    for (const std::size_t size : {0UL, 1UL, 700UL, 3000UL}) {
      std::string part(size, '?');
      part.resize(reader.read(3, offset, part));
      const auto begin = std::min(static_cast<std::size_t>(offset), all.size());
      EXPECT_EQ(part, all.substr(begin, size)) << offset << " " << size;
    }
  }
}

TEST(SionSamples, a_member_alone_shows_its_own_tasks) {
  Reader reader = Reader::open(sample("sion/07-mpi-multi.sion.000001"));
  EXPECT_TRUE(reader.is_part_of_set());
  ASSERT_EQ(reader.num_tasks(), 3);
  EXPECT_EQ(reader.global_rank(0), 2);
  EXPECT_EQ(reader.content(1), pattern(3, 1500));
}

TEST(SionSamples, key_value_records_are_walked_over_chunk_borders) {
  Reader reader = Reader::open(sample("sion/14-keyval.sion"));
  ASSERT_TRUE(reader.has_key_value_records());
  ASSERT_EQ(reader.num_tasks(), 3);
  for (std::int64_t task = 0; task < 3; ++task) {
    std::map<std::uint64_t, std::string> values;
    KeyValueRecords records(reader, task);
    while (const auto record = records.next()) {
      std::string value(static_cast<std::size_t>(record->value_bytes), '\0');
      ASSERT_EQ(reader.read(task, record->value_offset, value), value.size());
      values[record->key] += value;
    }
    EXPECT_EQ(values.size(), 3U);
    EXPECT_EQ(values[static_cast<std::uint64_t>(100 + task)].size(), 16U);
    EXPECT_EQ(values[7].size(), 67U);
    EXPECT_EQ(values[(std::uint64_t{1} << 40) + static_cast<std::uint64_t>(task)].size(), 1U);
  }
}

class Rewriting : public ::testing::TestWithParam<const char*> {};

TEST_P(Rewriting, gives_the_same_bytes) {
  Reader reader = Reader::open(sample(GetParam()));
  EXPECT_TRUE(rewritten(reader) == contents_of(sample(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sion, Rewriting,
                         ::testing::Values("sion/01-serial-min2.sion", "sion/02-serial-chunks.sion",
                                           "sion/06-mpi-single.sion", "sion/10-mpi-coll-groups.sion",
                                           "sion/14-keyval.sion", "sion/21-defrag-of-06.sion",
                                           "linktest/ompi_n4_1B_par.sion", "linktest/ompi_n8_1KiB_a2a.sion",
                                           "linktest/ompi_n8_1MiB_ser.sion"));

TEST(SionSamples, the_mapping_of_a_set_is_written_as_it_was_read) {
  const std::string bytes = contents_of(sample("sion/07-mpi-multi.sion"));
  Reader reader = Reader::open(sample("sion/07-mpi-multi.sion"));
  const Layout& layout = reader.files().front().layout;
  EXPECT_EQ(layout.tail, Tail::mapping);
  EXPECT_EQ(encode_meta2(layout), bytes.substr(static_cast<std::size_t>(layout.meta2_offset)));
}

struct BadSample {
  const char* name;
  const char* code;
};

void PrintTo(const BadSample& sample, std::ostream* stream) { *stream << sample.name; }

class BadSamples : public ::testing::TestWithParam<BadSample> {};

TEST_P(BadSamples, are_refused_by_name_and_code) {
  const std::string path = sample(std::string("sion/") + GetParam().name);
  const std::string error = error_opening(path);
  EXPECT_THAT(error, HasSubstr("'" + path + "'"));
  EXPECT_THAT(error, HasSubstr(std::string(" ") + GetParam().code + ": "));
}

INSTANTIATE_TEST_SUITE_P(
    Sion, BadSamples,
    ::testing::Values(BadSample{"20-mpi-unclosed.sion", "UNCLOSED"}, BadSample{"bad/b01_magic.sion", "MAGIC"},
                      BadSample{"bad/b03b_fmt99.sion", "FORMAT"}, BadSample{"bad/b05c_nhuge.sion", "NTASKS"},
                      BadSample{"bad/b11_mx0.sion", "MAXCHUNKS"}, BadSample{"bad/b12d_svin.sion", "META2POS"},
                      BadSample{"bad/b14_bs.sion", "BLOCKSIZE"}, BadSample{"bad/b15c_t2000.sion", "TRUNCATED"},
                      BadSample{"bad/b20b_maphuge.sion", "MAPPING"}));

TEST(SionSamples, a_record_longer_than_its_task_is_refused_when_it_is_read) {
  Reader reader = Reader::open(sample("sion/bad/b30c_kvhuge.sion"));
  const std::string error = error_of([&] {
    KeyValueRecords records(reader, 0);
    while (records.next()) continue;
  });
  EXPECT_THAT(error, HasSubstr("KVRECORD"));
}

TEST(SionSamples, an_unfinished_file_can_be_salvaged) {
  Reader reader = Reader::open(sample("sion/20-mpi-unclosed.sion"), {.unfinished = Unfinished::salvage});
  EXPECT_TRUE(reader.is_unfinished());
  ASSERT_GT(reader.num_tasks(), 0);
  // Nobody knows what was used; the chunks hold it, as far as the file goes.
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) {
    const std::string expected = pattern(task, 90);
    EXPECT_EQ(reader.content(task).substr(0, expected.size()), expected) << "task " << task;
  }
}

}  // namespace
}  // namespace leadline::test
