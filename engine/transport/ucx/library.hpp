// SPDX-License-Identifier: Apache-2.0
// The functions of libucp, and of libucs below it, that are called here, opened at run time.
#pragma once

#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include "core/dynamic_library.hpp"

namespace leadline::transport::ucx {

/// Their contract is the library's manual.
struct Functions {
  DynamicLibrary library{"libucp.so.0"};
  decltype(&ucp_cleanup) cleanup = library.find("ucp_cleanup");
  decltype(&ucp_config_modify) config_modify = library.find("ucp_config_modify");
  decltype(&ucp_config_read) config_read = library.find("ucp_config_read");
  decltype(&ucp_config_release) config_release = library.find("ucp_config_release");
  decltype(&ucp_context_print_info) context_print_info = library.find("ucp_context_print_info");
  decltype(&ucp_context_query) context_query = library.find("ucp_context_query");
  decltype(&ucp_ep_close_nbx) ep_close_nbx = library.find("ucp_ep_close_nbx");
  decltype(&ucp_ep_create) ep_create = library.find("ucp_ep_create");
  decltype(&ucp_get_version_string) get_version_string = library.find("ucp_get_version_string");
  decltype(&ucp_init_version) init_version = library.find("ucp_init_version");
  decltype(&ucp_request_cancel) request_cancel = library.find("ucp_request_cancel");
  decltype(&ucp_request_check_status) request_check_status = library.find("ucp_request_check_status");
  decltype(&ucp_request_free) request_free = library.find("ucp_request_free");
  decltype(&ucp_tag_recv_nbx) tag_recv_nbx = library.find("ucp_tag_recv_nbx");
  decltype(&ucp_tag_send_nbx) tag_send_nbx = library.find("ucp_tag_send_nbx");
  decltype(&ucp_worker_create) worker_create = library.find("ucp_worker_create");
  decltype(&ucp_worker_destroy) worker_destroy = library.find("ucp_worker_destroy");
  decltype(&ucp_worker_flush_nbx) worker_flush_nbx = library.find("ucp_worker_flush_nbx");
  decltype(&ucp_worker_get_address) worker_get_address = library.find("ucp_worker_get_address");
  decltype(&ucp_worker_progress) worker_progress = library.find("ucp_worker_progress");
  decltype(&ucp_worker_release_address) worker_release_address = library.find("ucp_worker_release_address");
  decltype(&ucs_log_pop_handler) log_pop_handler = library.find("ucs_log_pop_handler");
  decltype(&ucs_log_push_handler) log_push_handler = library.find("ucs_log_push_handler");
  decltype(&ucs_status_string) status_string = library.find("ucs_status_string");
};

/// Null until Module::load().
inline const Functions* functions = nullptr;

}  // namespace leadline::transport::ucx
