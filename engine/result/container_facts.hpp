// SPDX-License-Identifier: Apache-2.0
// What a person wants to know about a SION file as a container, whatever is in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "result/sion/container/reader.hpp"

namespace leadline::result {

/// One physical file.
struct ContainerFileFacts {
  std::string path;
  std::int64_t num_tasks = 0;
  std::int64_t num_rounds = 0;  ///< 0 = unfinished
  std::int64_t size_bytes = 0;
  std::int64_t used_bytes = 0;  ///< by contents; unfinished: unknown, so the room that there is
  std::int64_t metadata_bytes = 0;
  std::int64_t unused_bytes() const { return size_bytes - used_bytes - metadata_bytes; }
};

/// A file or a set. The layout of all members is that of the first, but for what their facts say.
struct ContainerFacts {
  std::int64_t num_tasks = 0;
  std::int32_t num_files_of_set = 1;
  bool is_finished = true;
  bool is_part_of_set = false;
  bool has_key_value_records = false;
  std::int32_t format_version = 0, block_size_bytes = 0;
  std::int32_t library_version = 0, library_patch_level = 0;
  sion::ByteOrder metadata_order = sion::host_byte_order, payload_order = sion::host_byte_order;
  std::vector<ContainerFileFacts> files;

  std::int64_t size_bytes() const;
  std::int64_t used_bytes() const;
  std::int64_t unused_bytes() const;
  /// One finished file without a gap.
  bool is_dense() const { return is_finished && files.size() == 1 && !is_part_of_set && unused_bytes() == 0; }
};

ContainerFacts container_facts(const sion::Reader& reader);

}  // namespace leadline::result
