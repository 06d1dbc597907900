// SPDX-License-Identifier: Apache-2.0
// A cable between two network namespaces that takes its time and loses frames: two TAP devices and this process.
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// On the way in one direction; what comes while it is full is lost, as on a switch.
enum { most_frames = 4096, longest_frame = 9216, most_at_once = 64 };

struct frame {
  uint64_t due_ns;
  ssize_t length;
  char bytes[longest_frame];
};

struct direction {
  int from, to;
  struct frame* frames;  // a ring
  unsigned first, num;
};

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

// The device stays where it was made when this process goes on to another namespace.
static int tap(const char* namespace, const char* name) {
  const int place = open(namespace, O_RDONLY | O_CLOEXEC);
  if (place < 0 || setns(place, CLONE_NEWNET) != 0) fail(namespace);
  close(place);
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) fail("/dev/net/tun");
  struct ifreq request;
  memset(&request, 0, sizeof request);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl(device, TUNSETIFF, &request) != 0) fail(name);
  return device;
}

static void take(struct direction* way, uint64_t delay_ns, double loss) {
  for (int count = 0; count < most_at_once; ++count) {
    struct frame* const frame = &way->frames[(way->first + way->num) % most_frames];
    static char lost[longest_frame];
    const int is_lost = way->num == most_frames || drand48() < loss;
    const ssize_t length = read(way->from, is_lost ? lost : frame->bytes, longest_frame);
    if (length <= 0) return;
    if (is_lost) continue;
    frame->length = length;
    frame->due_ns = now_ns() + delay_ns;
    ++way->num;
  }
}

// Frames leave in the order in which they came. Returns when the next one is due.
static uint64_t give(struct direction* way) {
  for (; way->num > 0; --way->num, way->first = (way->first + 1) % most_frames) {
    const struct frame* const frame = &way->frames[way->first];
    if (frame->due_ns > now_ns()) return frame->due_ns;
    if (write(way->to, frame->bytes, (size_t)frame->length) < 0) continue;  // a cable does not complain
  }
  return UINT64_MAX;
}

static _Noreturn void carry(struct direction ways[2], uint64_t delay_ns, double loss) {
  struct pollfd readable[2] = {{ways[0].from, POLLIN, 0}, {ways[1].from, POLLIN, 0}};
  for (;;) {
    uint64_t next_ns = UINT64_MAX;
    for (int way = 0; way < 2; ++way) {
      const uint64_t due_ns = give(&ways[way]);
      if (due_ns < next_ns) next_ns = due_ns;
    }
    const uint64_t now = now_ns();
    const uint64_t left_ns = next_ns > now ? next_ns - now : 0;
    const struct timespec patience = {(time_t)(left_ns / 1000000000U), (long)(left_ns % 1000000000U)};
    if (ppoll(readable, 2, next_ns == UINT64_MAX ? NULL : &patience, NULL) < 0) fail("ppoll");
    for (int way = 0; way < 2; ++way) {
      if (readable[way].revents != 0) take(&ways[way], delay_ns, loss);
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: %s NAMESPACE DEVICE NAMESPACE DEVICE DELAY_US LOSS\n", argv[0]);
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, 9);      // no cable outlives the test that laid it
  prctl(PR_SET_TIMERSLACK, 1000);  // ns
  const int a = tap(argv[1], argv[2]), b = tap(argv[3], argv[4]);
  struct direction ways[2] = {{a, b, NULL, 0, 0}, {b, a, NULL, 0, 0}};
  for (int way = 0; way < 2; ++way) {
    ways[way].frames = malloc(most_frames * sizeof(struct frame));
    if (ways[way].frames == NULL) fail("malloc");
  }
  puts("laid");
  fflush(stdout);
  carry(ways, (uint64_t)(1000 * atof(argv[5])), atof(argv[6]));
}
