// SPDX-License-Identifier: Apache-2.0
// A file that all ranks of a run fill: each by itself, or one for its host, where all see it; through rank 0 otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "model/request.hpp"
#include "result/output_file.hpp"

namespace leadline::result {

/// A random text, one a file, that tells whether two ranks see the same file under a name.
std::string random_nonce();

/// Where a file has its nonce.
struct NonceLocation {
  std::string nonce;
  std::uint64_t offset = 0;
};

/// Where the same kind of bytes of any rank lie in the file.
using PlaceOfRank = std::function<std::uint64_t(int rank)>;

/// Part of a list of values: [begin, end).
struct Piece {
  std::uint32_t begin = 0, end = 0;
};

/// Bytes, and where they go: their offset in the file.
struct PlacedBytes {
  std::uint64_t offset = 0;
  std::string bytes;
};

/// Where others of its host read what a rank hands over.
struct RankOfHost {
  std::int32_t rank = 0, pid = 0, descriptor = -1;
};

class SharedFile {
 public:
  /// Collective. Rank 0 brings the file and the nonce's place in it, which other ranks take from rank 0. Ranks write
  /// directly where all of them find the nonce under `path`, unless several hosts would write through caches that are
  /// not coherent (network file systems), or `row_path` says otherwise.
  static SharedFile open(cluster::Cluster& cluster, const std::string& path, std::optional<OutputFile> created,
                         const NonceLocation& place, RowPath row_path);

  /// Whether each rank writes its own.
  bool is_direct() const { return direct_; }

  /// Local: the file, on rank 0 and where rows are written directly; null elsewhere.
  OutputFile* file() { return file_ ? &*file_ : nullptr; }
  const std::string& path() const { return path_; }

  /// Local: what one rank alone writes. Throws Error(run_failed).
  void write_at(std::uint64_t offset, std::string_view bytes);

  /// Local: the root tells, once and while something can be done about it, that the file has lost its name. Part of
  /// every put().
  void look_after_name();

  /// Collective: every rank's own bytes, the same number on all, go to its place. The first error is kept rather than
  /// thrown, so that no rank leaves a row of these half way. Where ranks write directly, and those of a host have 64
  /// KiB together, one of them writes for all: they hand it their bytes, which take as much memory once more meanwhile.
  /// If it is lost another one does.
  void put(const PlaceOfRank& place_of, std::string_view own, std::optional<Error>& error);

  /// Local, on rank 0: what belongs to a rank that is lost.
  void put_for_lost(std::uint64_t place, std::string_view bytes, std::optional<Error>& error);

  /// Collective: the same where ranks have different numbers of pieces, none included, of any length, and each knows
  /// the places of its own.
  void put(std::span<const PlacedBytes> own, std::optional<Error>& error);

  /// Collective: the same for parts of lists of fixed-size values that begin at their rank's place. `bytes` is the
  /// whole list; only the pieces, which ascend, travel. Memory: at most 8 bytes a value.
  void put_pieces(const PlaceOfRank& place_of, std::string_view bytes, std::size_t value_size,
                  std::span<const Piece> pieces, std::optional<Error>& error);

  /// Collective: where the file has been removed, a copy takes its name, and all ranks go on with that. Throws the same
  /// Error(run_failed) on all ranks, naming the file.
  void restore_name();

  /// Collective: what ranks other than 0 wrote is on the disk; one rank of each host writes its page cache back.
  void sync_others();

 private:
  SharedFile(cluster::Cluster& cluster, std::string path) : cluster_(&cluster), path_(std::move(path)) {}

  CurrentFileCall& file_call();
  bool has_its_name();
  void write_placed(std::string_view message);
  void meet_ranks_of_host(const std::string& nonce);
  bool hands_over(std::size_t size) const;
  void put_through_host(const PlaceOfRank& place_of, std::string_view own, std::optional<Error>& error);
  void write_for_host(const PlaceOfRank& place_of, std::size_t size);
  void write_pieces(std::uint64_t place, std::string_view message, std::size_t value_size);

  cluster::Cluster* cluster_;
  Descriptor handed_over_;                 ///< memory of this rank, in which others of its host can read
  std::vector<RankOfHost> ranks_of_host_;  ///< ascending; empty = each rank writes by itself
  std::size_t most_ranks_of_host_ = 1;     ///< of any
  std::string path_;
  std::optional<OutputFile> file_;
  bool direct_ = false;
  bool is_told_ = false;  ///< that the file has lost its name
};

/// Cut where a character begins, with dots instead of the rest, so that nobody takes it for the whole; then zeros.
std::string padded(std::string text, std::size_t size);

// Values as they lie in memory, where they stay: the text is valid as long as they are.

template <typename Value>
std::string_view bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

template <typename Value>
std::string_view bytes_of(std::span<const Value> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <typename Value>
std::string_view bytes_of_one(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace leadline::result
