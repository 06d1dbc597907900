// SPDX-License-Identifier: Apache-2.0
// The rules of a transport, in the words of the guide (docs/how-to/add-a-transport.md), and which of them is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leadline::contract {

/// In the order of rules().
enum class Rule : std::uint8_t {
  deadline,
  open_once,
  completion,
  posting,
  order,
  last_byte,
  length,
  receiver,
  empty_message,
  token,
  both_ways,
  to_itself,
  free_buffer,
  ticket,
  progress,
  barrier,
  samples,
  progress_counter,
  lost_partner,
  closing,
  description,
};

struct RuleText {
  const char* name;  ///< "last byte"
  const char* text;  ///< one sentence
};

std::span<const RuleText> rules();

/// Until the end of the scope a failure or a call that does not return breaks this rule: one line on standard error
/// names it, the rank and the call.
class Checks {
 public:
  explicit Checks(Rule rule);
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;
  ~Checks();

 private:
  const RuleText* before_;
  int num_exceptions_;  ///< an exception that ends the scope breaks the rule, too
};

}  // namespace leadline::contract
