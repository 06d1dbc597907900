// SPDX-License-Identifier: Apache-2.0
// What both bare loops share: arguments, page-aligned buffers, batches and the median that is printed.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

static inline uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// Page-aligned, and every byte touched.
static inline char* filled_buffer(size_t size_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t rounded = (size_bytes + page - 1) / page * page;
  char* const data = aligned_alloc(page, rounded);
  if (data == NULL) exit(3);
  for (size_t i = 0; i < rounded; ++i) data[i] = (char)i;
  return data;
}

/// Earlier batches get the surplus.
static inline int messages_of_batch(const struct arguments* of, int batch) {
  return of->num_messages / of->num_batches + (batch < of->num_messages % of->num_batches ? 1 : 0);
}

static inline int is_greater(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static inline double median_of(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, is_greater);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
