// SPDX-License-Identifier: Apache-2.0
// Copies task by task into a file beside the output, which takes its name when everything is in it.
#include "result/sion/container/dense_copy.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "result/output_file.hpp"
#include "result/sion/container/encoding.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::result::sion {
namespace {

constexpr std::int64_t buffer_bytes = 1 << 20;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool is_same_file(const std::string& path, const struct stat& status) {
  const auto other = status_of(path);
  return other && other->st_dev == status.st_dev && other->st_ino == status.st_ino;
}

Error output_error(const std::string& path, const std::string& why, const std::string& hint) {
  return Error(ExitStatus::bad_command_line, "cannot write result file " + path, why, hint);
}

/// Whether the output replaces the input (file 0 of it); refuses what must not be replaced.
bool replaces_input(const Reader& input, const std::string& output, const struct stat& status, ExistingFile existing) {
  if (existing == ExistingFile::refuse) {
    throw output_error(output, "it is there already", "Choose another name, or add --overwrite");
  }
  if (!S_ISREG(status.st_mode)) throw output_error(output, "it is there, and no regular file", "Choose another name");
  for (std::size_t file = 0; file < input.files().size(); ++file) {
    if (!is_same_file(input.files()[file].path, status)) continue;
    if (file == 0 && !input.is_part_of_set()) return true;
    throw output_error(output, "it is one of the files of a set", "Choose another name, or copy the set's first file");
  }
  return false;
}

/// Where the bytes of a copy come from and go to.
class Copy {
 public:
  Copy(Reader& input, const OutputFile& output)
      : input_(input), output_(output), buffer_(static_cast<std::size_t>(buffer_bytes)) {}

  void task(std::int64_t task, std::int64_t offset) {
    if (!input_.has_key_value_records()) {
      bytes(task, 0, input_.size_bytes(task), offset);
      return;
    }
    // Headers of records are metadata: they take the host's byte order.
    KeyValueRecords records(input_, task);
    while (const auto record = records.next()) {
      std::string header;
      append_number(header, record->key, host_byte_order);
      append_number(header, static_cast<std::uint64_t>(record->value_bytes), host_byte_order);
      output_.write_at(static_cast<std::uint64_t>(offset), header);
      offset += key_value_header_bytes;
      bytes(task, record->value_offset, record->value_bytes, offset);
      offset += record->value_bytes;
    }
  }

 private:
  void bytes(std::int64_t task, std::int64_t from, std::int64_t size, std::int64_t to) {
    while (size > 0) {
      const auto part = std::span(buffer_).first(static_cast<std::size_t>(std::min(size, buffer_bytes)));
      const std::size_t got = input_.read(task, from, part);
      const std::string_view text(part.data(), got);
      // What was a hole shall not fill the disk.
      if (text.find_first_not_of('\0') != std::string_view::npos) {
        output_.write_at(static_cast<std::uint64_t>(to), text);
      }
      const auto done = static_cast<std::int64_t>(got);
      from += done, to += done, size -= done;
    }
  }

  Reader& input_;
  const OutputFile& output_;
  std::vector<char> buffer_;
};

Layout layout_of_copy(const Reader& input, const std::string& output_path) {
  std::vector<TaskSize> tasks;
  tasks.reserve(static_cast<std::size_t>(input.num_tasks()));
  for (std::int64_t task = 0; task < input.num_tasks(); ++task) {
    tasks.push_back({input.global_rank(task), input.size_bytes(task)});
  }
  Layout layout = dense_layout(tasks, prefix_for(output_path));
  layout.payload_order = input.payload_order();
  layout.key_value_mode = input.has_key_value_records() ? KeyValueMode::inline_records : KeyValueMode::none;
  return layout;
}

void write_copy(Reader& input, const Layout& layout, const OutputFile& output) {
  Problem problem;
  const auto geometry = geometry_of(layout, problem);
  output.write_at(0, encode_meta1(layout));
  Copy copy(input, output);
  for (std::int64_t task = 0; task < input.num_tasks(); ++task) copy.task(task, geometry->chunk_offset(task, 0));
  output.write_at(static_cast<std::uint64_t>(layout.meta2_offset), encode_meta2(layout));
  output.write_at(static_cast<std::uint64_t>(end_mark_offset(layout.num_tasks())), encode_end_mark(layout));
}

}  // namespace

void dense_copy(const std::string& input_path, const std::string& output_path, ExistingFile existing) {
  Reader input = Reader::open(input_path);
  const auto replaced = status_of(output_path);
  const bool is_in_place = replaced && replaces_input(input, output_path, *replaced, existing);
  StagedFile staged(output_path, existing);
  OutputFile output = staged.create();
  try {
    write_copy(input, layout_of_copy(input, output_path), output);
    output.sync();
    output.close();
  } catch (const Error& error) {
    throw staged.named(error);
  }
  staged.commit();
  if (!is_in_place) return;
  for (const Reader::File& member : input.files().subspan(1)) {
    if (::unlink(member.path.c_str()) != 0 && errno != ENOENT) throw write_error(member.path, errno);
  }
}

}  // namespace leadline::result::sion
