// SPDX-License-Identifier: Apache-2.0
// The binary tree of the control plane: who is above and below whom.
#pragma once

#include <vector>

namespace leadline::cluster {

/// The rank above; only for rank > 0.
constexpr int parent_of(int rank) { return (rank - 1) / 2; }

/// The at most two ranks below.
inline std::vector<int> children_of(int rank, int size) {
  std::vector<int> children;
  for (long long child = 2LL * rank + 1; child <= 2LL * rank + 2 && child < size; ++child) {
    children.push_back(static_cast<int>(child));
  }
  return children;
}

}  // namespace leadline::cluster
