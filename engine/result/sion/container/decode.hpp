// SPDX-License-Identifier: Apache-2.0
// Gets the metadata of one physical SION file into a Layout, or says what is wrong with it.
#pragma once

#include <cstdint>
#include <string>

#include "result/sion/container/input_file.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::result::sion {

/// Everything but the contents of an open file; see Reader for errors and memory. A file that is not closed comes, if
/// that is wanted, without META2, as one round that uses each chunk as far as the file goes.
Reader::File decode_file(const InputFile& input, OpenOptions options);

/// Whether tables or contents of that size are in proportion to what the file has on the disk. A sparse file is small
/// there however large it says that it is; without this rule it would take memory as it likes.
bool is_in_proportion(const InputFile& input, std::int64_t size_bytes);

}  // namespace leadline::result::sion
