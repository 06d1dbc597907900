// SPDX-License-Identifier: Apache-2.0
// The dense copy: same contents, no gaps, in place as well, and nothing lost where it cannot be made.
#include "result/sion/container/dense_copy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "result/sion/container/reader.hpp"
#include "sion_fixture.hpp"

namespace leadline::test {
namespace {

using namespace result::sion;
using result::ExistingFile;
using testing::HasSubstr;

namespace fs = std::filesystem;

class DenseCopy : public ::testing::Test {
 protected:
  /// Names of what is in the folder, in order.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string copy_of(const std::string& input) {
    dense_copy(input, output_, ExistingFile::overwrite);
    return contents_of(output_);
  }

  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  Folder folder_;
  std::string output_ = folder_ / "dense.sion";
};

TEST_F(DenseCopy, is_that_of_the_original_tool_but_for_the_block_size) {
  dense_copy(sample("sion/06-mpi-single.sion"), output_, ExistingFile::refuse);
  Reader copy = Reader::open(output_);
  // The sample kept the block size of 512 bytes, so its chunks are rounded up to it.
  Layout expected = Reader::open(sample("sion/21-defrag-of-06.sion")).files().front().layout;
  expected.block_size_bytes = 1;
  expected.chunk_size_bytes = expected.used_bytes;
  expected.meta2_offset = 1088 + 4 * 16 + 300 + 600 + 10 + 1500;
  expected.prefix = "dense.sion";
  EXPECT_EQ(copy.files().front().layout, expected);
  for (std::int64_t task = 0; task < 4; ++task) EXPECT_EQ(copy.content(task), pattern(task, copy.size_bytes(task)));
  EXPECT_EQ(copy.files().front().size_bytes, expected.meta2_offset + 4 * 16 + 4);
  EXPECT_EQ(files(), std::vector<std::string>{"dense.sion"});
}

TEST_F(DenseCopy, of_a_dense_file_changes_nothing) {
  const std::string first = copy_of(sample("sion/02-serial-chunks.sion"));
  dense_copy(output_, output_, ExistingFile::overwrite);
  EXPECT_EQ(contents_of(output_), first);
}

TEST_F(DenseCopy, makes_one_file_of_a_set) {
  copy_of(sample("sion/07-mpi-multi.sion"));
  Reader copy = Reader::open(output_);
  EXPECT_EQ(copy.files().size(), 1U);
  ASSERT_EQ(copy.num_tasks(), 5);
  for (std::int64_t task = 0; task < 5; ++task) {
    EXPECT_EQ(copy.global_rank(task), task);
    EXPECT_EQ(copy.content(task), pattern(task, copy.size_bytes(task)));
  }
}

TEST_F(DenseCopy, keeps_key_value_records_in_their_order) {
  copy_of(sample("sion/14-keyval.sion"));
  Reader before = Reader::open(sample("sion/14-keyval.sion")), after = Reader::open(output_);
  EXPECT_TRUE(after.has_key_value_records());
  for (std::int64_t task = 0; task < 3; ++task) EXPECT_EQ(after.content(task), before.content(task));
}

TEST_F(DenseCopy, takes_metadata_to_the_order_of_the_host_and_leaves_payloads) {
  const ByteOrder other = host_byte_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
  Layout layout = layout_with_chunks({40});
  layout.metadata_order = layout.payload_order = other;
  layout.key_value_mode = KeyValueMode::inline_records;
  std::string stream;
  append_number(stream, std::uint64_t{7}, other);
  append_number(stream, std::uint64_t{5}, other);
  stream += "value";
  const Blocks blocks{{stream}};
  write_file(folder_ / "other.sion", file_of(with_blocks(layout, blocks), blocks));

  copy_of(folder_ / "other.sion");
  Reader copy = Reader::open(output_);
  EXPECT_EQ(copy.metadata_order(), host_byte_order);
  EXPECT_EQ(copy.payload_order(), other);
  KeyValueRecords records(copy, 0);
  const auto record = records.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->key, 7U);
  EXPECT_EQ(record->value_bytes, 5);
  EXPECT_EQ(copy.content(0).substr(16), "value");
}

TEST_F(DenseCopy, in_place_keeps_the_permissions) {
  fs::copy_file(sample("sion/06-mpi-single.sion"), output_);
  ASSERT_EQ(::chmod(output_.c_str(), 0640), 0);
  dense_copy(output_, output_, ExistingFile::overwrite);
  EXPECT_EQ(mode_of(output_), 0640U);
  EXPECT_EQ(Reader::open(output_).content(3), pattern(3, 1500));
  EXPECT_EQ(files(), std::vector<std::string>{"dense.sion"});
}

TEST_F(DenseCopy, in_place_through_a_link_keeps_the_link) {
  fs::copy_file(sample("sion/06-mpi-single.sion"), output_);
  fs::create_symlink(output_, folder_ / "link.sion");
  dense_copy(output_, folder_ / "link.sion", ExistingFile::overwrite);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.sion"));
  EXPECT_EQ(Reader::open(output_).files().front().layout.block_size_bytes, 1);
}

TEST_F(DenseCopy, in_place_of_a_set_leaves_one_file) {
  for (const std::string suffix : {"", ".000001"}) {
    fs::copy_file(sample("sion/07-mpi-multi.sion") + suffix, output_ + suffix);
  }
  dense_copy(output_, output_, ExistingFile::overwrite);
  EXPECT_EQ(files(), std::vector<std::string>{"dense.sion"});
  EXPECT_EQ(Reader::open(output_).content(3), pattern(3, 1500));
}

TEST_F(DenseCopy, refuses_to_replace_what_it_must_not) {
  const auto refused = [](const std::string& input, const std::string& output, ExistingFile existing) {
    return error_of([&] { dense_copy(input, output, existing); }, ExitStatus::bad_command_line);
  };
  for (const std::string suffix : {"", ".000001"}) {
    fs::copy_file(sample("sion/07-mpi-multi.sion") + suffix, output_ + suffix);
  }
  const std::string first = contents_of(output_), second = contents_of(output_ + ".000001");
  EXPECT_THAT(refused(output_, output_, ExistingFile::refuse), HasSubstr("is there already"));
  EXPECT_THAT(refused(output_, output_ + ".000001", ExistingFile::overwrite), HasSubstr("one of the files of a set"));
  EXPECT_THAT(refused(output_ + ".000001", output_ + ".000001", ExistingFile::overwrite),
              HasSubstr("one of the files of a set"));
  EXPECT_THAT(refused(output_, folder_.path(), ExistingFile::overwrite), HasSubstr("no regular file"));
  EXPECT_THAT(refused(output_, folder_ / "none/x.sion", ExistingFile::overwrite), HasSubstr("No such file"));
  EXPECT_THAT(refused(folder_ / "none.sion", folder_ / "x.sion", ExistingFile::refuse), HasSubstr("none.sion"));
  EXPECT_EQ(contents_of(output_), first);
  EXPECT_EQ(contents_of(output_ + ".000001"), second);
  EXPECT_EQ(files(), (std::vector<std::string>{"dense.sion", "dense.sion.000001"}));
}

TEST_F(DenseCopy, leaves_nothing_behind_where_the_input_is_damaged) {
  error_of([&] { dense_copy(sample("sion/bad/b14_bs.sion"), output_, ExistingFile::refuse); });
  error_of([&] { dense_copy(sample("sion/20-mpi-unclosed.sion"), output_, ExistingFile::refuse); });
  EXPECT_THAT(error_of([&] { dense_copy(sample("sion/bad/b30c_kvhuge.sion"), output_, ExistingFile::refuse); }),
              HasSubstr("KVRECORD"));
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(DenseCopy, does_not_fill_the_disk_with_holes) {
  constexpr std::int64_t chunk = 16 << 20;
  Layout layout = layout_with_chunks({chunk});
  const Blocks only_its_end{{""}};
  layout = with_blocks(layout, only_its_end);
  layout.used_bytes = {chunk};
  const std::string input = folder_ / "sparse.sion";
  std::ofstream file(input, std::ios::binary);
  file << encode_meta1(layout);
  file.seekp(layout.meta2_offset - 1) << "x" << encode_meta2(layout);
  file.seekp(end_mark_offset(1)) << encode_end_mark(layout);
  file.close();
  dense_copy(input, output_, ExistingFile::refuse);
  struct stat status {};
  ASSERT_EQ(::stat(output_.c_str(), &status), 0);
  EXPECT_GE(status.st_size, chunk);
  EXPECT_LT(status.st_blocks * 512, chunk / 8);
  Reader copy = Reader::open(output_);
  std::string end(2, '?');
  EXPECT_EQ(copy.read(0, chunk - 2, end), 2U);
  EXPECT_EQ(end, std::string("\0x", 2));
}

}  // namespace
}  // namespace leadline::test
