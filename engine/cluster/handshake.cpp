// SPDX-License-Identifier: Apache-2.0
// Hello, answer and their tokens: keyed hashes (BLAKE2b of libsodium) of purpose, caller and called.
#include "cluster/handshake.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cluster/bytes.hpp"

namespace leadline::cluster {
namespace {

// Changes with the format of anything that passes on the control plane, so that different builds do not talk.
constexpr std::string_view magic = "leadln01";

std::string body_of(const Hello& hello) {
  std::string body(magic);
  append(body, static_cast<std::uint32_t>(hello.purpose));
  append(body, hello.from);
  append(body, hello.to);
  return body;
}

bool are_equal(const Answer& left, const char* right) { return sodium_memcmp(left.data(), right, left.size()) == 0; }

}  // namespace

RunKey::RunKey(std::string_view secret) {
  crypto_generichash(key_.data(), key_.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                     nullptr, 0);
}

Answer RunKey::token(Side side, const Hello& hello) const {
  std::string said = body_of(hello);
  append(said, static_cast<std::uint8_t>(side));
  Answer token{};
  crypto_generichash(reinterpret_cast<unsigned char*>(token.data()), token.size(),
                     reinterpret_cast<const unsigned char*>(said.data()), said.size(), key_.data(), key_.size());
  return token;
}

SealedHello RunKey::seal(const Hello& hello) const {
  SealedHello sealed{};
  const std::string body = body_of(hello);
  const Answer proof = token(Side::caller, hello);
  std::copy(proof.begin(), proof.end(), std::copy(body.begin(), body.end(), sealed.begin()));
  return sealed;
}

std::optional<Hello> RunKey::open(const SealedHello& bytes) const {
  Reader reader(std::string_view(bytes.data(), bytes.size()));
  if (reader.text_of(magic.size()) != magic) return std::nullopt;
  const auto purpose = reader.number<std::uint32_t>();
  if (purpose < 1 || purpose > 3) return std::nullopt;
  Hello hello;
  hello.purpose = static_cast<Purpose>(purpose);
  hello.from = reader.number<std::uint32_t>();
  hello.to = reader.number<std::uint32_t>();
  if (!are_equal(token(Side::caller, hello), reader.rest().data())) return std::nullopt;
  return hello;
}

Answer RunKey::answer_to(const Hello& hello) const { return token(Side::called, hello); }

bool RunKey::is_answer_to(const Hello& hello, const Answer& bytes) const {
  return are_equal(token(Side::called, hello), bytes.data());
}

}  // namespace leadline::cluster
