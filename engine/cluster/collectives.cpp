// SPDX-License-Identifier: Apache-2.0
// The collectives: up the tree, down the tree, nothing kept that is not needed.
#include <string>

#include "cluster/bytes.hpp"
#include "cluster/tcp_cluster.hpp"

namespace leadline::cluster {
namespace {

void expect(Operation wanted, Operation came, int rank) {
  if (wanted != came) throw BrokenEdge{rank, true};
}

}  // namespace

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
