// SPDX-License-Identifier: Apache-2.0
// Whatever bytes a SION file may have: reading it ends with contents or an Error, in memory that fits the file.
#include <array>
#include <cstdint>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "fuzz/fuzz.hpp"
#include "result/sion/container/encoding.hpp"
#include "result/sion/container/linktest_record.hpp"
#include "result/sion/container/reader.hpp"
#include "support/folder.hpp"

namespace leadline::fuzz {
namespace {

using namespace leadline::result::sion;

/// Two places: the input as a file that may begin a set, with a sound second file; and the other way round.
struct Places {
  Places() {
    for (const std::string& path : {first, second_of}) write_sample("sion/07-mpi-multi.sion", path);
    for (const std::string& path : {first, second_of}) write_sample("sion/07-mpi-multi.sion.000001", path + ".000001");
  }
  static void write_sample(const std::string& name, const std::string& path) {
    write_file(path, test::contents_of(SAMPLES + name));
  }

  test::Folder folder;
  std::string first = folder / "first.sion";
  std::string second_of = folder / "second.sion";
};

void read_pieces(Reader& reader, std::int64_t task, const std::string& content) {
  std::array<char, 7> piece;
  for (std::size_t offset = 0; offset < content.size() && offset < 500; offset += 61) {
    const std::size_t got = reader.read(task, static_cast<std::int64_t>(offset), piece);
    expect(content.compare(offset, 7, std::string(piece.data(), got)) == 0, "a piece differs from the whole");
  }
  expect(reader.read(task, static_cast<std::int64_t>(content.size()), piece) == 0, "bytes behind the end");
}

void read_task(Reader& reader, std::int64_t task, bool has_all_to_all) {
  const std::string content = reader.content(task);
  expect(std::ssize(content) == reader.size_bytes(task), "a size that is not the content's");
  read_pieces(reader, task, content);
  allowing_errors([&] {
    std::int64_t end = 0;
    KeyValueRecords records(reader, task);
    while (const auto record = records.next()) end = record->value_offset + record->value_bytes;
    expect(end <= std::ssize(content), "a record that leaves its task");
  });
  for (const Trailing trailing : {Trailing::extension, Trailing::anything}) {
    allowing_errors([&] {
      const RecordShape shape{reader.num_tasks(), task, has_all_to_all};
      decode_linktest_record(content, shape, reader.payload_order(), trailing, reader.path());
    });
  }
}

void read_all(const std::string& path, OpenOptions options) {
  Reader reader = Reader::open(path, options);
  for (const Reader::File& file : reader.files()) {
    expect(!file.layout.is_closed() || !problem_of(file.layout), "a layout that breaks the rules");
    expect(std::ssize(encode_meta1(file.layout)) == meta1_bytes(file.layout.num_tasks()), "a header of another size");
  }
  allowing_errors([&] { reader.expect_distinct_ranks(); });
  bool has_all_to_all = false;
  allowing_errors([&] {
    has_all_to_all =
        linktest_has_all_to_all(reader.content(0), reader.num_tasks(), reader.payload_order(), reader.path());
  });
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) read_task(reader, task, has_all_to_all);
}

}  // namespace

void read_sion(std::string_view bytes) {
  static const Places places;
  write_file(places.first, bytes);
  write_file(places.second_of + ".000001", bytes);
  // Both files of a set count, and the buffers of one call.
  const MemoryLimit limit(16 * (bytes.size() + 10'000) + (1 << 20));
  for (const std::string& path : {places.first, places.second_of}) {
    allowing_errors([&] { read_all(path, {}); });
    allowing_errors([&] { read_all(path, {Unfinished::salvage, Strictness::strict}); });
  }
}

}  // namespace leadline::fuzz
