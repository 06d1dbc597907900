// SPDX-License-Identifier: Apache-2.0
// The words for how blocks are made, looked at, and wrong.
#include "memory/block_pattern.hpp"

namespace leadline::memory {

const char* name_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::blocks:
      return "blocks";
    case BlockKind::doubles:
      return "doubles";
  }
  return "unknown";
}

const char* name_of(Touch touch) {
  switch (touch) {
    case Touch::never:
      return "never";
    case Touch::object:
      return "object";
    case Touch::page:
      return "page";
    case Touch::full:
      return "full";
  }
  return "unknown";
}

const char* name_of(Check check) {
  switch (check) {
    case Check::none:
      return "none";
    case Check::first:
      return "first";
    case Check::two:
      return "two";
    case Check::all:
      return "all";
  }
  return "unknown";
}

const char* name_of(MismatchKind kind) {
  switch (kind) {
    case MismatchKind::zeros:
      return "zeros";
    case MismatchKind::not_read:
      return "not_read";
    case MismatchKind::truncated:
      return "truncated";
    case MismatchKind::other_run:
      return "other_run";
    case MismatchKind::other_rank:
      return "other_rank";
    case MismatchKind::other_file:
      return "other_file";
    case MismatchKind::shifted:
      return "shifted";
    case MismatchKind::torn:
      return "torn";
    case MismatchKind::bit_flips:
      return "bit_flips";
    case MismatchKind::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace leadline::memory
