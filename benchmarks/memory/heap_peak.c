// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: the most bytes of heap that each of its processes ever held, in $HEAP_PEAK_FOLDER/PID.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// The C library's own names: no look-up, which would allocate itself.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

struct heap {
  int64_t live_bytes, peak_bytes;
};

static struct heap before_start;
static struct heap* heap = &before_start;  // lies in a file, so that it outlives whatever ends the process

static void into_file(void) {
  const char* const folder = getenv("HEAP_PEAK_FOLDER");
  char path[4096];
  if (folder == NULL || snprintf(path, sizeof path, "%s/%d", folder, (int)getpid()) >= (int)sizeof path) return;
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  void* const place = ftruncate(fd, sizeof *heap) == 0
                          ? mmap(NULL, sizeof *heap, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                          : MAP_FAILED;
  close(fd);
  if (place == MAP_FAILED) return;
  struct heap* const own = place;
  *own = *heap;
  own->peak_bytes = own->live_bytes;
  heap = own;
}

__attribute__((constructor)) static void start(void) {
  into_file();
  pthread_atfork(NULL, NULL, &into_file);
}

static void count(int64_t bytes) {
  const int64_t live = __atomic_add_fetch(&heap->live_bytes, bytes, __ATOMIC_RELAXED);
  int64_t peak = __atomic_load_n(&heap->peak_bytes, __ATOMIC_RELAXED);
  while (live > peak &&
         !__atomic_compare_exchange_n(&heap->peak_bytes, &peak, live, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

static void* counted(void* data) {
  if (data != NULL) count((int64_t)malloc_usable_size(data));
  return data;
}

void* malloc(size_t size) { return counted(__libc_malloc(size)); }
void* calloc(size_t num, size_t size) { return counted(__libc_calloc(num, size)); }
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** data, size_t alignment, size_t size) {
  void* const got = memalign(alignment, size);
  if (got == NULL) return ENOMEM;
  *data = got;
  return 0;
}

void* realloc(void* data, size_t size) {
  const int64_t before = data == NULL ? 0 : (int64_t)malloc_usable_size(data);
  void* const got = __libc_realloc(data, size);
  // Where it had to move, both places were held for a moment.
  const int has_moved = got != NULL && got != data;
  if (has_moved) counted(got);
  if (has_moved || (got == NULL && size == 0)) count(-before);
  if (got != NULL && !has_moved) count((int64_t)malloc_usable_size(got) - before);
  return got;
}

void free(void* data) {
  if (data == NULL) return;
  count(-(int64_t)malloc_usable_size(data));
  __libc_free(data);
}
