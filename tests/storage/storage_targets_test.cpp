// SPDX-License-Identifier: Apache-2.0
// Which OSTs an attribute of Lustre names, and what is told where nothing is known.
#include "storage/storage_targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leadline::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string number(std::uint64_t value, std::size_t num_bytes) {
  std::string text;
  for (std::size_t byte = 0; byte < num_bytes; ++byte) text += static_cast<char>((value >> (8 * byte)) & 0xff);
  return text;
}

/// lov_user_md_v1, or _v3 with the name of a pool.
std::string layout(const std::vector<std::uint32_t>& targets, const std::string& pool = {}, std::uint32_t pattern = 1) {
  std::string text = number(pool.empty() ? 0x0bd10bd0 : 0x0bd30bd0, 4) + number(pattern, 4) + number(0x1234, 16 / 2) +
                     number(0, 8) + number(1 << 20, 4) + number(targets.size(), 2) + number(0, 2);
  if (!pool.empty()) text += (pool + std::string(16, '\0')).substr(0, 16);
  for (const std::uint32_t target : targets) text += number(77, 8) + number(0, 8) + number(0, 4) + number(target, 4);
  return text;
}

/// lov_comp_md_v1 with such components, those without objects being empty texts.
std::string composite(const std::vector<std::string>& components) {
  std::string head = number(0x0bd60bd0, 4) + number(0, 4) + number(1, 4) + number(0, 2) + number(components.size(), 2) +
                     std::string(16, '\0');
  std::string entries, layouts;
  for (const std::string& one : components) {
    const std::string kept = one.empty() ? layout({99}) : one;
    const std::size_t offset = head.size() + 48 * components.size() + layouts.size();
    entries += number(1, 4) + number(one.empty() ? 0 : 0x10, 4) + number(0, 16 / 2) + number(~0ULL, 8) +
               number(offset, 4) + number(kept.size(), 4) + std::string(16, '\0');
    layouts += kept;
  }
  return head + entries + layouts;
}

TEST(StorageTargets, AreReadFromLustresAttribute) {
  EXPECT_THAT(lustre_targets(layout({7})), ElementsAre(7));
  EXPECT_THAT(lustre_targets(layout({300, 2, 300})), ElementsAre(2, 300));
  EXPECT_THAT(lustre_targets(layout({5}, "flash")), ElementsAre(5));
}

TEST(StorageTargets, OfAComponentWithoutObjectsDoNotCount) {
  EXPECT_THAT(lustre_targets(composite({layout({4}), ""})), ElementsAre(4));
  EXPECT_THAT(lustre_targets(composite({layout({4}), layout({4, 9}, "disk")})), ElementsAre(4, 9));
  EXPECT_THAT(lustre_targets(composite({""})), IsEmpty());
}

TEST(StorageTargets, OfAReleasedFileAreNotThere) {
  EXPECT_THAT(lustre_targets(layout({4}, "", 0x80000001)), IsEmpty());
}

TEST(StorageTargets, AreNotGuessedFromWhatEndsTooEarly) {
  for (const std::string& whole : {layout({7, 8}), layout({7}, "flash"), composite({layout({4}), layout({5})})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(lustre_targets(whole.substr(0, size)), IsEmpty()) << size << " of " << whole.size();
    }
  }
  EXPECT_THAT(lustre_targets(std::string(64, '\xff')), IsEmpty());
}

TEST(StorageTargets, HaveTheNamesOfTheirFileSystem) {
  EXPECT_EQ(storage_target_name(26, "lustre"), "OST001a");
  EXPECT_EQ(storage_target_name(26, "beegfs"), "26");
}

TEST(StorageTargets, AreUnknownElsewhere) {
  EXPECT_EQ(storage_target_of("/", "ext4"), unknown_target);
  EXPECT_EQ(storage_target_of("/", "lustre"), unknown_target) << "the attribute is not there";
  EXPECT_EQ(storage_target_of("/", "beegfs"), unknown_target) << "the call is not there";
}

}  // namespace
}  // namespace leadline::storage
