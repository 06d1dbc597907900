// SPDX-License-Identifier: Apache-2.0
// Joining and leaving a cluster, meeting a partner, and the collectives: up the tree, down the tree.
#include "cluster/tcp_cluster.hpp"

#include <fmt/format.h>
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

// How often the root looks whether a rank that it waits for has been given up.
constexpr auto lost_rank_interval = std::chrono::milliseconds(50);
// After --timeout, for the watch to find another way to a rank. Less than a stall may last: see watch.cpp.
constexpr auto time_to_settle = std::chrono::seconds(10);

constexpr const char* network_hint = "Look at the network between the two hosts";

/// What goes up the tree: the subtrees (by the rank at their top) that are not in it, and the text.
std::string packed(const std::vector<std::uint32_t>& missing, std::string_view text) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(missing.size()));
  for (const std::uint32_t rank : missing) append(bytes, rank);
  bytes += text;
  return bytes;
}

/// What comes down: the ranks that were lost since the collective before, and the text.
std::string packed(std::span<const LostRank> lost, std::string_view text) {
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(lost.size()));
  for (const LostRank& one : lost) {
    append(bytes, static_cast<std::uint32_t>(one.rank));
    append(bytes, static_cast<std::uint8_t>(one.was_there ? 1 : 0));
    append_text(bytes, one.why);
  }
  bytes += text;
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
      host_(cluster::host_name()),
      is_top_(rank_ == 0) {
  if (options_.start_timeout == options_.start_timeout.zero()) options_.start_timeout = options_.timeout;
  const Deadline deadline = Deadline::after(options_.start_timeout);
  goes_on_ = options_.leaves_out_absent && bootstrap_->starts_ranks_one_by_one();
  membership_ = bootstrap_->membership();
  if (membership_ == nullptr)
    membership_ = &gathered_.emplace(*bootstrap_, NetworkChoice{options_.interface, options_.host_name_suffix});
  key_.emplace(membership_->secret());
  Descriptor listener = membership_->take_listener();
  const SocketAddress own = SocketAddress::of_socket(listener.fd());
  on_loopback_ = own.is_loopback();
  own_address_ = own.host_text();
  const auto address = [this](int rank) { return address_of(rank); };
  watch_.emplace(Watch::Settings{rank_, size_, host_, options_.timeout, options_.start_timeout, goes_on_, address},
                 std::move(listener), *key_, connection_queue_, collective_sockets_, data_sockets_, *bootstrap_);
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
  if (rank_ > 0) join_parent(deadline);
  for (const int child : children_of(rank_, size_)) await_child(child, deadline);
}

/// A parent that does not come in half of the time is left to others: rank 0 waits for the whole of it.
void TcpCluster::join_parent(Deadline deadline) {
  const int parent = parent_of(rank_);
  const bool may_be_absent = goes_on_ && parent != 0;
  if (may_be_absent) deadline = Deadline::after(options_.start_timeout / 2);
  Hello hello{Purpose::watch, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(parent)};
  const char* hint = "Check that it was started, and with the same secret";
  try {
    watch_->adopt_parent(parent, dial(address_of(parent), hello, *key_, deadline, hint));
    hello.purpose = Purpose::collectives;
    parent_.emplace(parent, dial(address_of(parent), hello, *key_, deadline, hint), waiter_, collective_sockets_);
  } catch (const ConnectionLost&) {
    if (!may_be_absent) throw;
    return join_root_or_end();
  }
  if (!connection_queue_.await_host(parent, deadline)) {
    throw ConnectionLost(parent, fmt::format("rank {} let rank {} in and has been silent since", parent, rank_), {},
                         "Look at that rank's host and the network between the two");
  }
}

void TcpCluster::join_root_or_end() {
  try {
    join_root();
  } catch (const BrokenEdge& broken) {
    watch_->await_end(broken);  // it tells why
  }
}

/// In place of a parent that is lost. Where no rank before this one is left it is at the top itself.
void TcpCluster::join_root() {
  NewParent parent = watch_->new_parent(num_new_parents_);
  if (parent.rank < 0) throw BrokenEdge{0};
  num_new_parents_ = parent.number;
  is_top_ = parent.rank == rank_;
  if (!is_top_) parent_.emplace(parent.rank, std::move(parent.socket), waiter_, collective_sockets_);
}

/// It has come while this rank was in a collective, whose result it may lack.
void TcpCluster::tell_new_parent() {
  if (!watch_->has_new_parent(num_new_parents_)) return;
  try {
    join_root();
    if (parent_->rank() == 0) return;
    const auto last = watch_->last_result();
    parent_->send({Operation::last_result, last->sequence}, last->text);
  } catch (const BrokenEdge&) {
    parent_.reset();
  }
}

void TcpCluster::await_child(int child, Deadline deadline) {
  if (goes_on_ && bootstrap_->absent_host(child) != nullptr) return watch_->report_absent(child);
  const bool is_watched = connection_queue_.await_host(child, deadline);
  Descriptor socket = connection_queue_.take(Purpose::collectives, child, deadline);
  if (is_watched && socket) {
    children_.emplace_back(child, std::move(socket), waiter_, collective_sockets_);
  } else if (goes_on_) {
    watch_->report_absent(child);
  } else {
    const Endpoint own = membership_->endpoint_of(rank_);
    throw ConnectionLost(child,
                         fmt::format("rank {} did not join within {:.3g} s", child, seconds(options_.start_timeout)),
                         fmt::format("rank {} waits for it at {} port {}", rank_, own.address, own.port),
                         "Check that it was started, with the same secret, and can reach that address");
  }
}

/// Host indices are given by rank 0, in order of first appearance, and go to everybody: the names of hosts, and the
/// host of each rank. The second host of a name is called NAME#2.
void TcpCluster::learn_hosts() {
  std::vector<Member> members(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  std::string own;
  const HostIdentity identity = HostIdentity::own();
  append(own, identity.name);
  append(own, identity.network);
  append(own, identity.boot);
  append_text(own, host_);
  gather(own, [&](int rank, std::string_view text) {
    Reader reader(text);
    Member& member = members[static_cast<std::size_t>(rank)];
    member.identity.name = reader.number<std::uint64_t>();
    member.identity.network = reader.number<std::uint64_t>();
    member.identity.boot = reader.number<std::uint64_t>();
    member.host = reader.text();
  });
  if (rank_ == 0) place_absent(members);
  std::vector<HostIdentity> identities;
  for (const Member& member : members) identities.push_back(member.identity);
  std::string names, host_of;
  std::uint32_t num_hosts = 0;
  std::map<std::uint64_t, std::uint32_t> num_of_name;
  const std::vector<std::uint32_t> hosts = hosts_of(identities);
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    append(host_of, hosts[rank]);
    if (hosts[rank] < num_hosts) continue;
    ++num_hosts;
    const std::uint32_t number = ++num_of_name[members[rank].identity.name];
    append_text(names, number == 1 ? members[rank].host : fmt::format("{}#{}", members[rank].host, number));
  }
  std::string all;
  append(all, static_cast<std::uint8_t>(lacks_ranks() ? 1 : 0));
  append(all, num_hosts);
  all = broadcast(all + names + host_of);
  Reader reader(all);
  const bool goes_on = reader.number<std::uint8_t>() != 0;
  hosts_.names.resize(reader.number<std::uint32_t>());
  for (std::string& name : hosts_.names) name = reader.text();
  hosts_.host_of.resize(static_cast<std::size_t>(size_));
  for (std::uint32_t& host : hosts_.host_of) host = reader.number<std::uint32_t>();
  if (reader.is_short() || !reader.at_end()) throw std::logic_error("host indices of another run");
  host_ = hosts_.name_of(rank_);
  watch_->learn_hosts(hosts_);
  if (goes_on) return;
  goes_on_ = false;
  watch_->go_on_without_lost_ranks(false);
}

/// Rank 0: whether somebody has not come, or is not where the tree would have it. If not, a benchmark decides whether
/// the run goes on without what is lost from then on.
bool TcpCluster::lacks_ranks() const {
  const std::vector<int> expected = children_of(rank_, size_);
  return goes_on_ && !(lost_ranks_.empty() && std::ranges::equal(children_, expected, {}, &Edge::rank));
}

/// Rank 0: a host of each rank that has not come: that of others at the same address, or one that is called by the
/// address. Throws where no other rank has come.
void TcpCluster::place_absent(std::vector<Member>& members) const {
  if (lost_ranks_.empty()) return;
  if (lost_ranks_.size() + 1 == members.size()) {
    throw Error(ExitStatus::run_failed, fmt::format("of {} ranks only rank 0 is there", members.size()),
                lost_ranks_.front().why,
                "Check that the others were started, with the same secret, and can be reached");
  }
  std::map<std::string, const Member*> at_address;
  const auto address_of = [&](std::size_t rank) {
    const AbsentHost* const absent = bootstrap_->absent_host(static_cast<int>(rank));
    return absent != nullptr ? absent->name : membership_->endpoint_of(static_cast<int>(rank)).address;
  };
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    if (!members[rank].host.empty()) at_address.try_emplace(address_of(rank), &members[rank]);
  }
  for (const LostRank& lost : lost_ranks_) {
    const auto rank = static_cast<std::size_t>(lost.rank);
    const std::string address = address_of(rank);
    const auto [found, is_new] = at_address.try_emplace(address, &members[rank]);
    const std::uint64_t identity = std::hash<std::string>{}(address);
    members[rank] = is_new ? Member{{identity, identity, identity}, address} : *found->second;
  }
}

/// Empty where the partner does not come. Where the run goes on without what is lost, the deadline is for the network:
/// a partner that answers is waited for until the watch has settled what may have kept it, such as a lost parent.
Descriptor TcpCluster::accept_peer(int partner, Deadline deadline, const ProgressFunction& progress) {
  const std::chrono::milliseconds patience(deadline.left_ms());
  const Deadline last = goes_on_ ? Deadline::after(options_.timeout + time_to_settle) : deadline;
  const auto has_given_up = [&] { return connection_queue_.has_given_up(partner); };
  const Hello probe{Purpose::probe, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(partner)};
  for (;;) {
    Descriptor socket = connection_queue_.take(Purpose::peer, partner, deadline, progress);
    if (socket || last.has_passed() || has_given_up()) return socket;
    dial(address_of(partner), probe, *key_, Deadline::after(patience), network_hint, has_given_up);
    deadline = Deadline::after(patience);
  }
}

Descriptor TcpCluster::meet(int partner, Deadline deadline, const ProgressFunction& progress) {
  if (partner == rank_ || partner < 0 || partner >= size_) throw std::logic_error("a rank meets another rank");
  Descriptor socket;
  if (rank_ < partner) {
    const Hello hello{Purpose::peer, static_cast<std::uint32_t>(rank_), static_cast<std::uint32_t>(partner)};
    socket = dial(address_of(partner), hello, *key_, deadline, network_hint,
                  [&] { return connection_queue_.has_given_up(partner); });
  } else {
    socket = accept_peer(partner, deadline, progress);
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

void TcpCluster::set_partial_result(std::function<std::string()> partial_result) {
  watch_->set_partial_result(std::move(partial_result));
}

void TcpCluster::set_on_failure(std::function<void(const std::string&, const PartialResults&)> on_failure) {
  watch_->set_on_failure(std::move(on_failure));
}

void TcpCluster::abort(const Error& error) {
  const auto* lost = dynamic_cast<const ConnectionLost*>(&error);
  if (lost == nullptr) watch_->abort({FailureKind::own_error, error});
  watch_->abort({FailureKind::lost_connection, error}, lost->partner());
}

void TcpCluster::leave() {
  is_leaving_ = goes_on_;
  if (is_leaving_) watch_->begin_to_leave();
  barrier();
  watch_->leave();
}

void TcpCluster::go_on_without_lost_ranks() {
  goes_on_ = true;
  watch_->go_on_without_lost_ranks();
  if (rank_ == 0) bootstrap_->going_on_without_lost_ranks();
}

void TcpCluster::go_on_without_root() {
  if (!goes_on_) return;
  goes_on_without_root_ = true;
  watch_->go_on_without_root();
}

Edge* TcpCluster::edge_to(int child) {
  const auto edge = std::ranges::find(children_, child, &Edge::rank);
  return edge != children_.end() ? &*edge : nullptr;
}

void TcpCluster::drop(const Edge& child) {
  children_.remove_if([rank = child.rank()](const Edge& edge) { return edge.rank() == rank; });
}

std::string TcpCluster::collective(Sweep sweep) {
  StallDetector& stall_detector = watch_->stall_detector();
  stall_detector.is_waiting.store(true, std::memory_order_relaxed);
  sequence_ = (sequence_ + 1) & sequence_mask;
  std::string result;
  try {
    if (sweep.take_item) sweep.take_item(sweep.own_item);
    const std::vector<std::uint32_t> missing = from_below(sweep);
    result = is_top_ ? decide(sweep, missing) : ask_parent(sweep, missing);
    if (goes_on_) watch_->publish({sequence_, result});
    tell_below(sweep, result);
  } catch (const BrokenEdge& broken) {
    if (is_leaving_ && !broken.is_nonsense) return {};
    watch_->await_end(broken);
  }
  stall_detector.progress_counter.advance();
  stall_detector.is_waiting.store(false, std::memory_order_relaxed);
  if (goes_on_without_root_) tell_new_parent();
  return take_result(result);
}

/// At the top: the result, which may be one that another rank has from a root before this one.
std::string TcpCluster::decide(Sweep& sweep, std::vector<std::uint32_t> missing) {
  if (rank_ != 0) missing.push_back(0);
  std::optional<std::string> known = await_orphans(sweep, std::move(missing));
  std::string result;
  if (known) {
    result = *std::move(known);
  } else {
    const std::vector<LostRank> lost = watch_->lost_ranks_beside(lost_ranks_);
    const Leads leads = root_ == rank_ ? Leads::already : Leads::not_yet;
    const bool may_be_fewer = goes_on_without_root_ && !lost.empty();
    if (may_be_fewer && !is_leaving_ && !may_lead(watch_->lost_ranks_beside({}), size_, leads))
      watch_->end_with_fewer();
    if (root_ != rank_) watch_->lead();
    result = packed(lost, sweep.decide ? sweep.decide() : sweep.own);
  }
  return result;
}

bool TcpCluster::is_lost(int rank) const { return cluster::is_lost(lost_ranks_, rank) || watch_->is_lost(rank); }

std::vector<std::uint32_t> TcpCluster::from_below(Sweep& sweep) {
  std::vector<std::uint32_t> missing;
  for (const int child : children_of(rank_, size_)) {
    Edge* const edge = edge_to(child);
    if (edge == nullptr || !take_from(*edge, sweep, missing)) missing.push_back(static_cast<std::uint32_t>(child));
  }
  return missing;
}

/// False where the child is lost.
bool TcpCluster::take_from(Edge& child, Sweep& sweep, std::vector<std::uint32_t>& missing) {
  std::string text;
  const int rank = child.rank();
  try {
    Frame frame = child.receive(text);
    for (; frame == Frame{Operation::item, sequence_} && sweep.take_item; frame = child.receive(text)) {
      sweep.take_item(text);
    }
    if (frame != Frame{sweep.operation, sequence_}) throw BrokenEdge{rank, true};
  } catch (const BrokenEdge& broken) {
    if (!goes_on_ || broken.is_nonsense) throw;
    drop(child);
    return false;
  }
  Reader reader(text);
  for (auto left = reader.number<std::uint32_t>(); left > 0 && !reader.is_short(); --left) {
    missing.push_back(reader.number<std::uint32_t>());
  }
  if (reader.is_short()) throw BrokenEdge{rank, true};
  if (sweep.take) sweep.take(sweep.own, reader.rest());
  sweep.from.push_back(rank);
  return true;
}

/// At the top: every subtree that nobody has brought is lost, with those below it coming by themselves, or comes by
/// itself. The result of the collective, where one of them has it.
std::optional<std::string> TcpCluster::await_orphans(Sweep& sweep, std::vector<std::uint32_t> missing) {
  while (!missing.empty()) {
    if (auto known = watch_->known_result(sequence_)) return known;
    const auto rank = static_cast<int>(missing.back());
    if (rank == rank_) {
      missing.pop_back();
      continue;
    }
    if (is_lost(rank)) {
      missing.pop_back();
      if (const Edge* edge = edge_to(rank)) drop(*edge);
      for (const int child : children_of(rank, size_)) missing.push_back(static_cast<std::uint32_t>(child));
      continue;
    }
    if (Edge* const edge = edge_to(rank)) {
      std::vector<std::uint32_t> missing_there;
      if (!take_from(*edge, sweep, missing_there)) continue;
      missing.pop_back();
      missing.insert(missing.end(), missing_there.begin(), missing_there.end());
      continue;
    }
    Descriptor socket = watch_->await_orphan(rank, Deadline::after(lost_rank_interval));
    if (socket) children_.emplace_back(rank, std::move(socket), waiter_, collective_sockets_);
  }
  return std::nullopt;
}

std::string TcpCluster::ask_parent(Sweep& sweep, const std::vector<std::uint32_t>& missing) {
  std::string result;
  for (;;) {
    try {
      if (!parent_) {
        join_root();
        if (sweep.take_item) sweep.own = "again";
        if (is_top_) return decide(sweep, missing);
      }
      const Frame frame{sweep.operation, sequence_};
      parent_->send(frame, packed(missing, sweep.own));
      if (parent_->receive(result) != frame) throw BrokenEdge{parent_->rank(), true};
      return result;
    } catch (const BrokenEdge& broken) {
      if (!goes_on_ || broken.is_nonsense || !parent_) throw;
      parent_.reset();
    }
  }
}

void TcpCluster::tell_below(const Sweep& sweep, const std::string& result) {
  for (const int rank : sweep.from) {
    Edge& edge = *edge_to(rank);
    try {
      edge.send({sweep.operation, sequence_}, result);
    } catch (const BrokenEdge&) {
      if (!goes_on_) throw;
      drop(edge);
    }
  }
}

/// An item that a lost parent has not taken is sent again, with all others.
void TcpCluster::send_item(std::string_view item) {
  if (!parent_) return;
  try {
    parent_->send({Operation::item, sequence_}, item);
  } catch (const BrokenEdge&) {
    if (!goes_on_) throw;
    parent_.reset();
  }
}

std::string TcpCluster::take_result(const std::string& packed) {
  Reader reader(packed);
  for (auto left = reader.number<std::uint32_t>(); left > 0 && !reader.is_short(); --left) {
    const auto rank = static_cast<int>(reader.number<std::uint32_t>());
    const bool was_there = reader.number<std::uint8_t>() != 0;
    lost_ranks_.push_back({rank, reader.text(), was_there});
    while (cluster::is_lost(lost_ranks_, root_)) ++root_;
  }
  return std::string(reader.rest());
}

std::string TcpCluster::all_reduce(
    std::string own, const std::function<std::string(std::string left, std::string_view right)>& combine) {
  return collective({.operation = Operation::reduce,
                     .own = std::move(own),
                     .take = [&](std::string& sum, std::string_view text) { sum = combine(std::move(sum), text); }});
}

void TcpCluster::barrier() { collective({.operation = Operation::barrier}); }

std::string TcpCluster::broadcast(std::string_view from_root) {
  return collective({.operation = Operation::broadcast, .decide = [&] { return std::string(from_root); }});
}

/// One item at a time: a rank holds no more of its subtree than the text that is passing through. Where a rank was lost
/// on whose way up others' items were, all send theirs again.
void TcpCluster::gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) {
  std::vector<bool> has_come;
  std::string own_item;
  append(own_item, static_cast<std::uint32_t>(rank_));
  own_item += own;
  const auto take_item = [&](std::string_view item) {
    if (!is_top_) return send_item(item);
    has_come.resize(static_cast<std::size_t>(size_));
    Reader reader(item);
    const auto rank = reader.number<std::uint32_t>();
    if (reader.is_short() || rank >= has_come.size()) throw BrokenEdge{0, true};
    if (has_come[rank]) return;
    has_come[rank] = true;
    at_root(static_cast<int>(rank), reader.rest());
  };
  const auto needs_again = [](std::string& any, std::string_view text) {
    if (any.empty()) any = text;
  };
  const Sweep sweep{.operation = Operation::gather, .own_item = own_item, .take = needs_again, .take_item = take_item};
  while (!collective(sweep).empty()) continue;
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
