// SPDX-License-Identifier: Apache-2.0
// A bare ping-pong of libfabric's tagged messages between two bound processes.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <string.h>

#include "library_ping_pong.h"

enum { queue_entries = 8192, at_once = 16, max_address_bytes = 256, tag = 1 };

struct way {
  struct fi_info* info;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* addresses;
  struct fid_cq* completions;
  struct fid_ep* endpoint;
  struct fid_mr *out_region, *in_region;
  void *out_descriptor, *in_descriptor;
  fi_addr_t peer;
  char *out, *in;
  size_t size_bytes;
};

/// The library has the context to itself, so it stands first.
struct request {
  struct fi_context2 context;
  int is_under_way;
};

static __attribute__((noinline, noreturn)) void fail(const char* call, ssize_t code) {
  fprintf(stderr, "%s: %s\n", call, fi_strerror((int)-code));
  exit(4);
}

static inline void check(const char* call, ssize_t code) {
  if (code < 0) fail(call, code);
}

static inline void progress(struct way* way) {
  struct fi_cq_tagged_entry entries[at_once];
  const ssize_t num = fi_cq_read(way->completions, entries, at_once);
  if (num == -FI_EAGAIN) return;
  check("fi_cq_read", num);
  for (ssize_t i = 0; i < num; ++i) ((struct request*)entries[i].op_context)->is_under_way = 0;
}

static inline void await(struct way* way, const struct request* request) {
  while (request->is_under_way) progress(way);
}

/// The library takes a small message along at once: no completion, the buffer is free again.
static inline void inject_message(struct way* way) {
  ssize_t code;
  while ((code = fi_tinject(way->endpoint, way->out, way->size_bytes, way->peer, tag)) == -FI_EAGAIN) progress(way);
  check("fi_tinject", code);
}

static inline void send_message(struct way* way) {
  if (way->size_bytes <= way->info->tx_attr->inject_size) {
    inject_message(way);
    return;
  }
  struct request request;
  request.is_under_way = 1;
  ssize_t code;
  while ((code = fi_tsend(way->endpoint, way->out, way->size_bytes, way->out_descriptor, way->peer, tag,
                          &request.context)) == -FI_EAGAIN) {
    progress(way);
  }
  check("fi_tsend", code);
  await(way, &request);
}

static inline void receive_message(struct way* way) {
  struct request request;
  request.is_under_way = 1;
  ssize_t code;
  while ((code = fi_trecv(way->endpoint, way->in, way->size_bytes, way->in_descriptor, way->peer, tag, 0,
                          &request.context)) == -FI_EAGAIN) {
    progress(way);
  }
  check("fi_trecv", code);
  await(way, &request);
}

static struct fi_info* provider_named(const char* name) {
  struct fi_info *hints = fi_allocinfo(), *info = NULL;
  if (hints == NULL) die("fi_allocinfo");
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->fabric_attr->prov_name = strdup(name);
  check("fi_getinfo", fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info));
  fi_freeinfo(hints);
  return info;
}

static void open_endpoint(struct way* way, const char* provider) {
  way->info = provider_named(provider);
  check("fi_fabric", fi_fabric(way->info->fabric_attr, &way->fabric, NULL));
  check("fi_domain", fi_domain(way->fabric, way->info, &way->domain, NULL));
  check("fi_endpoint", fi_endpoint(way->domain, way->info, &way->endpoint, NULL));
  const enum fi_av_type type = way->info->domain_attr->av_type;
  struct fi_av_attr of_addresses = {.type = type == FI_AV_UNSPEC ? FI_AV_TABLE : type};
  check("fi_av_open", fi_av_open(way->domain, &of_addresses, &way->addresses, NULL));
  struct fi_cq_attr of_queue = {.format = FI_CQ_FORMAT_TAGGED, .size = queue_entries};
  check("fi_cq_open", fi_cq_open(way->domain, &of_queue, &way->completions, NULL));
  check("fi_ep_bind", fi_ep_bind(way->endpoint, &way->addresses->fid, 0));
  check("fi_ep_bind", fi_ep_bind(way->endpoint, &way->completions->fid, FI_TRANSMIT | FI_RECV));
  check("fi_enable", fi_enable(way->endpoint));
}

/// Where the provider wants that.
static void register_buffers(struct way* way) {
  if ((way->info->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return;
  check("fi_mr_reg", fi_mr_reg(way->domain, way->out, way->size_bytes, FI_SEND, 0, 1, 0, &way->out_region, NULL));
  check("fi_mr_reg", fi_mr_reg(way->domain, way->in, way->size_bytes, FI_RECV, 0, 2, 0, &way->in_region, NULL));
  way->out_descriptor = fi_mr_desc(way->out_region);
  way->in_descriptor = fi_mr_desc(way->in_region);
}

static void meet(struct way* way, int fd) {
  char own[max_address_bytes] = {0}, other[max_address_bytes];
  size_t size = sizeof own;
  check("fi_getname", fi_getname(&way->endpoint->fid, own, &size));
  swap_bytes(fd, own, other, sizeof own);
  if (fi_av_insert(way->addresses, other, 1, &way->peer, 0, NULL) != 1) fail("fi_av_insert", -FI_EINVAL);
}

static void open_way(struct way* way, size_t size_bytes, int rank, int fd, char** words) {
  (void)rank;
  way->size_bytes = size_bytes;
  way->out = filled_buffer(size_bytes);
  way->in = filled_buffer(size_bytes);
  open_endpoint(way, words[0]);
  register_buffers(way);
  meet(way, fd);
}

static void close_way(struct way* way) {
  if (way->out_region != NULL) fi_close(&way->out_region->fid);
  if (way->in_region != NULL) fi_close(&way->in_region->fid);
  fi_close(&way->endpoint->fid);
  fi_close(&way->completions->fid);
  fi_close(&way->addresses->fid);
  fi_close(&way->domain->fid);
  fi_close(&way->fabric->fid);
  fi_freeinfo(way->info);
  free(way->in);
  free(way->out);
}

int main(int argc, char** argv) {
  struct way way = {0};
  return run_ping_pong(&way, argc, argv, 1, " PROVIDER");
}
