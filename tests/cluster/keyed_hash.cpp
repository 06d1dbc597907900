// SPDX-License-Identifier: Apache-2.0
// Hashes as RFC 7693 and other implementations (Python's hashlib) have them, random bytes, comparison; and the secret
// that they make.
#include "cluster/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cluster/gathered_membership.hpp"

namespace leadline::cluster {
namespace {

std::string hex_of(const std::string& bytes) {
  std::string digits;
  for (const char byte : bytes) {
    for (const int shift : {4, 0}) digits += "0123456789abcdef"[(static_cast<unsigned char>(byte) >> shift) & 15];
  }
  return digits;
}

/// 0, 1, 2 ...
std::string counted_bytes(std::size_t size_bytes) {
  std::string bytes;
  for (std::size_t i = 0; i < size_bytes; ++i) bytes += static_cast<char>(static_cast<unsigned char>(i));
  return bytes;
}

TEST(KeyedHash, is_blake2b) {
  EXPECT_EQ(hex_of(hash_of("abc", 64)),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  EXPECT_EQ(hex_of(hash_of("")), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hex_of(hash_of("", 64, counted_bytes(64))),
            "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
            "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
}

TEST(KeyedHash, whole_blocks_and_what_is_left_of_them_count) {
  EXPECT_EQ(hex_of(hash_of(counted_bytes(128), 32, "key")),
            "e32604f46fa2c57bcf86282234be0b821b98fe58b65ce24b926bf44bcd934194");
  EXPECT_EQ(hex_of(hash_of(counted_bytes(129))), "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9");
  EXPECT_EQ(hex_of(hash_of(counted_bytes(256), 16)), "c2472c0ac37a8dbdb25f05ada0d82643");
  EXPECT_EQ(hex_of(hash_of(counted_bytes(300), 32, counted_bytes(32))),
            "7e42c40d4ed1328eab4986dcbd53deb451f389334764d719d8049e870d1dfb2d");
}

TEST(RandomBytes, are_never_the_same) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_bytes(16));
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(random_bytes(1000).size(), 1000U);
  EXPECT_EQ(random_bytes(0), "");
}

TEST(Comparison, finds_a_difference_in_any_byte_and_in_length) {
  const std::string text = counted_bytes(40);
  EXPECT_TRUE(are_equal(text, counted_bytes(40)));
  EXPECT_FALSE(are_equal(text, counted_bytes(39)));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 64);
    EXPECT_FALSE(are_equal(text, other)) << i;
  }
}

/// Alone; everybody can see what it gathers first, the shares of the secret.
class SeenBootstrap final : public Bootstrap {
 public:
  explicit SeenBootstrap(std::string known) : known_(std::move(known)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string launcher() const override { return "test"; }
  std::string_view known_secret() const override { return known_; }
  std::string all_gather(const std::string& own) override {
    return std::exchange(is_first_, false) ? std::string(own.size(), 's') : own;
  }

 private:
  std::string known_;
  bool is_first_ = true;
};

TEST(SecretOfARun, is_not_to_be_had_from_what_was_gathered) {
  const auto secret_with = [](const std::string& known) {
    SeenBootstrap bootstrap(known);
    return std::string(GatheredMembership(bootstrap, {}).secret());
  };
  EXPECT_EQ(secret_with("known to the ranks"), secret_with("known to the ranks"));
  EXPECT_NE(secret_with("known to the ranks"), secret_with("guessed"));
}

}  // namespace
}  // namespace leadline::cluster
