// SPDX-License-Identifier: Apache-2.0
// Where every object of a parallel file test lies: which rank writes it, into which file, at which byte. Pure functions
// of (ranks, hosts, movement), the same on every rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace leadline::schedule {

/// How data gets from N ranks to files and back. The numbers are the types of the MPI-IO Test user's guide (LANL,
/// 2006).
enum class Movement : std::uint8_t {
  n_n = 1,    ///< N ranks, a file each
  n_1 = 2,    ///< N ranks, one file
  n_m_m = 3,  ///< N ranks send to M ranks, which have a file each
  n_m_1 = 4,  ///< N ranks send to M ranks, which share one file
  n_m = 5,    ///< N ranks share M files, nothing is sent
};

/// "N-N", "N-1", "N-M-M", "N-M-1", "N-M".
const char* name_of(Movement movement);

/// Those names in upper or lower case, or the guide's number 1 to 5. Throws Error(bad_command_line) that names
/// `option`.
Movement parse_movement(const std::string& option, const std::string& text);

/// Whether ranks send their objects to ranks that do the I/O.
constexpr bool is_funnel(Movement movement) { return movement == Movement::n_m_m || movement == Movement::n_m_1; }

/// Whether several ranks open one file.
constexpr bool shares_files(Movement movement) {
  return movement == Movement::n_1 || movement == Movement::n_m_1 || movement == Movement::n_m;
}

/// Which ranks do I/O, and for whom.
struct IoRanks {
  std::vector<std::int32_t> ranks;     ///< that do I/O, ascending
  std::vector<std::int32_t> index_of;  ///< by rank: the index in `ranks` of the one that does its I/O
};

/// Every rank its own.
IoRanks all_do_io(int num_ranks);

/// The ranks are cut into num_io_ranks blocks of consecutive ranks, as equal as can be, longer ones first; the lowest
/// rank of a block does its I/O. 1 <= num_io_ranks <= num_ranks, else Error(bad_command_line).
IoRanks io_ranks_in_blocks(int num_ranks, int num_io_ranks);

/// A host that does I/O, by its index in host_of, and how many of its ranks do: the lowest.
struct IoHost {
  std::uint32_t host = 0;
  int num_io_ranks = 1;
};

/// The other ranks of such a host send to one of its I/O ranks, ranks of other hosts to any: always to the one that
/// serves the fewest so far, the lowest rank where several do; ranks take their turns ascending, those of I/O hosts
/// first. Throws Error(bad_command_line) where a host has too few ranks or stands twice.
IoRanks io_ranks_on_hosts(std::span<const std::uint32_t> host_of, std::span<const IoHost> hosts);

enum class Order : std::uint8_t {
  segmented,  ///< a rank's objects lie side by side
  strided,    ///< object 0 of all ranks, then object 1 of all ranks ...; or blocks of them
};

enum class SelfSend : std::uint8_t {
  yes,
  no,  ///< ranks that do I/O for others bring nothing of their own: their objects are left out everywhere
};

struct LayoutShape {
  Movement movement = Movement::n_n;
  Order order = Order::segmented;  ///< n_n: no effect
  SelfSend self_send = SelfSend::yes;
  std::uint64_t num_objects = 1;  ///< of a rank
  std::uint64_t object_size_bytes = 1;
  int num_files = 1;                    ///< n_m only: rank r belongs to file r mod num_files
  std::uint64_t objects_per_block = 1;  ///< strided: so many of a rank side by side; num_objects is a multiple
};

/// Where an object is: file and offset.
struct ObjectLocation {
  std::int32_t file = 0;
  std::uint64_t offset_bytes = 0;
};

/// Memory: 16 bytes a rank. Within a file, contributors are numbered ascending by rank; in n_m_1 by I/O rank first
/// where segmented, so that every I/O rank owns one stretch. With c the contributor's number of G in all, an object j
/// lies at (c * num_objects + j) * size where segmented, at (j * G + c) * size where strided; in blocks of K objects at
/// ((j div K * G + c) * K + j mod K) * size.
class FileLayout {
 public:
  /// Throws Error(bad_command_line) where the file would be longer than 2^63 - 1 bytes, and where nobody contributes.
  FileLayout(const LayoutShape& shape, IoRanks io_ranks);

  const LayoutShape& shape() const { return shape_; }
  const IoRanks& io_ranks() const { return io_ranks_; }
  int num_ranks() const { return static_cast<int>(io_ranks_.index_of.size()); }
  int num_files() const { return num_files_; }

  /// Whether the rank has objects of its own: all, but I/O ranks with SelfSend::no.
  bool contributes(int rank) const;
  /// The file that a rank's objects lie in.
  std::int32_t file_of(int rank) const;
  ObjectLocation location(int rank, std::uint64_t object) const;
  std::uint64_t file_size_bytes(int file) const;
  /// Objects of all ranks.
  std::uint64_t total_objects() const;

  /// The rank that opens files for this one: itself, or its I/O rank.
  std::int32_t opener_of(int rank) const;
  bool is_opener(int rank) const { return opener_of(rank) == rank; }
  /// All ranks that open a file, ascending.
  std::vector<std::int32_t> openers(int file) const;
  /// The ranks whose objects an opener writes, ascending; itself included where it contributes.
  std::vector<std::int32_t> senders(int opener) const;

 private:
  std::uint64_t contributors(int file) const { return contributors_of_[static_cast<std::size_t>(file)]; }

  LayoutShape shape_;
  IoRanks io_ranks_;
  int num_files_ = 1;
  std::vector<std::uint64_t> contributor_;      ///< by rank: its number in its file
  std::vector<std::uint64_t> contributors_of_;  ///< by file
};

/// An object on its way through an I/O rank: whose (position among FileLayout::senders), and which.
struct FunnelSlot {
  std::uint32_t sender = 0;
  std::uint64_t object = 0;
};

/// The order in which an I/O rank takes its senders' objects [first, first + num) into buffers of slots_per_buffer
/// slots, the same whatever arrives when: runs of `run_length` objects from each sender in turn, so that all senders
/// flow at once and what lies side by side in the file stands side by side in the buffer.
class FunnelOrder {
 public:
  FunnelOrder(std::uint32_t num_senders, std::uint64_t first_object, std::uint64_t num_objects,
              std::uint64_t slots_per_buffer, Order order);

  /// slots_per_buffer / num_senders, at least 1; 1 where strided.
  std::uint64_t run_length() const { return run_length_; }
  std::uint64_t num_slots() const { return num_senders_ * num_objects_; }
  std::uint64_t num_buffers() const;  ///< fills, the last one perhaps partly
  FunnelSlot slot(std::uint64_t index) const;

 private:
  std::uint64_t num_senders_, first_object_, num_objects_, slots_per_buffer_, run_length_;
};

}  // namespace leadline::schedule
