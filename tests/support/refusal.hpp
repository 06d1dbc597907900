// SPDX-License-Identifier: Apache-2.0
// What a command line is refused with.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"

namespace leadline::test {

using Words = std::vector<std::string>;

/// What `parse()` throws; a failure where it throws nothing, which names the words.
template <class Parse>
Error error_of(const Parse& parse, const Words& words = {}) {
  try {
    parse();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "not refused: " << testing::PrintToString(words);
  return Error(ExitStatus::ok, "");
}

/// Its text; a failure where the command line is not what it finds wrong.
template <class Parse>
std::string refusal_of(const Parse& parse, const Words& words = {}) {
  const Error error = error_of(parse, words);
  EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
  return error.what();
}

}  // namespace leadline::test
