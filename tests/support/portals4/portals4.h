/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the Portals 4 interface that the module portals4 calls, declared anew for a fake library. */
#ifndef LEADLINE_TESTS_PORTALS4_H
#define LEADLINE_TESTS_PORTALS4_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PTL_OK,
  PTL_ARG_INVALID,
  PTL_EQ_DROPPED,
  PTL_EQ_EMPTY,
  PTL_FAIL,
  PTL_IN_USE,
  PTL_LIST_TOO_LONG,
  PTL_NO_INIT,
  PTL_NO_SPACE,
  PTL_PID_IN_USE,
  PTL_PT_FULL
};

enum { PTL_NI_MATCHING = 1, PTL_NI_PHYSICAL = 2 };
enum { PTL_PT_FLOWCTRL = 1 };
enum { PTL_MD_EVENT_SEND_DISABLE = 1 };
enum {
  PTL_ME_OP_PUT = 1 << 0,
  PTL_ME_OP_GET = 1 << 1,
  PTL_ME_USE_ONCE = 1 << 2,
  PTL_ME_MANAGE_LOCAL = 1 << 3,
  PTL_ME_EVENT_LINK_DISABLE = 1 << 4,
  PTL_ME_EVENT_UNLINK_DISABLE = 1 << 5,
  PTL_ME_EVENT_COMM_DISABLE = 1 << 6
};

typedef uint64_t ptl_size_t;
typedef uint32_t ptl_pt_index_t;
typedef uint64_t ptl_match_bits_t;
typedef uint64_t ptl_hdr_data_t;
typedef unsigned int ptl_interface_t;
typedef uint32_t ptl_nid_t;
typedef uint32_t ptl_pid_t;
typedef uint32_t ptl_uid_t;
typedef unsigned char ptl_ni_fail_t;
typedef unsigned char ptl_event_kind_t;
typedef uint32_t ptl_handle_any_t;
typedef ptl_handle_any_t ptl_handle_ni_t, ptl_handle_eq_t, ptl_handle_ct_t, ptl_handle_md_t, ptl_handle_me_t;

#define PTL_IFACE_DEFAULT ((ptl_interface_t)0xffffffff)
#define PTL_PID_ANY ((ptl_pid_t)0xffffffff)
#define PTL_NID_ANY ((ptl_nid_t)0xffffffff)
#define PTL_UID_ANY ((ptl_uid_t)0xffffffff)
#define PTL_PT_ANY ((ptl_pt_index_t)0xffffffff)
#define PTL_CT_NONE ((ptl_handle_ct_t)0xffffffff)

enum {
  PTL_NI_OK,
  PTL_NI_UNDELIVERABLE,
  PTL_NI_DROPPED,
  PTL_NI_PT_DISABLED,
  PTL_NI_PERM_VIOLATION,
  PTL_NI_OP_VIOLATION,
  PTL_NI_NO_MATCH,
  PTL_NI_SEGV
};

enum {
  PTL_EVENT_GET,
  PTL_EVENT_PUT,
  PTL_EVENT_PUT_OVERFLOW,
  PTL_EVENT_REPLY,
  PTL_EVENT_ACK,
  PTL_EVENT_PT_DISABLED,
  PTL_EVENT_AUTO_UNLINK,
  PTL_EVENT_AUTO_FREE,
  PTL_EVENT_SEARCH
};

typedef enum { PTL_PRIORITY_LIST, PTL_OVERFLOW_LIST } ptl_list_t;
typedef enum { PTL_SEARCH_DELETE } ptl_search_op_t;
typedef enum { PTL_ACK_REQ, PTL_NO_ACK_REQ } ptl_ack_req_t;

typedef union {
  struct {
    ptl_nid_t nid;
    ptl_pid_t pid;
  } phys;
} ptl_process_t;

typedef struct {
  int max_entries, max_unexpected_headers, max_mds, max_list_size;
  ptl_size_t max_msg_size;
} ptl_ni_limits_t;

typedef struct {
  void* start;
  ptl_size_t length;
  unsigned int options;
  ptl_handle_eq_t eq_handle;
  ptl_handle_ct_t ct_handle;
} ptl_md_t;

typedef struct {
  void* start;
  ptl_size_t length;
  ptl_handle_ct_t ct_handle;
  ptl_uid_t uid;
  unsigned int options;
  ptl_process_t match_id;
  ptl_match_bits_t match_bits, ignore_bits;
  ptl_size_t min_free;
} ptl_me_t;

typedef struct {
  void *start, *user_ptr;
  ptl_hdr_data_t hdr_data;
  ptl_match_bits_t match_bits;
  ptl_size_t rlength, mlength, remote_offset;
  ptl_process_t initiator;
  ptl_pt_index_t pt_index;
  ptl_event_kind_t type;
  ptl_ni_fail_t ni_fail_type;
} ptl_event_t;

int PtlInit(void);
void PtlFini(void);
int PtlNIInit(ptl_interface_t iface, unsigned int options, ptl_pid_t pid, const ptl_ni_limits_t* desired,
              ptl_ni_limits_t* actual, ptl_handle_ni_t* ni);
int PtlNIFini(ptl_handle_ni_t ni);
int PtlGetPhysId(ptl_handle_ni_t ni, ptl_process_t* id);
int PtlEQAlloc(ptl_handle_ni_t ni, ptl_size_t count, ptl_handle_eq_t* eq);
int PtlEQFree(ptl_handle_eq_t eq);
int PtlEQGet(ptl_handle_eq_t eq, ptl_event_t* event);
int PtlPTAlloc(ptl_handle_ni_t ni, unsigned int options, ptl_handle_eq_t eq, ptl_pt_index_t wanted,
               ptl_pt_index_t* index);
int PtlPTFree(ptl_handle_ni_t ni, ptl_pt_index_t index);
int PtlPTEnable(ptl_handle_ni_t ni, ptl_pt_index_t index);
int PtlMDBind(ptl_handle_ni_t ni, const ptl_md_t* md, ptl_handle_md_t* handle);
int PtlMDRelease(ptl_handle_md_t md);
int PtlMEAppend(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_me_t* me, ptl_list_t list, void* user_ptr,
                ptl_handle_me_t* handle);
int PtlMEUnlink(ptl_handle_me_t me);
int PtlMESearch(ptl_handle_ni_t ni, ptl_pt_index_t index, const ptl_me_t* me, ptl_search_op_t op, void* user_ptr);
int PtlPut(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack, ptl_process_t target,
           ptl_pt_index_t index, ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr,
           ptl_hdr_data_t hdr_data);
int PtlGet(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target, ptl_pt_index_t index,
           ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr);

#ifdef __cplusplus
}
#endif

#endif
