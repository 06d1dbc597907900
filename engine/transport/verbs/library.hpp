// SPDX-License-Identifier: Apache-2.0
// The functions of libibverbs that are called here, opened at run time; its handles, and its errors in words.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/dynamic_library.hpp"

namespace leadline::transport::verbs {

/// Their contract is the library's manual. What its headers call through the tables of a device is not here.
struct Functions {
  DynamicLibrary library{"libibverbs.so.1"};
  decltype(&ibv_ack_cq_events) ack_cq_events = library.find("ibv_ack_cq_events");
  decltype(&ibv_alloc_pd) alloc_pd = library.find("ibv_alloc_pd");
  decltype(&ibv_close_device) close_device = library.find("ibv_close_device");
  decltype(&ibv_create_comp_channel) create_comp_channel = library.find("ibv_create_comp_channel");
  decltype(&ibv_create_cq) create_cq = library.find("ibv_create_cq");
  decltype(&ibv_create_qp) create_qp = library.find("ibv_create_qp");
  decltype(&ibv_dealloc_pd) dealloc_pd = library.find("ibv_dealloc_pd");
  decltype(&ibv_dereg_mr) dereg_mr = library.find("ibv_dereg_mr");
  decltype(&ibv_destroy_comp_channel) destroy_comp_channel = library.find("ibv_destroy_comp_channel");
  decltype(&ibv_destroy_cq) destroy_cq = library.find("ibv_destroy_cq");
  decltype(&ibv_destroy_qp) destroy_qp = library.find("ibv_destroy_qp");
  decltype(&ibv_free_device_list) free_device_list = library.find("ibv_free_device_list");
  decltype(&ibv_get_cq_event) get_cq_event = library.find("ibv_get_cq_event");
  decltype(&ibv_get_device_list) get_device_list = library.find("ibv_get_device_list");
  decltype(&ibv_get_device_name) get_device_name = library.find("ibv_get_device_name");
  decltype(&ibv_modify_qp) modify_qp = library.find("ibv_modify_qp");
  decltype(&ibv_open_device) open_device = library.find("ibv_open_device");
  decltype(&ibv_port_state_str) port_state_str = library.find("ibv_port_state_str");
  decltype(&ibv_query_device) query_device = library.find("ibv_query_device");
  decltype(&ibv_query_port) query_port = library.find("ibv_query_port");
  decltype(&_ibv_query_gid_table) query_gid_table = library.find("_ibv_query_gid_table");
  decltype(&ibv_reg_mr) reg_mr = library.find("ibv_reg_mr");
  decltype(&ibv_wc_status_str) wc_status_str = library.find("ibv_wc_status_str");
};

/// Null until Module::load().
inline const Functions* functions = nullptr;

/// 0 or an error number. The function has the type that the header's macro of its name gives it.
inline int query_port(ibv_context* context, std::uint8_t number, ibv_port_attr& attributes) {
  attributes = {};
  return functions->query_port(context, number, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
}

struct Freed {
  void operator()(ibv_device** list) const { functions->free_device_list(list); }
  void operator()(ibv_context* context) const { functions->close_device(context); }
  void operator()(ibv_pd* domain) const { functions->dealloc_pd(domain); }
  void operator()(ibv_comp_channel* channel) const { functions->destroy_comp_channel(channel); }
  void operator()(ibv_cq* queue) const { functions->destroy_cq(queue); }
  void operator()(ibv_qp* pair) const { functions->destroy_qp(pair); }
  void operator()(ibv_mr* region) const { functions->dereg_mr(region); }
};

template <class Handle>
using Owned = std::unique_ptr<Handle, Freed>;

/// Memory that the adapter may read and write, as long as this lives; of no bytes it is nothing.
struct Memory {
  Owned<ibv_mr> region;

  std::uint32_t local_key() const { return region ? region->lkey : 0; }
  std::uint32_t remote_key() const { return region ? region->rkey : 0; }
};

/// Throws Error(something_missing): the library could not do `what`, as it says by `error_number`. Where memory could
/// not be locked, the limit of it stands there, too.
[[noreturn]] void throw_cannot(const std::string& what, int error_number);

/// Throws Error(something_missing): not even a list of devices can be read.
[[noreturn]] void throw_no_list(int error_number);

}  // namespace leadline::transport::verbs
