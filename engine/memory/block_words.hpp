// SPDX-License-Identifier: Apache-2.0
// The words behind a block's header: pseudo-random numbers that follow from where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leadline::memory {

/// Which words: those of one file of one run. A word follows from its number and from this; no two words whose numbers
/// have the same number / 2^31 are the same, and none consists of two equal halves.
struct WordsKey {
  std::uint64_t run = 0;
  std::uint32_t file = 0;
};

/// Fills `out` (any alignment, any length: the last word may be cut) with the words from `first_word` on.
void write_words(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word);

/// The same without the instructions that only some processors have.
void write_words_portably(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word);

}  // namespace leadline::memory
