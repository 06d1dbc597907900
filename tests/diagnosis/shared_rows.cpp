// SPDX-License-Identifier: Apache-2.0
// A barrier before the texts are read, and one before they may change again.
#include "shared_rows.hpp"

#include <utility>

namespace leadline::diagnosis {

std::vector<std::string> Meeting::exchange(std::size_t holder, std::string own) {
  texts_[holder] = std::move(own);
  gate_.arrive_and_wait();
  std::vector<std::string> all = texts_;
  gate_.arrive_and_wait();
  return all;
}

void SharedRows::visit(const std::function<void(std::size_t worker, const Row& row)>& look) const {
  all_.visit([&](std::size_t worker, const Row& row) {
    if (row.from % meeting_.num_holders() == holder_) look(worker, row);
  });
}

std::string SharedRows::all_reduce(
    std::string own, const std::function<std::string(std::string left, std::string_view right)>& combine) const {
  const std::vector<std::string> all = meeting_.exchange(holder_, std::move(own));
  const std::size_t first = num_calls_++ % all.size();
  std::string sum = all[first];
  for (std::size_t next = 1; next < all.size(); ++next) sum = combine(std::move(sum), all[(first + next) % all.size()]);
  return sum;
}

}  // namespace leadline::diagnosis
