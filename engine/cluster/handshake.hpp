// SPDX-License-Identifier: Apache-2.0
// The first bytes on every connection: who calls whom for what, and a proof of knowing the secret of the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leadline::cluster {

enum class Purpose : std::uint8_t {
  collectives = 1,  ///< tree edge, child to parent
  watch = 2,        ///< tree edge, child to parent
  peer = 3,         ///< Rendezvous::meet, lower rank to higher
};

struct Hello {
  Purpose purpose = Purpose::peer;
  std::uint32_t from = 0, to = 0;
};

inline constexpr std::size_t token_size_bytes = 32;
inline constexpr std::size_t hello_size_bytes = 20 + token_size_bytes;
using SealedHello = std::array<char, hello_size_bytes>;
using Answer = std::array<char, token_size_bytes>;

/// What the secret is good for. The one who calls sends a sealed hello, the one who is called sends the answer
/// and only then counts the connection as made. Who does not know the secret can make neither.
class RunKey {
 public:
  explicit RunKey(std::string_view secret);

  SealedHello seal(const Hello& hello) const;
  /// Nothing where the bytes are not a hello of this run; takes the same time for every wrong token.
  std::optional<Hello> open(const SealedHello& bytes) const;
  Answer answer_to(const Hello& hello) const;
  bool is_answer_to(const Hello& hello, const Answer& bytes) const;

 private:
  enum class Side : std::uint8_t { caller = 1, called = 2 };
  Answer token(Side side, const Hello& hello) const;
  std::array<unsigned char, 32> key_{};
};

}  // namespace leadline::cluster
