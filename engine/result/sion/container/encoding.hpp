// SPDX-License-Identifier: Apache-2.0
// The metadata of a SION file as bytes, each piece for one positioned write.
#pragma once

#include <cstdint>
#include <string>

#include "result/sion/container/layout.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::result::sion {

/// Everything but the contents of an open file; see Reader for errors and memory. A file that is not closed comes, if
/// that is wanted, without META2, as one round that uses each chunk as far as the file goes.
Reader::File decode_file(const InputFile& input, OpenOptions options);

/// Whether tables or contents of that size are in proportion to what the file has on the disk. A sparse file is small
/// there however large it says that it is; without this rule it would take memory as it likes.
bool is_in_proportion(const InputFile& input, std::int64_t size_bytes);

// All pure. How to write a file, by one process or many:
//   1. encode_meta1() at offset 0: the file now counts as unfinished, and every reader says so;
//   2. each task's bytes at geometry.chunk_offset(task, round), by whoever has them, in any order;
//   3. encode_meta2() at layout.meta2_offset; the file ends behind it (truncate, or create it empty);
//   4. encode_end_mark() at end_mark_offset(num_tasks), last: the file is complete.
// A layout whose sizes are not known yet can be written in step 1 with the sizes of META1 alone (ranks and chunk
// sizes).

/// META1 whole, its end mark zero.
std::string encode_meta1(const Layout& layout);

/// META2 and the tail behind it.
std::string encode_meta2(const Layout& layout);

/// The 12 bytes that say where META2 is.
std::string encode_end_mark(const Layout& layout);

}  // namespace leadline::result::sion
