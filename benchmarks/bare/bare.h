// SPDX-License-Identifier: Apache-2.0
// What the bare programs share: the clock, page-aligned buffers, and the median that is printed.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

static inline int is_greater(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static inline double median_of(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, is_greater);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
