// SPDX-License-Identifier: Apache-2.0
// Frames: kind, rank and length before each text.
#include "cluster/host_frames.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cluster/bytes.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t frame_head_bytes = 9;
constexpr std::uint32_t frame_bytes_max = 256U << 20;

void append_texts(std::string& bytes, const std::vector<std::string>& texts) {
  append(bytes, static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) append_text(bytes, text);
}

std::vector<std::string> take_texts(Reader& reader) {
  std::vector<std::string> texts;
  for (auto left = reader.number<std::uint32_t>(); left > 0 && !reader.is_short(); --left) {
    texts.push_back(reader.text());
  }
  return texts;
}

}  // namespace

std::string packed(const HostFrame& frame) {
  std::string bytes;
  append(bytes, static_cast<std::uint8_t>(frame.kind));
  append(bytes, frame.rank);
  append_text(bytes, frame.text);
  return bytes;
}

std::optional<HostFrame> take_frame(std::string& unread) {
  if (unread.size() < frame_head_bytes) return std::nullopt;
  Reader head(unread);
  const auto kind = head.number<std::uint8_t>();
  const auto rank = head.number<std::uint32_t>();
  const auto length = head.number<std::uint32_t>();
  if (kind < static_cast<std::uint8_t>(HostFrameKind::start) ||
      kind > static_cast<std::uint8_t>(HostFrameKind::reported) || length > frame_bytes_max) {
    throw Error(ExitStatus::run_failed, "the connection to a host carries something else than Leadline's frames", "",
                "Does the command of --launch write to standard output?");
  }
  if (unread.size() < frame_head_bytes + length) return std::nullopt;
  HostFrame frame{static_cast<HostFrameKind>(kind), rank, unread.substr(frame_head_bytes, length)};
  unread.erase(0, frame_head_bytes + length);
  return frame;
}

std::string packed(const HostStart& start) {
  std::string bytes;
  append(bytes, start.size);
  append(bytes, start.first_rank);
  append(bytes, start.ranks_per_host);
  append_text(bytes, start.folder);
  append_texts(bytes, start.arguments);
  append_texts(bytes, start.environment);
  std::vector<std::string> absent;
  for (const AbsentHost& host : start.absent) absent.insert(absent.end(), {host.name, host.why});
  append_texts(bytes, absent);
  return bytes;
}

std::optional<HostStart> unpacked_host_start(std::string_view bytes) {
  Reader reader(bytes);
  HostStart start;
  start.size = reader.number<std::uint32_t>();
  start.first_rank = reader.number<std::uint32_t>();
  start.ranks_per_host = reader.number<std::uint32_t>();
  start.folder = reader.text();
  start.arguments = take_texts(reader);
  start.environment = take_texts(reader);
  const std::vector<std::string> absent = take_texts(reader);
  for (std::size_t i = 0; i + 1 < absent.size(); i += 2) start.absent.push_back({absent[i], absent[i + 1]});
  const std::uint64_t num_absent = std::uint64_t{start.ranks_per_host} * start.absent.size();
  const bool fits = std::uint64_t{start.first_rank} + start.ranks_per_host + num_absent <= start.size;
  if (reader.is_short() || !reader.at_end() || start.ranks_per_host == 0 || !fits) return std::nullopt;
  return start;
}

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
    if (done < 0 && errno == EAGAIN) {  // others may have made the same pipe non-blocking
      pollfd writable{fd, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (done < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool read_more(int fd, std::string& unread) {
  std::array<char, 1 << 16> piece{};
  const ssize_t got = ::read(fd, piece.data(), piece.size());
  if (got > 0) unread.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

std::optional<HostFrame> await_frame(int fd, std::string& unread, const Deadline* deadline) {
  for (;;) {
    if (auto frame = take_frame(unread)) return frame;
    pollfd readable{fd, POLLIN, 0};
    const int ready = ::poll(&readable, 1, deadline != nullptr ? deadline->left_ms() : -1);
    if (ready == 0 && deadline != nullptr && deadline->has_passed()) return std::nullopt;
    if (ready > 0 && !read_more(fd, unread)) return std::nullopt;
  }
}

}  // namespace leadline::cluster
