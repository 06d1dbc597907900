// SPDX-License-Identifier: Apache-2.0
// A metadata operation on one item after the other: files and directories of this rank, or of the rank whose items it
// looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/io/object_loop.hpp"
#include "bench/io/result.hpp"

namespace leadline::bench::io {

/// "DIRECTORY/file.3.17", the 17th file of rank 3; "DIRECTORY/directory.3.17". Allocates once.
class ItemPath {
 public:
  ItemPath(const std::string& directory, IoOperation operation, std::int32_t owner);

  const std::string& of(std::uint64_t number);

 private:
  std::string path_;
  std::size_t prefix_size_;
};

class MetadataLoop final : public ObjectLoop {
 public:
  /// `directory` has the items of `owner`.
  MetadataLoop(PhaseWork& work, const std::string& directory, std::int32_t owner);

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  void one(std::uint64_t number);
  void create(std::uint64_t number, const std::string& path);
  void open(const std::string& path);
  void read(std::uint64_t number, const std::string& path);
  void call(const std::string& path);

  PhaseWork& work_;
  std::int32_t owner_;
  ItemPath path_;
  std::span<std::byte> item_;  ///< contents of one file
  bool is_filled_ = false;
};

/// What a phase does with items, for the watch: "creating a file in".
const char* doing_with_items(IoOperation operation);

}  // namespace leadline::bench::io
