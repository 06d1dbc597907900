// SPDX-License-Identifier: Apache-2.0
// A bare ping-pong over a reliable connection of InfiniBand verbs between two bound processes.
#include <infiniband/verbs.h>
#include <string.h>

#include "library_ping_pong.h"

enum {
  queue_entries = 16384,
  at_once = 16,
  wanted_sends = 128,
  wanted_receives = 256,
  wanted_inline_bytes = 220,
  ack_timeout = 16,
  for_ever = 7
};

struct way {
  struct ibv_context* context;
  struct ibv_port_attr port;
  struct ibv_pd* domain;
  struct ibv_cq* queue;
  struct ibv_qp* pair;
  struct ibv_mr *out_region, *in_region;
  struct ibv_qp_cap room;
  char *out, *in;
  uint32_t size_bytes;
  uint64_t num_posted, num_asked, num_arrived;
  uint32_t num_silent, num_unreaped;
};

struct address {
  uint32_t pair;
  uint16_t lid;
  union ibv_gid gid;
};

static inline void check(const char* call, int problem) {
  if (problem != 0) die(call);
}

static inline void* made(const char* call, void* object) {
  if (object == NULL) die(call);
  return object;
}

static __attribute__((noinline, noreturn)) void fail(const struct ibv_wc* done) {
  fprintf(stderr, "a message: %s\n", ibv_wc_status_str(done->status));
  exit(4);
}

static inline void progress(struct way* way) {
  struct ibv_wc done[at_once];
  const int num = ibv_poll_cq(way->queue, at_once, done);
  if (num < 0) die("ibv_poll_cq");
  for (int i = 0; i < num; ++i) {
    if (done[i].status != IBV_WC_SUCCESS) fail(&done[i]);
    if ((done[i].opcode & IBV_WC_RECV) != 0) {
      ++way->num_arrived;
    } else {
      way->num_unreaped -= (uint32_t)done[i].wr_id;
    }
  }
}

static inline void post_receive(struct way* way) {
  struct ibv_sge into = {(uintptr_t)way->in, way->size_bytes, way->in_region->lkey};
  struct ibv_recv_wr request = {.sg_list = &into, .num_sge = 1}, *bad;
  check("ibv_post_recv", ibv_post_recv(way->pair, &request, &bad));
  ++way->num_posted;
}

/// The adapter copies small messages at once, and tells of some in a row that they are done; of others each.
static inline void send_message(struct way* way) {
  while (way->num_unreaped >= way->room.max_send_wr) progress(way);
  const int is_copied = way->size_bytes <= way->room.max_inline_data;
  ++way->num_silent;
  const int is_told = !is_copied || way->num_silent == way->room.max_send_wr / 2;
  struct ibv_sge from = {(uintptr_t)way->out, way->size_bytes, way->out_region->lkey};
  struct ibv_send_wr request = {.wr_id = way->num_silent, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
  request.send_flags = (is_copied ? IBV_SEND_INLINE : 0) | (is_told ? IBV_SEND_SIGNALED : 0);
  check("ibv_post_send", ibv_post_send(way->pair, &request, &bad));
  ++way->num_unreaped;
  if (is_told) way->num_silent = 0;
  while (!is_copied && way->num_unreaped > 0) progress(way);
}

static inline void receive_message(struct way* way) {
  if (way->num_posted - way->num_arrived < way->room.max_recv_wr) post_receive(way);
  ++way->num_asked;
  while (way->num_arrived < way->num_asked) progress(way);
}

static struct ibv_context* device_named(const char* name) {
  struct ibv_device** const all = made("ibv_get_device_list", ibv_get_device_list(NULL));
  struct ibv_context* context = NULL;
  for (struct ibv_device** one = all; *one != NULL && context == NULL; ++one) {
    if (strcmp(ibv_get_device_name(*one), name) == 0) context = ibv_open_device(*one);
  }
  ibv_free_device_list(all);
  return made(name, context);
}

static void open_device(struct way* way, const char* name) {
  way->context = device_named(name);
  check("ibv_query_port", ibv_query_port(way->context, 1, &way->port));
  way->domain = made("ibv_alloc_pd", ibv_alloc_pd(way->context));
  way->queue = made("ibv_create_cq", ibv_create_cq(way->context, queue_entries, NULL, NULL, 0));
  struct ibv_qp_init_attr wanted = {.send_cq = way->queue, .recv_cq = way->queue, .qp_type = IBV_QPT_RC};
  wanted.cap = (struct ibv_qp_cap){wanted_sends, wanted_receives, 1, 1, wanted_inline_bytes};
  way->pair = made("ibv_create_qp", ibv_create_qp(way->domain, &wanted));
  way->room = wanted.cap;
  if (way->room.max_send_wr > wanted_sends) way->room.max_send_wr = wanted_sends;
  if (way->room.max_recv_wr > wanted_receives) way->room.max_recv_wr = wanted_receives;
  way->out_region = made("ibv_reg_mr", ibv_reg_mr(way->domain, way->out, way->size_bytes, IBV_ACCESS_LOCAL_WRITE));
  way->in_region = made("ibv_reg_mr", ibv_reg_mr(way->domain, way->in, way->size_bytes, IBV_ACCESS_LOCAL_WRITE));
}

/// From a new queue pair to one that carries messages, its receives posted.
static void meet(struct way* way, int fd, int gid_index) {
  struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  check("ibv_modify_qp",
        ibv_modify_qp(way->pair, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  struct address own = {.pair = way->pair->qp_num, .lid = way->port.lid}, other;
  check("ibv_query_gid", ibv_query_gid(way->context, 1, gid_index, &own.gid));
  swap_bytes(fd, &own, &other, sizeof own);

  struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTR, .path_mtu = way->port.active_mtu, .dest_qp_num = other.pair};
  ready.min_rnr_timer = 1;
  ready.ah_attr = (struct ibv_ah_attr){.is_global = 1, .dlid = other.lid, .port_num = 1};
  ready.ah_attr.grh = (struct ibv_global_route){.dgid = other.gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64};
  check("ibv_modify_qp", ibv_modify_qp(way->pair, &ready,
                                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  for (uint32_t i = 0; i < way->room.max_recv_wr; ++i) post_receive(way);
  struct ibv_qp_attr sending = {
      .qp_state = IBV_QPS_RTS, .timeout = ack_timeout, .retry_cnt = for_ever, .rnr_retry = for_ever};
  check("ibv_modify_qp", ibv_modify_qp(way->pair, &sending,
                                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
  swap_bytes(fd, &own, &other, 1);  // both have come so far
}

static void open_way(struct way* way, size_t size_bytes, int rank, int fd, char** words) {
  way->size_bytes = (uint32_t)size_bytes;
  way->out = filled_buffer(size_bytes);
  way->in = filled_buffer(size_bytes);
  open_device(way, words[rank]);
  meet(way, fd, atoi(words[2]));
}

static void close_way(struct way* way) {
  ibv_destroy_qp(way->pair);
  ibv_dereg_mr(way->in_region);
  ibv_dereg_mr(way->out_region);
  ibv_destroy_cq(way->queue);
  ibv_dealloc_pd(way->domain);
  ibv_close_device(way->context);
  free(way->in);
  free(way->out);
}

int main(int argc, char** argv) {
  struct way way = {0};
  return run_ping_pong(&way, argc, argv, 3, " DEVICE DEVICE GID_INDEX");
}
