// SPDX-License-Identifier: Apache-2.0
// The calls of the fake Portals 4: everything happens inside of them, in the thread that calls.
#include <portals4.h>

#include <memory>

#include "process.hpp"

using leadline::fake_portals4::Header;
using leadline::fake_portals4::Kind;
using leadline::fake_portals4::Process;

namespace {

std::unique_ptr<Process>& process() {
  static std::unique_ptr<Process> own;
  return own;
}

}  // namespace

int PtlInit() { return PTL_OK; }
void PtlFini() {}

int PtlNIInit(ptl_interface_t, unsigned, ptl_pid_t, const ptl_ni_limits_t*, ptl_ni_limits_t* actual,
              ptl_handle_ni_t* ni) {
  if (process()) return PTL_IN_USE;
  process() = std::make_unique<Process>();
  if (!process()->is_open()) {
    process().reset();
    return PTL_FAIL;
  }
  *actual = leadline::fake_portals4::limits;
  *ni = 0;
  return PTL_OK;
}

int PtlNIFini(ptl_handle_ni_t) {
  process().reset();
  return PTL_OK;
}

int PtlGetPhysId(ptl_handle_ni_t, ptl_process_t* id) {
  *id = process()->id();
  return PTL_OK;
}

int PtlEQAlloc(ptl_handle_ni_t, ptl_size_t count, ptl_handle_eq_t* eq) {
  *eq = process()->add_queue(count);
  return PTL_OK;
}

int PtlEQFree(ptl_handle_eq_t) { return PTL_OK; }

int PtlEQGet(ptl_handle_eq_t eq, ptl_event_t* event) {
  process()->move();
  return process()->take(eq, *event);
}

int PtlPTAlloc(ptl_handle_ni_t, unsigned options, ptl_handle_eq_t eq, ptl_pt_index_t, ptl_pt_index_t* index) {
  *index = process()->add_table((options & PTL_PT_FLOWCTRL) != 0, eq);
  return PTL_OK;
}

int PtlPTFree(ptl_handle_ni_t, ptl_pt_index_t index) { return process()->remove_table(index); }

int PtlPTEnable(ptl_handle_ni_t, ptl_pt_index_t index) {
  process()->enable(index);
  return PTL_OK;
}

int PtlMDBind(ptl_handle_ni_t, const ptl_md_t* md, ptl_handle_md_t* handle) { return process()->bind(*md, *handle); }

int PtlMDRelease(ptl_handle_md_t md) { return process()->release(md); }

int PtlMEAppend(ptl_handle_ni_t, ptl_pt_index_t index, const ptl_me_t* me, ptl_list_t list, void* user_ptr,
                ptl_handle_me_t* handle) {
  return process()->append(index, *me, list, user_ptr, *handle);
}

int PtlMEUnlink(ptl_handle_me_t me) { return process()->unlink(me); }

int PtlMESearch(ptl_handle_ni_t, ptl_pt_index_t index, const ptl_me_t* me, ptl_search_op_t, void* user_ptr) {
  process()->search(index, *me, user_ptr);
  return PTL_OK;
}

int PtlPut(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack, ptl_process_t target,
           ptl_pt_index_t index, ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr,
           ptl_hdr_data_t hdr_data) {
  Header header;
  header.kind = Kind::put;
  header.wants_ack = ack == PTL_ACK_REQ;
  header.index = index;
  header.bits = bits;
  header.hdr_data = hdr_data;
  header.length = length;
  header.remote_offset = remote_offset;
  return process()->start(md, local_offset, target.phys.pid, header, user_ptr);
}

int PtlGet(ptl_handle_md_t md, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target, ptl_pt_index_t index,
           ptl_match_bits_t bits, ptl_size_t remote_offset, void* user_ptr) {
  Header header;
  header.kind = Kind::get;
  header.index = index;
  header.bits = bits;
  header.length = length;
  header.remote_offset = remote_offset;
  return process()->start(md, local_offset, target.phys.pid, header, user_ptr);
}
