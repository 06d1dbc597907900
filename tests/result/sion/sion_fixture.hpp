// SPDX-License-Identifier: Apache-2.0
// SION files made in memory, the sample files, and what an error says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "result/sion/container/encoding.hpp"
#include "result/sion/container/reader.hpp"
#include "support/folder.hpp"

namespace leadline::test {

inline std::string sample(const std::string& name) { return SAMPLES + name; }

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good()) << path;
}

/// What the samples and most files of these tests hold: byte i of task r.
inline std::string pattern(std::int64_t task, std::int64_t size) {
  std::string bytes;
  for (std::int64_t i = 0; i < size; ++i) {
    bytes += static_cast<char>((31 * task + 7 * i + 13 * (i >> 8) + 1) & 255);
  }
  return bytes;
}

/// [task][round]: the bytes of each block.
using Blocks = std::vector<std::vector<std::string>>;

/// A file whose chunks are as large as the layout says; META2 follows from the blocks.
inline result::sion::Layout with_blocks(result::sion::Layout layout, const Blocks& blocks) {
  std::size_t num_rounds = 1;
  for (const auto& task : blocks) num_rounds = std::max(num_rounds, task.size());
  layout.num_rounds = static_cast<std::int32_t>(num_rounds);
  layout.used_bytes.assign(num_rounds * blocks.size(), 0);
  layout.num_blocks.clear();
  for (std::size_t task = 0; task < blocks.size(); ++task) {
    layout.num_blocks.push_back(std::ssize(blocks[task]));
    for (std::size_t round = 0; round < blocks[task].size(); ++round) {
      layout.used_bytes[round * blocks.size() + task] = std::ssize(blocks[task][round]);
    }
  }
  result::sion::Problem problem;
  const auto geometry = result::sion::geometry_of(layout, problem);
  layout.meta2_offset = geometry->data_offset + layout.num_rounds * geometry->round_bytes;
  return layout;
}

/// The whole file, holes as zeros.
inline std::string file_of(const result::sion::Layout& layout, const Blocks& blocks) {
  using namespace result::sion;
  Problem problem;
  const auto geometry = geometry_of(layout, problem);
  std::string bytes = encode_meta1(layout);
  const std::string end_mark = encode_end_mark(layout);
  bytes.replace(static_cast<std::size_t>(end_mark_offset(layout.num_tasks())), end_mark.size(), end_mark);
  bytes.resize(static_cast<std::size_t>(layout.meta2_offset), '\0');
  for (std::size_t task = 0; task < blocks.size(); ++task) {
    for (std::size_t round = 0; round < blocks[task].size(); ++round) {
      const auto offset = geometry->chunk_offset(static_cast<std::int64_t>(task), static_cast<std::int64_t>(round));
      bytes.replace(static_cast<std::size_t>(offset), blocks[task][round].size(), blocks[task][round]);
    }
  }
  return bytes + encode_meta2(layout);
}

/// The file that a reader has read, made anew from what it gives out.
inline std::string rewritten(result::sion::Reader& reader) {
  const result::sion::Reader::File& file = reader.files().front();
  Blocks blocks;
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) {
    blocks.emplace_back();
    std::int64_t offset = 0;
    const std::string content = reader.content(task);
    const auto index = static_cast<std::size_t>(task);
    for (std::int64_t round = 0; round < file.layout.num_blocks[index]; ++round) {
      const auto entry = static_cast<std::size_t>(round * reader.num_tasks() + task);
      const std::int64_t used = file.layout.used_bytes[entry];
      blocks.back().push_back(content.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(used)));
      offset += used;
    }
  }
  return file_of(file.layout, blocks);
}

/// Chunks of that size for each task, all in one file, as the MPI interface leaves it.
inline result::sion::Layout layout_with_chunks(std::vector<std::int64_t> chunk_sizes) {
  result::sion::Layout layout;
  for (std::size_t task = 0; task < chunk_sizes.size(); ++task) {
    layout.global_ranks.push_back(static_cast<std::int64_t>(task));
  }
  layout.chunk_size_bytes = std::move(chunk_sizes);
  layout.block_size_bytes = 16;
  layout.prefix = "x.sion";
  return layout;
}

/// The text of the Error that `action` throws; empty and a failure where it throws none.
inline std::string error_of(const std::function<void()>& action, ExitStatus status = ExitStatus::run_failed) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline std::string error_opening(const std::string& path, result::sion::OpenOptions options = {},
                                 ExitStatus status = ExitStatus::run_failed) {
  return error_of([&] { result::sion::Reader::open(path, options); }, status);
}

/// Overwrites a number in a file's bytes.
template <typename Number>
void patch(std::string& bytes, std::size_t offset, Number number) {
  ASSERT_LE(offset + sizeof number, bytes.size());
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

}  // namespace leadline::test
