// SPDX-License-Identifier: Apache-2.0
// A question that is answered in a process of its own, since answering it may crash or hang.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace leadline::cluster {

/// How the child came to its end.
struct ChildAnswer {
  std::optional<std::string> text;  ///< the answer; nothing where it died or took too long
  std::string why;                  ///< then: "it died of signal 11 (Segmentation fault)" ...
};

/// Local, in a process without threads: forks a child that answers, what it throws being an answer, too; kills it, and
/// those of its own children that stayed with it, where it takes longer than `patience`. Throws Error(run_failed) where
/// there can be no child.
ChildAnswer ask_child(const std::function<std::string()>& question, std::chrono::milliseconds patience);

}  // namespace leadline::cluster
