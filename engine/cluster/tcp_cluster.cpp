// SPDX-License-Identifier: Apache-2.0
// Joining and leaving a cluster, meeting a partner, and the collectives: up the tree, down the tree.
#include "cluster/tcp_cluster.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/process_identity.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {
namespace {

void expect(Operation wanted, Operation came, int rank) {
  if (wanted != came) throw BrokenEdge{rank, true};
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
    membership_ = &gathered_.emplace(*bootstrap_, NetworkChoice{options_.interface, options_.host_name_suffix});
  key_.emplace(membership_->secret());
  Descriptor listener = membership_->take_listener();
  on_loopback_ = SocketAddress::of_socket(listener.fd()).is_loopback();
  const auto address = [this](int rank) { return address_of(rank); };
  watch_.emplace(Watch::Settings{rank_, size_, host_, options_.timeout, address}, std::move(listener), *key_,
                 connection_queue_, *bootstrap_);
  try {
    grow_tree(deadline);
  } catch (const Error& error) {
    // Those who are connected to us hear of it through the watch, and one of all says it; if nobody is, we do.
    if (watch_->has_edges()) watch_->abort({FailureKind::own_error, error});
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
    const char* hint = "Check that it was started, and with the same secret";
    watch_->adopt_parent(parent, dial(address_of(parent), hello, *key_, deadline, hint));
    hello.purpose = Purpose::collectives;
    parent_.emplace(parent, dial(address_of(parent), hello, *key_, deadline, hint), waiter_);
    if (!connection_queue_.await_host(parent, deadline)) {
      throw ConnectionLost(parent, fmt::format("rank {} let rank {} in and has been silent since", parent, rank_), {},
                           "Look at that rank's host and the network between the two");
    }
  }
  for (const int child : children_of(rank_, size_)) await_child(child, deadline);
}

void TcpCluster::await_child(int child, Deadline deadline) {
  const bool is_watched = connection_queue_.await_host(child, deadline);
  Descriptor socket = connection_queue_.take(Purpose::collectives, child, deadline);
  if (!is_watched || !socket) {
    const Endpoint own = membership_->endpoint_of(rank_);
    throw ConnectionLost(child, fmt::format("rank {} did not join within {:.3g} s", child, seconds(options_.timeout)),
                         fmt::format("rank {} waits for it at {} port {}", rank_, own.address, own.port),
                         "Check that it was started, with the same secret, and can reach that address");
  }
  children_.emplace_back(child, std::move(socket), waiter_);
}

/// Host indices are given by rank 0, in order of first appearance, and go to everybody: the names of hosts, and the
/// host of each rank. The second host of a name is called NAME#2.
void TcpCluster::learn_hosts() {
  struct Member {
    HostIdentity identity;
    std::string host;
  };
  std::vector<Member> members(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  std::string own;
  append(own, HostIdentity::own().name);
  append(own, HostIdentity::own().all);
  append_text(own, host_);
  gather(own, [&](int rank, std::string_view text) {
    Reader reader(text);
    Member& member = members[static_cast<std::size_t>(rank)];
    member.identity.name = reader.number<std::uint64_t>();
    member.identity.all = reader.number<std::uint64_t>();
    member.host = reader.text();
  });
  std::string names, host_of;
  std::map<std::uint64_t, std::uint32_t> known, num_of_name;
  for (const Member& member : members) {
    const auto [host, is_new] = known.try_emplace(member.identity.all, static_cast<std::uint32_t>(known.size()));
    append(host_of, host->second);
    if (!is_new) continue;
    const std::uint32_t number = ++num_of_name[member.identity.name];
    append_text(names, number == 1 ? member.host : fmt::format("{}#{}", member.host, number));
  }
  std::string all;
  append(all, static_cast<std::uint32_t>(known.size()));
  all = broadcast(all + names + host_of);
  Reader reader(all);
  hosts_.names.resize(reader.number<std::uint32_t>());
  for (std::string& name : hosts_.names) name = reader.text();
  hosts_.host_of.resize(static_cast<std::size_t>(size_));
  for (std::uint32_t& host : hosts_.host_of) host = reader.number<std::uint32_t>();
  if (reader.is_short() || !reader.at_end()) throw std::logic_error("host indices of another run");
  host_ = hosts_.name_of(rank_);
  watch_->learn_hosts(hosts_);
}

Descriptor TcpCluster::meet(int partner, Deadline deadline, const ProgressFunction& progress) {
  if (partner == rank_ || partner < 0 || partner >= size_) throw std::logic_error("a rank meets another rank");
  Descriptor socket;
  if (rank_ < partner) {
    const Hello hello{Purpose::peer, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(partner)};
    socket = dial(address_of(partner), hello, *key_, deadline, "Look at the network between the two hosts");
  } else {
    socket = connection_queue_.take(Purpose::peer, partner, deadline, progress);
    if (!socket) {
      throw ConnectionLost(partner, fmt::format("rank {} did not connect to rank {} in time", partner, rank_), {},
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
  const auto* lost = dynamic_cast<const ConnectionLost*>(&error);
  if (lost == nullptr) watch_->abort({FailureKind::own_error, error});
  watch_->abort({FailureKind::lost_connection, error}, lost->partner());
}

void TcpCluster::leave() {
  barrier();
  watch_->leave();
}

template <typename Body>
void TcpCluster::collective(Body body) {
  StallDetector& stall_detector = watch_->stall_detector();
  stall_detector.is_waiting.store(true, std::memory_order_relaxed);
  try {
    body(++sequence_);
  } catch (const BrokenEdge& broken) {
    watch_->await_end(broken);
  }
  stall_detector.progress_counter.advance();
  stall_detector.is_waiting.store(false, std::memory_order_relaxed);
}

std::string TcpCluster::all_reduce(
    std::string own, const std::function<std::string(std::string left, std::string_view right)>& combine) {
  collective([&](std::uint32_t sequence) {
    std::string text;
    for (Edge& child : children_) {
      expect(Operation::reduce, child.receive(sequence, text), child.rank());
      own = combine(std::move(own), text);
    }
    if (parent_) {
      parent_->send({Operation::reduce, sequence}, own);
      expect(Operation::result, parent_->receive(sequence, own), parent_->rank());
    }
    for (Edge& child : children_) child.send({Operation::result, sequence}, own);
  });
  return own;
}

void TcpCluster::barrier() {
  collective([&](std::uint32_t sequence) {
    std::string nothing;
    for (Edge& child : children_) expect(Operation::barrier, child.receive(sequence, nothing), child.rank());
    if (parent_) {
      parent_->send({Operation::barrier, sequence}, {});
      expect(Operation::release, parent_->receive(sequence, nothing), parent_->rank());
    }
    for (Edge& child : children_) child.send({Operation::release, sequence}, {});
  });
}

std::string TcpCluster::broadcast(std::string_view from_root) {
  std::string text(from_root);
  collective([&](std::uint32_t sequence) {
    if (parent_) expect(Operation::broadcast, parent_->receive(sequence, text), parent_->rank());
    for (Edge& child : children_) child.send({Operation::broadcast, sequence}, text);
  });
  return text;
}

void TcpCluster::gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) {
  collective([&](std::uint32_t sequence) {
    std::string item;
    if (parent_) {
      append(item, static_cast<std::uint32_t>(rank_));
      item += own;
      parent_->send({Operation::item, sequence}, item);
    } else {
      at_root(rank_, own);
    }
    for (Edge& child : children_) relay_items(child, at_root);
    if (parent_) parent_->send({Operation::end_of_items, sequence}, {});
  });
}

/// One item at a time: a rank holds no more of its subtree than the text that is passing through.
void TcpCluster::relay_items(Edge& from, const std::function<void(int rank, std::string_view text)>& at_root) {
  std::string item;
  for (;;) {
    const Operation operation = from.receive(sequence_, item);
    if (operation == Operation::end_of_items) return;
    expect(Operation::item, operation, from.rank());
    if (parent_) {
      parent_->send({Operation::item, sequence_}, item);
      continue;
    }
    Reader reader(item);
    const auto rank = reader.number<std::uint32_t>();
    if (reader.is_short() || rank >= static_cast<std::uint32_t>(size_)) throw BrokenEdge{from.rank(), true};
    at_root(static_cast<int>(rank), reader.rest());
  }
}

void TcpCluster::agree(const Error* own) {
  std::string mine;
  if (own != nullptr) {
    append(mine, static_cast<std::uint32_t>(rank_));
    append(mine, static_cast<std::uint32_t>(own->status()));
    append_text(mine, own->problem());
    append_text(mine, own->why());
    append_text(mine, own->hint());
  }
  const std::string agreed = all_reduce(std::move(mine), [](std::string left, std::string_view right) {
    if (left.empty()) return std::string(right);
    if (right.empty()) return left;
    const auto left_rank = Reader(left).number<std::uint32_t>();
    return left_rank <= Reader(right).number<std::uint32_t>() ? left : std::string(right);
  });
  if (agreed.empty()) return;
  Reader reader(agreed);
  reader.number<std::uint32_t>();
  const auto status = static_cast<ExitStatus>(reader.number<std::uint32_t>());
  std::string problem = reader.text(), why = reader.text(), hint = reader.text();
  throw Error(status, std::move(problem), std::move(why), std::move(hint));
}

}  // namespace leadline::cluster
