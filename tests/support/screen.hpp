// SPDX-License-Identifier: Apache-2.0
// A fake terminal of 80 columns that keeps what progress writes, with a clock that a test moves.
#pragma once

#include <string>
#include <string_view>

#include "output/progress_outlet.hpp"

namespace leadline::test {

class Screen {
 public:
  output::ProgressOutlet outlet() {
    return {[this](std::string_view more) { text += more; }, [] { return 80; }, [this] { return now_s; }};
  }
  std::string text;
  double now_s = 0;
};

}  // namespace leadline::test
