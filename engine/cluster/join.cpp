// SPDX-License-Identifier: Apache-2.0
// Joining and leaving a cluster, and meeting a partner.
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "cluster/bytes.hpp"
#include "cluster/dial.hpp"
#include "cluster/listener.hpp"
#include "cluster/tcp_cluster.hpp"
#include "cluster/tree.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {
namespace {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string short_hash(const std::string& text) {
  std::uint64_t hash[2];  // 16 bytes is the least that the library makes
  static_assert(sizeof hash == crypto_generichash_BYTES_MIN);
  crypto_generichash(reinterpret_cast<unsigned char*>(hash), sizeof hash,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  std::string bytes;
  append(bytes, hash[0]);
  return bytes;
}

}  // namespace

std::unique_ptr<Cluster> Cluster::join(std::unique_ptr<Bootstrap> bootstrap, const JoinOptions& options) {
  return std::make_unique<TcpCluster>(std::move(bootstrap), options);
}

TcpCluster::TcpCluster(std::unique_ptr<Bootstrap> bootstrap, JoinOptions options)
    : bootstrap_(std::move(bootstrap)),
      options_(std::move(options)),
      rank_(bootstrap_->rank()),
      size_(bootstrap_->size()),
      host_(host_name()) {
  if (sodium_init() < 0) throw Error(ExitStatus::something_missing, "libsodium does not start");
  const Deadline deadline = Deadline::after(options_.timeout);
  membership_ = bootstrap_->membership();
  if (membership_ == nullptr)
    membership_ = &gathered_.emplace(*bootstrap_, host_, NetworkChoice{options_.interface, options_.host_name_suffix});
  key_.emplace(membership_->secret());
  Socket listener = membership_->take_listener();
  on_loopback_ = SocketAddress::of_socket(listener.fd()).is_loopback();
  watch_.emplace(Watch::Settings{rank_, size_, host_, options_.timeout}, std::move(listener), *key_, connection_queue_,
                 *bootstrap_);
  try {
    grow_tree(deadline);
  } catch (const Error& error) {
    // Those who are connected to us hear of it through the watch, and one of all says it; if nobody is, we do.
    if (watch_->has_edges()) watch_->abort({Grounds::own_error, error});
    throw;
  }
  learn_hosts();
  bootstrap_->joined();
}

SocketAddress TcpCluster::address_of(int rank) const {
  const Endpoint endpoint = membership_->endpoint_of(rank);
  const auto address = SocketAddress::parse(endpoint.address, endpoint.port);
  if (!address) throw Error(ExitStatus::run_failed, fmt::format("rank {} has no address", rank), endpoint.address);
  return *address;
}

void TcpCluster::grow_tree(Deadline deadline) {
  if (rank_ > 0) {
    const int parent = parent_of(rank_);
    Hello hello{Purpose::watch, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(parent)};
    watch_->adopt_parent(parent, dial(address_of(parent), hello, *key_, deadline));
    hello.purpose = Purpose::collectives;
    parent_.emplace(parent, dial(address_of(parent), hello, *key_, deadline), waiter_);
    if (!connection_queue_.await_host(parent, deadline)) {
      throw ConnectionLost(fmt::format("rank {} let rank {} in and has been silent since", parent, rank_), {},
                           "Look at that rank's host and the network between the two");
    }
  }
  for (const int child : children_of(rank_, size_)) await_child(child, deadline);
}

void TcpCluster::await_child(int child, Deadline deadline) {
  const bool is_watched = connection_queue_.await_host(child, deadline);
  Socket socket = connection_queue_.take(Purpose::collectives, child, deadline);
  if (!is_watched || !socket) {
    const Endpoint own = membership_->endpoint_of(rank_);
    throw ConnectionLost(fmt::format("rank {} did not join within {:.3g} s", child, seconds(options_.timeout)),
                         fmt::format("rank {} waits for it at {} port {}", rank_, own.address, own.port),
                         "Check that it was started, with the same secret, and can reach that address");
  }
  children_.emplace_back(child, std::move(socket), waiter_);
}

/// Host indices are given by rank 0, in order of first appearance, and go to everybody.
void TcpCluster::learn_hosts() {
  std::vector<std::uint64_t> hash_of(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  gather(short_hash(host_), [&](int rank, std::string_view hash) {
    hash_of[static_cast<std::size_t>(rank)] = Reader(hash).number<std::uint64_t>();
  });
  std::string indices;
  std::map<std::uint64_t, std::uint32_t> known;
  for (const std::uint64_t hash : hash_of) {
    append(indices, known.try_emplace(hash, static_cast<std::uint32_t>(known.size())).first->second);
  }
  indices = broadcast(indices);
  Reader reader(indices);
  host_of_.reserve(static_cast<std::size_t>(size_));
  while (!reader.at_end()) host_of_.push_back(reader.number<std::uint32_t>());
  if (host_of_.size() != static_cast<std::size_t>(size_)) throw std::logic_error("host indices of another run");
  for (const std::uint32_t host : host_of_) num_hosts_ = std::max(num_hosts_, static_cast<int>(host) + 1);
}

Socket TcpCluster::meet(int partner, Deadline deadline, const Meanwhile& meanwhile) {
  if (partner == rank_ || partner < 0 || partner >= size_) throw std::logic_error("a rank meets another rank");
  Socket socket;
  if (rank_ < partner) {
    const Hello hello{Purpose::peer, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(partner)};
    socket = dial(address_of(partner), hello, *key_, deadline);
  } else {
    socket = connection_queue_.take(Purpose::peer, partner, deadline, meanwhile);
    if (!socket) {
      throw ConnectionLost(fmt::format("rank {} did not connect to rank {} in time", partner, rank_), {},
                           "Look at that rank's host and the network between the two");
    }
  }
  set_blocking(socket.fd(), Blocking::yes);
  return socket;
}

void TcpCluster::set_current_step(std::function<std::string(int rank)> current_step) {
  watch_->set_current_step(std::move(current_step));
}

void TcpCluster::set_on_failure(std::function<void(const std::string& message)> on_failure) {
  watch_->set_on_failure(std::move(on_failure));
}

void TcpCluster::abort(const Error& error) {
  const bool is_lost = dynamic_cast<const ConnectionLost*>(&error) != nullptr;
  watch_->abort({is_lost ? Grounds::lost_connection : Grounds::own_error, error});
}

void TcpCluster::leave() {
  barrier();
  watch_->leave();
}

}  // namespace leadline::cluster
