// SPDX-License-Identifier: Apache-2.0
// What both bare ping-pongs share: arguments and batches.
#pragma once

#include "bare.h"

struct arguments {
  int size_bytes, num_messages, num_warmup, num_batches;
};

static inline struct arguments arguments_of(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s SIZE_BYTES MESSAGES WARMUP BATCHES\n", argv[0]);
    exit(2);
  }
  return (struct arguments){atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
}

/// Earlier batches get the surplus.
static inline int messages_of_batch(const struct arguments* of, int batch) {
  return of->num_messages / of->num_batches + (batch < of->num_messages % of->num_batches ? 1 : 0);
}
