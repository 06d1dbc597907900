// SPDX-License-Identifier: Apache-2.0
// Messages of an MPI library that tells of lost ranks (ULFM) and goes on without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadline.hpp"
#include "model/provenance.hpp"
#include "transport/mpi/library.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// MPI_Status under a name of its own for each ABI, so that containers of it are not those of another.
struct Status : MPI_Status {};

/// See transport/tagged/port.hpp. Only messages between two ranks: each of them fails by itself where the other rank is
/// lost, while a barrier of the library may wait for ever.
class MpiPort {
 public:
  static constexpr bool keeps_endpoints = false;
  static constexpr bool survives_lost_partners = true;
  static constexpr std::size_t descriptors_per_endpoint = 2;  ///< over TCP, where both may dial each other at once

  using Peer = int;  // a rank

  struct Memory {};

  struct Request {
    bool is_under_way = false;
    int error_code = MPI_SUCCESS;
  };

  /// From now on errors on the library's communicator are returned.
  explicit MpiPort(const Library& library);

  Memory memory(const std::byte*, std::size_t) const { return {}; }

  [[gnu::always_inline]] void post_send(Peer peer, tagged::Tag tag, const Memory&, const std::byte* data,
                                        std::size_t size, Request& request) {
    const MessageShape shape(size);
    MPI_Request& handle = add(request);
    require_posted(MPI_Isend(data, shape.count(), shape.type(), peer, number(tag), comm_, &handle));
  }

  [[gnu::always_inline]] void post_receive(Peer peer, tagged::Tag tag, const Memory&, std::byte* data, std::size_t size,
                                           Request& request) {
    const MessageShape shape(size);
    MPI_Request& handle = add(request);
    require_posted(MPI_Irecv(data, shape.count(), shape.type(), peer, number(tag), comm_, &handle));
  }

  [[gnu::always_inline]] bool is_done(const Request& request) const {
    if (request.is_under_way) return false;
    if (request.error_code != MPI_SUCCESS) [[unlikely]]
      fail(request.error_code);
    return true;
  }

  /// Takes what is done out of what is under way and marks it at its request; whether there was any.
  bool progress();

  /// What MPI has sent, it delivers while this rank waits for anything.
  static bool flush(Deadline) { return true; }
  static std::uint64_t max_message_bytes() { return UINT64_MAX; }

  std::string address() const { return std::to_string(library_.rank()); }
  static Peer open(std::string_view address) { return std::stoi(std::string(address)); }
  static void close(Peer) noexcept {}

  tagged::LossCheck loss_check;
  static bool tolerate_losses() { return true; }
  void abandon(Request& request) noexcept;
  static void close_lost(Peer) noexcept {}

  TransportInfo info() const;

 private:
  /// Messages of different kinds do not match, those of different ranks never do.
  static int number(tagged::Tag tag) { return static_cast<int>(tag.kind); }

  [[gnu::always_inline]] MPI_Request& add(Request& request) {
    request = {.is_under_way = true};
    requests_.push_back(&request);
    return handles_.emplace_back(MPI_REQUEST_NULL);
  }

  /// Of the message that was added last.
  [[gnu::always_inline]] void require_posted(int code) {
    if (code == MPI_SUCCESS) [[likely]]
      return;
    handles_.back() = MPI_REQUEST_NULL;
    drop_done();
    fail(code);
  }

  bool progress_single();
  void drop_done();
  [[noreturn, gnu::cold]] static void fail(int code);

  const Library& library_;
  MPI_Comm comm_;
  std::vector<MPI_Request> handles_;  ///< under way
  std::vector<Request*> requests_;    ///< theirs
  std::vector<int> indices_;          ///< what MPI says is done
  std::vector<Status> statuses_;      ///< of that: no error, unless MPI has just said so
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
