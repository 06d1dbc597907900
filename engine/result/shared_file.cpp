// SPDX-License-Identifier: Apache-2.0
// How ranks find out whether they share a file, and how their bytes reach it.
#include "result/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/terminal.hpp"
#include "result/collective.hpp"

namespace leadline::result {

namespace {

/// Writes unless something went wrong before, and keeps what goes wrong now.
template <typename Write>
void unless_failed(std::optional<Error>& error, const Write& write) {
  if (error) return;
  try {
    write();
  } catch (const Error& failure) {
    error = failure;
  }
}

/// Of a rank on this host; without a descriptor, and with errno, where it has none.
Descriptor open_memory_of(const RankOfHost& one) {
  const std::string name = fmt::format("/proc/{}/fd/{}", one.pid, one.descriptor);
  return Descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

std::string random_nonce() {
  std::array<std::uint64_t, 2> words{};
  if (::getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    throw Error(ExitStatus::something_missing, "no random numbers from the system", system_error_text(errno));
  }
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

std::string padded(std::string text, std::size_t size) {
  if (text.size() > size) {
    std::size_t end = size - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += "...";
  }
  text.resize(size, '\0');
  return text;
}

SharedFile SharedFile::open(cluster::Cluster& cluster, const std::string& path, std::optional<OutputFile> created,
                            const NonceLocation& place, RowPath row_path) {
  SharedFile shared(cluster, path);
  const std::string nonce = cluster.broadcast(place.nonce);
  const auto offset = from_bytes<std::uint64_t>(cluster.broadcast(as_bytes(std::span(&place.offset, 1)))).at(0);

  bool is_good = false;
  {
    const InFileCall in_call(shared.file_call(), "opening", path);
    shared.file_ = created ? std::move(created) : OutputFile::open_existing(path);
    is_good = row_path == RowPath::automatic && shared.file_ && shared.file_->read_at(offset, nonce.size()) == nonce;
    if (is_good && cluster.num_hosts() > 1) is_good = !shared.file_->needs_one_writing_host();
  }
  const auto both = [](const std::string& left, std::string_view right) {
    return std::string(left == "1" && right == "1" ? "1" : "0");
  };
  shared.direct_ = cluster.all_reduce(is_good ? "1" : "0", both) == "1";
  if (!shared.direct_ && cluster.rank() != 0) shared.file_.reset();
  if (shared.direct_) shared.meet_ranks_of_host(nonce);
  return shared;
}

bool SharedFile::has_its_name() {
  const InFileCall in_call(file_call(), "looking at", path_);
  return file_->has_its_name();
}

CurrentFileCall& SharedFile::file_call() { return cluster_->progress_counter().file_call; }

void SharedFile::write_at(std::uint64_t offset, std::string_view bytes) {
  const InFileCall in_call(file_call(), "writing", path_, {offset, bytes.size()});
  file_->write_at(offset, bytes);
}

void SharedFile::look_after_name() {
  if (!cluster_->is_root() || is_told_ || has_its_name()) return;
  is_told_ = true;
  fmt::print(stderr,
             "{}leadline: result file {} was removed or replaced during the run. The run goes on; at its end the file "
             "is written again, unless another one has its name\n",
             over_progress(), path_);
}

/// Collective: all go through one rank of their host, or none does.
void SharedFile::meet_ranks_of_host(const std::string& nonce) {
  const auto host_of = cluster_->host_of();
  std::vector<std::size_t> num_ranks(static_cast<std::size_t>(cluster_->num_hosts()));
  for (const std::uint32_t host : host_of) ++num_ranks.at(host);
  most_ranks_of_host_ = std::ranges::max(num_ranks);
  if (most_ranks_of_host_ == 1) return;
  handed_over_ = Descriptor(::memfd_create("leadline-rows", MFD_CLOEXEC));
  // That it is not a file of another process that has this number on another machine of the same name.
  const bool is_there = handed_over_.fd() >= 0 && ::pwrite(handed_over_.fd(), nonce.data(), nonce.size(), 0) ==
                                                      static_cast<ssize_t>(nonce.size());
  const RankOfHost own{cluster_->rank(), is_there ? ::getpid() : -1, handed_over_.fd()};
  const std::string all =
      cluster_->all_reduce(as_bytes(std::span(&own, 1)),
                           [](const std::string& left, std::string_view right) { return left + std::string(right); });
  const std::uint32_t own_host = host_of[static_cast<std::size_t>(cluster_->rank())];
  for (const RankOfHost& one : from_bytes<RankOfHost>(all)) {
    if (host_of[static_cast<std::size_t>(one.rank)] == own_host) ranks_of_host_.push_back(one);
  }
  std::ranges::sort(ranks_of_host_, {}, &RankOfHost::rank);
  const bool can_read = std::ranges::all_of(ranks_of_host_, [&](const RankOfHost& one) {
    const Descriptor memory = open_memory_of(one);
    std::string found(nonce.size(), '\0');
    return memory.fd() >= 0 && ::pread(memory.fd(), found.data(), found.size(), 0) > 0 && found == nonce;
  });
  const auto both = [](const std::string& left, std::string_view right) {
    return std::string(left == "1" && right == "1" ? "1" : "0");
  };
  if (cluster_->all_reduce(can_read ? "1" : "0", both) != "1") ranks_of_host_.clear();
}

bool SharedFile::hands_over(std::size_t size) const {
  constexpr std::size_t least_bytes = 1 << 16;
  return !ranks_of_host_.empty() && most_ranks_of_host_ * size >= least_bytes;
}

void SharedFile::put_through_host(const PlaceOfRank& place_of, std::string_view own, std::optional<Error>& error) {
  const int memory = handed_over_.fd();
  (void)!::ftruncate(memory, 0);
  if (!error && ::pwrite(memory, own.data(), own.size(), 0) != static_cast<ssize_t>(own.size())) {
    (void)!::ftruncate(memory, 0);  // no room there
    unless_failed(error, [&] { write_at(place_of(cluster_->rank()), own); });
  }
  cluster_->barrier();
  // Whoever writes may be lost, and then all that its ranks have handed over is written once more.
  std::size_t num_lost = 0;
  do {
    num_lost = cluster_->lost_ranks().size();
    unless_failed(error, [&] { write_for_host(place_of, own.size()); });
    cluster_->barrier();
  } while (cluster_->lost_ranks().size() != num_lost);
  (void)!::ftruncate(memory, 0);
}

/// By the lowest rank of the host that is there; the others do nothing.
void SharedFile::write_for_host(const PlaceOfRank& place_of, std::size_t size) {
  const auto is_lost = [&](const RankOfHost& one) {
    return std::ranges::find(cluster_->lost_ranks(), one.rank, &cluster::LostRank::rank) !=
           cluster_->lost_ranks().end();
  };
  const auto writer = std::ranges::find_if_not(ranks_of_host_, is_lost);
  if (writer == ranks_of_host_.end() || writer->rank != cluster_->rank()) return;
  GatheredWrites writes([&](std::uint64_t offset, std::string_view bytes) { write_at(offset, bytes); });
  std::string piece;
  for (const RankOfHost& one : ranks_of_host_) {
    // A rank that has ended has no memory any more; one that has written by itself has nothing in it.
    const Descriptor memory = open_memory_of(one);
    struct stat status {};
    if (memory.fd() < 0 && errno != ENOENT && errno != ESRCH) throw write_error(path_, errno);
    if (memory.fd() < 0 || ::fstat(memory.fd(), &status) != 0 || std::cmp_not_equal(status.st_size, size)) continue;
    for (std::size_t at = 0; at < size; at += piece.size()) {
      piece.resize(std::min<std::size_t>(size - at, 1 << 20));
      if (::pread(memory.fd(), piece.data(), piece.size(), static_cast<off_t>(at)) != std::ssize(piece)) break;
      writes.add(place_of(one.rank) + at, piece);
    }
  }
  writes.flush();
}

void SharedFile::put(const PlaceOfRank& place_of, std::string_view own, std::optional<Error>& error) {
  look_after_name();
  if (direct_ && hands_over(own.size())) return put_through_host(place_of, own, error);
  if (direct_) return unless_failed(error, [&] { write_at(place_of(cluster_->rank()), own); });
  GatheredWrites writes([&](std::uint64_t offset, std::string_view bytes) { write_at(offset, bytes); });
  cluster_->gather(own, [&](int rank, std::string_view bytes) {
    unless_failed(error, [&] {
      if (bytes.size() != own.size()) throw write_error(path_, fmt::format("rank {} sends another shape", rank));
      writes.add(place_of(rank), bytes);
    });
  });
  unless_failed(error, [&] { writes.flush(); });
}

void SharedFile::put_for_lost(std::uint64_t place, std::string_view bytes, std::optional<Error>& error) {
  unless_failed(error, [&] { write_at(place, bytes); });
}

void SharedFile::put(std::span<const PlacedBytes> own, std::optional<Error>& error) {
  look_after_name();
  if (direct_) {
    unless_failed(error, [&] {
      for (const PlacedBytes& part : own) write_at(part.offset, part.bytes);
    });
    return;
  }
  std::string message;
  for (const PlacedBytes& part : own) {
    const std::array<std::uint64_t, 2> head{part.offset, part.bytes.size()};
    message += as_bytes(std::span<const std::uint64_t>(head));
    message += part.bytes;
  }
  cluster_->gather(message, [&](int, std::string_view text) { unless_failed(error, [&] { write_placed(text); }); });
}

/// A message: offset, size, bytes; offset, size, bytes ...
void SharedFile::write_placed(std::string_view message) {
  std::array<std::uint64_t, 2> head{};
  while (message.size() >= sizeof head) {
    std::memcpy(head.data(), message.data(), sizeof head);
    message.remove_prefix(sizeof head);
    write_at(head[0], message.substr(0, head[1]));
    message.remove_prefix(std::min<std::size_t>(head[1], message.size()));
  }
}

/// A message: the number of pieces, the pieces, their values one after the other.
void SharedFile::write_pieces(std::uint64_t place, std::string_view message, std::size_t value_size) {
  std::uint32_t num_pieces = 0;
  std::memcpy(&num_pieces, message.data(), sizeof num_pieces);
  const auto pieces = from_bytes<Piece>(message.substr(sizeof num_pieces, num_pieces * sizeof(Piece)));
  std::string_view values = message.substr(sizeof num_pieces + num_pieces * sizeof(Piece));
  for (const Piece& piece : pieces) {
    const std::size_t size = (piece.end - piece.begin) * value_size;
    write_at(place + piece.begin * value_size, values.substr(0, size));
    values.remove_prefix(size);
  }
}

void SharedFile::put_pieces(const PlaceOfRank& place_of, std::string_view bytes, std::size_t value_size,
                            std::span<const Piece> pieces, std::optional<Error>& error) {
  look_after_name();
  const auto part_of = [&](const Piece& piece) {
    return bytes.substr(piece.begin * value_size, (piece.end - piece.begin) * value_size);
  };
  if (direct_) {
    const std::uint64_t place = place_of(cluster_->rank());
    for (const Piece& piece : pieces) {
      unless_failed(error, [&] { write_at(place + piece.begin * value_size, part_of(piece)); });
    }
    return;
  }
  const auto num_pieces = static_cast<std::uint32_t>(pieces.size());
  std::size_t size = sizeof num_pieces + pieces.size_bytes();
  for (const Piece& piece : pieces) size += part_of(piece).size();
  std::string message;
  message.reserve(size);
  message += as_bytes(std::span(&num_pieces, 1));
  message.append(reinterpret_cast<const char*>(pieces.data()), pieces.size_bytes());
  for (const Piece& piece : pieces) message += part_of(piece);
  cluster_->gather(message, [&](int rank, std::string_view text) {
    unless_failed(error, [&] { write_pieces(place_of(rank), text, value_size); });
  });
}

void SharedFile::restore_name() {
  const bool is_lost = text_of_root(*cluster_, [&] { return std::string(has_its_name() ? "" : "lost"); }) == "lost";
  if (!is_lost) return;
  look_after_name();
  sync_others();
  root_or_error(*cluster_, [&] {
    const InFileCall in_call(file_call(), "copying", path_, {}, FileCallKind::many_calls);
    file_->restore_name();
  });
  all_or_error(*cluster_, [&] {
    if (!direct_ || has_its_name()) return;
    const InFileCall in_call(file_call(), "opening", path_);
    file_ = OutputFile::open_existing(path_);
    if (!file_) throw write_error(path_, errno);
  });
  is_told_ = false;
}

void SharedFile::sync_others() {
  const auto host_of = cluster_->host_of();
  const auto own = static_cast<std::size_t>(cluster_->rank());
  const auto first_on_host = std::find(host_of.begin(), host_of.end(), host_of[own]) - host_of.begin();
  all_or_error(*cluster_, [&] {
    if (!direct_ || cluster_->is_root() || static_cast<std::size_t>(first_on_host) != own) return;
    const InFileCall in_call(file_call(), "syncing", path_, {}, FileCallKind::many_calls);
    file_->sync();
  });
}

}  // namespace leadline::result
