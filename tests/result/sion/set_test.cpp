// SPDX-License-Identifier: Apache-2.0
// Sets of files: found by the name that they were opened with, and refused when their parts do not belong together.
#include <filesystem>

#include "sion_fixture.hpp"

namespace leadline::test {
namespace {

using namespace result::sion;
using testing::HasSubstr;

namespace fs = std::filesystem;

/// Five tasks in two files, the mapping in the order of ranks: 2 tasks, then 3.
class Sets : public ::testing::Test {
 protected:
  Sets() {
    first_.num_files = second_.num_files = 2;
    second_.file_number = 1;
    second_.global_ranks = {2, 3, 4};
    first_.tail = Tail::mapping;
    first_.mapping = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}};
  }

  void write() {
    const Blocks of_first{{pattern(0, 20)}, {pattern(1, 30)}};
    const Blocks of_second{{pattern(2, 5)}, {pattern(3, 32), "more"}, {""}};
    write_file(path_, file_of(with_blocks(first_, of_first), of_first));
    write_file(path_ + ".000001", file_of(with_blocks(second_, of_second), of_second));
  }

  std::string refused(OpenOptions options = {}) {
    write();
    return error_opening(path_, options);
  }

  Folder folder_;
  std::string path_ = folder_ / "x.sion";
  Layout first_ = layout_with_chunks({32, 32}), second_ = layout_with_chunks({16, 32, 0});
};

TEST_F(Sets, show_all_tasks_in_the_order_of_the_mapping) {
  first_.mapping = {{1, 1}, {0, 1}, {1, 0}, {0, 0}, {1, 2}};
  write();
  Reader reader = Reader::open(path_);
  EXPECT_FALSE(reader.is_part_of_set());
  ASSERT_EQ(reader.num_tasks(), 5);
  EXPECT_EQ(reader.content(0), pattern(3, 32) + "more");
  EXPECT_EQ(reader.content(1), pattern(1, 30));
  EXPECT_EQ(reader.content(2), pattern(2, 5));
  EXPECT_EQ(reader.content(3), pattern(0, 20));
  EXPECT_EQ(reader.content(4), "");
  EXPECT_EQ(reader.global_rank(0), 3);
  ASSERT_EQ(reader.files().size(), 2U);
  EXPECT_EQ(reader.files()[1].path, path_ + ".000001");
}

TEST_F(Sets, are_found_under_a_new_name) {
  first_.prefix = second_.prefix = "/nowhere/else.sion";
  write();
  fs::rename(path_, folder_ / "new.sion");
  fs::rename(path_ + ".000001", folder_ / "new.sion.000001");
  EXPECT_EQ(Reader::open(folder_ / "new.sion").content(2), pattern(2, 5));
}

TEST_F(Sets, may_have_tasks_that_only_collected) {
  first_.global_ranks = {0, -2};
  first_.mapping = {{0, 0}, {1, 0}};
  write();
  Reader reader = Reader::open(path_);
  ASSERT_EQ(reader.num_tasks(), 2);
  EXPECT_EQ(reader.content(1), pattern(2, 5));
}

TEST_F(Sets, may_be_larger_than_the_number_of_files_a_process_may_open) {
  constexpr std::int32_t num_files = 40;
  for (std::int32_t number = 0; number < num_files; ++number) {
    Layout layout = layout_with_chunks({16});
    layout.num_files = num_files;
    layout.file_number = number;
    layout.global_ranks = {number};
    if (number == 0) {
      layout.tail = Tail::mapping;
      for (std::int32_t file = 0; file < num_files; ++file) layout.mapping.push_back({file, 0});
    }
    const Blocks blocks{{pattern(number, 9)}};
    const std::string digits = std::to_string(1'000'000 + number).substr(1);
    write_file(number == 0 ? path_ : path_ + "." + digits, file_of(with_blocks(layout, blocks), blocks));
  }
  Reader reader = Reader::open(path_);
  const auto num_open = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  EXPECT_LT(num_open, num_files);
  for (std::int64_t task = 0; task < num_files; ++task) EXPECT_EQ(reader.content(task), pattern(task, 9));
}

TEST_F(Sets, row_22_mapping_without_tasks) {
  first_.mapping.clear();
  EXPECT_THAT(refused(), HasSubstr("MAPPING"));
}

TEST_F(Sets, row_22_mapping_with_a_negative_or_huge_size) {
  for (const std::int32_t size : {-1, 0x7fffffff}) {
    write();
    std::string bytes = contents_of(path_);
    patch(bytes, bytes.size() - 5 * 8 - 4, size);
    write_file(path_, bytes);
    EXPECT_THAT(error_opening(path_), HasSubstr("MAPPING"));
  }
}

TEST_F(Sets, row_22_mapping_cut_off) {
  write();
  const std::string bytes = contents_of(path_);
  for (const std::size_t missing : {1U, 8U, 5 * 8U, 5 * 8 + 1U, 5 * 8 + 4U}) {
    write_file(path_, bytes.substr(0, bytes.size() - missing));
    EXPECT_THAT(error_opening(path_), HasSubstr("TRUNCATED")) << missing;
  }
}

TEST_F(Sets, row_23_entries_that_lead_nowhere) {
  for (const TaskLocation wrong : {TaskLocation{2, 0}, TaskLocation{-1, 0}, TaskLocation{0, 2}, TaskLocation{1, -1}}) {
    first_.mapping[1] = wrong;
    EXPECT_THAT(refused(), HasSubstr("MAPPING: entry 1")) << wrong.file_number << "," << wrong.local_task;
  }
}

TEST_F(Sets, row_23_a_task_named_twice) {
  first_.mapping[4] = {0, 1};
  EXPECT_THAT(refused(), HasSubstr("MAPPING: entry 4"));
}

TEST_F(Sets, row_24_member_missing) {
  write();
  fs::remove(path_ + ".000001");
  const std::string error = error_opening(path_);
  EXPECT_THAT(error, HasSubstr("cannot read '" + path_ + ".000001' (No such file or directory)"));
  EXPECT_THAT(error, HasSubstr("part of the set that begins with '" + path_ + "'"));
}

TEST_F(Sets, row_24_member_damaged) {
  write();
  write_file(path_ + ".000001", "sion");
  EXPECT_THAT(error_opening(path_), HasSubstr(".000001' (damaged SION file, TRUNCATED"));
}

TEST_F(Sets, row_25_members_that_differ) {
  const Layout sound = second_;
  const auto refused_with = [&](const std::function<void(Layout&)>& change) {
    second_ = sound;
    change(second_);
    return refused();
  };
  EXPECT_THAT(refused_with([](Layout& layout) { layout.num_files = 3; }), HasSubstr("SET: its number of files"));
  EXPECT_THAT(refused_with([](Layout& layout) { layout.format_version = 4; }), HasSubstr("SET: its format version"));
  EXPECT_THAT(refused_with([](Layout& layout) { layout.metadata_order = ByteOrder::big; }),
              HasSubstr("SET: its byte order"));
  EXPECT_THAT(refused_with([](Layout& layout) { layout.payload_order = ByteOrder::big; }),
              HasSubstr("SET: its byte order"));
  EXPECT_THAT(refused_with([](Layout& layout) { layout.key_value_mode = KeyValueMode::inline_records; }),
              HasSubstr("SET: its key-value mode"));
  EXPECT_THAT(refused_with([](Layout& layout) {
                layout.num_files = 9;
                layout.file_number = 2;
              }),
              HasSubstr("SET"));
}

TEST_F(Sets, row_26_a_member_that_is_a_copy_of_file_0) {
  write();
  fs::copy_file(path_, path_ + ".000001", fs::copy_options::overwrite_existing);
  EXPECT_THAT(error_opening(path_), HasSubstr("SET: its file number is 0, not 1"));
}

TEST_F(Sets, row_27_ranks_in_another_order_are_refused_only_where_that_is_wanted) {
  second_.global_ranks = {2, 4, 3};
  write();
  EXPECT_EQ(Reader::open(path_).global_rank(3), 4);
  EXPECT_THAT(error_opening(path_, {.strictness = Strictness::strict}), HasSubstr("MAPPING: entry 3"));
  second_.global_ranks = {2, 3, 4};
  write();
  EXPECT_NO_THROW(Reader::open(path_, {.strictness = Strictness::strict}));
}

TEST_F(Sets, unfinished_ones_are_salvaged_file_by_file) {
  write();
  for (const std::string& name : {path_, path_ + ".000001"}) {
    std::string bytes = contents_of(name);
    const auto num_tasks = number_at<std::int32_t>(bytes.data() + 24, host_byte_order);
    bytes.replace(static_cast<std::size_t>(end_mark_offset(num_tasks)), 12, 12, '\0');
    write_file(name, bytes);
  }
  EXPECT_THAT(error_opening(path_), HasSubstr("unfinished SION file, UNCLOSED"));
  Reader reader = Reader::open(path_, {.unfinished = Unfinished::salvage});
  ASSERT_EQ(reader.num_tasks(), 5);
  EXPECT_EQ(reader.content(1).substr(0, 30), pattern(1, 30));
  EXPECT_EQ(reader.content(3), pattern(3, 32)) << "only the first round";
  EXPECT_EQ(reader.global_rank(4), 4);
}

}  // namespace
}  // namespace leadline::test
