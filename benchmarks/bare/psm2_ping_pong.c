// SPDX-License-Identifier: Apache-2.0
// A bare ping-pong of PSM2's matched queues between two bound processes.
#include <psm2.h>
#include <psm2_mq.h>
#include <string.h>

#include "library_ping_pong.h"

struct way {
  psm2_ep_t endpoint;
  psm2_epid_t id;
  psm2_mq_t queue;
  psm2_epaddr_t peer;
  psm2_mq_tag_t tag, every_bit;
  char *out, *in;
  uint32_t size_bytes;
};

static __attribute__((noinline, noreturn)) void fail(const char* call, psm2_error_t code) {
  fprintf(stderr, "%s: %s\n", call, psm2_error_get_string(code));
  exit(4);
}

static inline void check(const char* call, psm2_error_t code) {
  if (code != PSM2_OK) fail(call, code);
}

static inline void progress(struct way* way) {
  const psm2_error_t code = psm2_poll(way->endpoint);
  if (code != PSM2_OK_NO_PROGRESS) check("psm2_poll", code);
}

static inline void await(struct way* way, psm2_mq_req_t request) {
  psm2_mq_status2_t status;
  psm2_error_t code;
  while ((code = psm2_mq_test2(&request, &status)) == PSM2_MQ_NO_COMPLETIONS) progress(way);
  check("psm2_mq_test2", code);
  check("a message", status.error_code);
}

static inline void send_message(struct way* way) {
  psm2_mq_req_t request;
  check("psm2_mq_isend2",
        psm2_mq_isend2(way->queue, way->peer, 0, &way->tag, way->out, way->size_bytes, NULL, &request));
  await(way, request);
}

static inline void receive_message(struct way* way) {
  psm2_mq_req_t request;
  check("psm2_mq_irecv2",
        psm2_mq_irecv2(way->queue, way->peer, &way->tag, &way->every_bit, 0, way->in, way->size_bytes, NULL, &request));
  await(way, request);
}

static void open_endpoint(struct way* way) {
  int major = PSM2_VERNO_MAJOR, minor = PSM2_VERNO_MINOR;
  check("psm2_error_register_handler", psm2_error_register_handler(NULL, PSM2_ERRHANDLER_NO_HANDLER));
  check("psm2_init", psm2_init(&major, &minor));
  struct psm2_ep_open_opts options;
  check("psm2_ep_open_opts_get_defaults", psm2_ep_open_opts_get_defaults(&options));
  psm2_uuid_t job;
  memset(job, 'b', sizeof job);
  check("psm2_ep_open", psm2_ep_open(job, &options, &way->endpoint, &way->id));
  check("psm2_mq_init", psm2_mq_init(way->endpoint, PSM2_MQ_ORDERMASK_ALL, NULL, 0, &way->queue));
}

static void meet(struct way* way, int fd) {
  psm2_epid_t other;
  swap_bytes(fd, &way->id, &other, sizeof other);
  psm2_error_t error = PSM2_OK;
  check("psm2_ep_connect", psm2_ep_connect(way->endpoint, 1, &other, NULL, &error, &way->peer, (int64_t)10e9));
  check("psm2_ep_connect", error);
}

static void open_way(struct way* way, size_t size_bytes, int rank, int fd, char** words) {
  (void)rank;
  (void)words;
  way->size_bytes = (uint32_t)size_bytes;
  way->tag.tag1 = 1;
  memset(&way->every_bit, 0xff, sizeof way->every_bit);
  way->out = filled_buffer(size_bytes);
  way->in = filled_buffer(size_bytes);
  open_endpoint(way);
  meet(way, fd);
}

static void close_way(struct way* way) {
  psm2_mq_finalize(way->queue);
  psm2_ep_close(way->endpoint, PSM2_EP_CLOSE_GRACEFUL, (int64_t)1e9);
  free(way->in);
  free(way->out);
}

int main(int argc, char** argv) {
  struct way way = {0};
  return run_ping_pong(&way, argc, argv, 0, "");
}
