// SPDX-License-Identifier: Apache-2.0
// Makes one dense SION file out of any readable file or set.
#pragma once

#include <string>

#include "result/result_file.hpp"

namespace leadline::result::sion {

/// Writes what `siondefrag -q 1` writes: one file, one block a task, no gaps, metadata in the host's byte order, tasks
/// in the order of the set, key-value records in their order; the prefix is the last part of the output's name.
/// Streams: memory does not grow with the contents.
///
/// The output appears whole or not at all (a file beside it is renamed at the end) and has the permissions of what it
/// replaces, else of the input. Where it replaces file 0 of the input set, the other members are removed afterwards,
/// since everything is in the one file now. Replacing the input itself (by whatever name) needs ExistingFile::overwrite
/// too. Throws Error: all of Reader::open; bad_command_line where the output is there and not to be overwritten, is no
/// regular file, or is a member other than file 0 of the input set; those of OutputFile.
void dense_copy(const std::string& input_path, const std::string& output_path, ExistingFile existing);

}  // namespace leadline::result::sion
