// SPDX-License-Identifier: Apache-2.0
// What the watch reads of a file call.
#include "core/file_call.hpp"

#include <gtest/gtest.h>

namespace leadline {
namespace {

TEST(CurrentFileCall, TellsTheCallTheRangeAndTheFileWhileItLasts) {
  CurrentFileCall call;
  EXPECT_EQ(call.text(), "");
  EXPECT_EQ(call.kind(), FileCallKind::none);
  {
    const InFileCall in_call(call, "opening", "/scratch/f");
    EXPECT_EQ(call.kind(), FileCallKind::one_call);
    EXPECT_EQ(call.text(), "opening /scratch/f");
  }
  EXPECT_EQ(call.text(), "");
  const InFileCall in_call(call, "writing", FileRange{1 << 20, 1 << 16}, FileCallKind::many_calls);
  EXPECT_EQ(call.kind(), FileCallKind::many_calls);
  EXPECT_EQ(call.text(), "writing 64 KiB at 1048576 of /scratch/f");
}

}  // namespace
}  // namespace leadline
