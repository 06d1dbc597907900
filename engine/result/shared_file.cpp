// SPDX-License-Identifier: Apache-2.0
// How ranks find out whether they share a file, and how their bytes reach it.
#include "result/shared_file.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

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
             "leadline: result file {} was removed or replaced during the run. The run goes on; at its end the file "
             "is written again, unless another one has its name\n",
             path_);
}

void SharedFile::put(const PlaceOfRank& place_of, std::string_view own, std::optional<Error>& error) {
  look_after_name();
  const auto write_own = [&](int rank, std::string_view bytes) {
    unless_failed(error, [&] {
      if (bytes.size() != own.size()) throw write_error(path_, fmt::format("rank {} sends another shape", rank));
      write_at(place_of(rank), bytes);
    });
  };
  if (direct_) {
    write_own(cluster_->rank(), own);
  } else {
    cluster_->gather(own, write_own);
  }
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
