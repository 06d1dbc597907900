// SPDX-License-Identifier: Apache-2.0
// What users read of a transfer that went wrong.
#include "storage/transfer.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace leadline::storage {
namespace {

TEST(TransferErrors, NameTheCallThePlaceAndTheFile) {
  const Transfer transfer{Access::write, 12582912, 1 << 20};
  EXPECT_STREQ(transfer_error(transfer, "out/data", EIO).what(),
               "writing 1 MiB at 12582912 of out/data failed (Input/output error)");
  EXPECT_STREQ(transfer_error({Access::read, 0, 1000}, "data", "the disk is gone").what(),
               "reading 1000 B at 0 of data failed (the disk is gone)");
  EXPECT_STREQ(late_error(transfer, "data").what(), "writing 1 MiB at 12582912 of data was not done in time");
  EXPECT_EQ(late_error(transfer, "data").status(), ExitStatus::run_failed);
}

TEST(TransferErrors, SayWhatToDoWhereThereIsSomething) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG}) {
    EXPECT_THAT(transfer_error({}, "data", error).hint(), testing::HasSubstr("--objects")) << error;
  }
  EXPECT_EQ(transfer_error({}, "data", EIO).hint(), "");
}

}  // namespace
}  // namespace leadline::storage
