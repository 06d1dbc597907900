// SPDX-License-Identifier: Apache-2.0
// The functions of libpsm2 that are called here, opened at run time.
#pragma once

#include <psm2.h>
#include <psm2_mq.h>

#include "core/dynamic_library.hpp"

namespace leadline::transport::psm2 {

/// Their contract is the library's manual.
struct Functions {
  DynamicLibrary library{"libpsm2.so.2"};
  decltype(&psm2_ep_close) ep_close = library.find("psm2_ep_close");
  decltype(&psm2_ep_connect) ep_connect = library.find("psm2_ep_connect");
  decltype(&psm2_ep_num_devunits) ep_num_devunits = library.find("psm2_ep_num_devunits");
  decltype(&psm2_ep_open) ep_open = library.find("psm2_ep_open");
  decltype(&psm2_ep_open_opts_get_defaults) ep_open_opts_get_defaults = library.find("psm2_ep_open_opts_get_defaults");
  decltype(&psm2_error_get_string) error_get_string = library.find("psm2_error_get_string");
  decltype(&psm2_error_register_handler) error_register_handler = library.find("psm2_error_register_handler");
  decltype(&psm2_init) init = library.find("psm2_init");
  decltype(&psm2_mq_finalize) mq_finalize = library.find("psm2_mq_finalize");
  decltype(&psm2_mq_init) mq_init = library.find("psm2_mq_init");
  decltype(&psm2_mq_irecv2) mq_irecv2 = library.find("psm2_mq_irecv2");
  decltype(&psm2_mq_isend2) mq_isend2 = library.find("psm2_mq_isend2");
  decltype(&psm2_mq_test2) mq_test2 = library.find("psm2_mq_test2");
  decltype(&psm2_poll) poll = library.find("psm2_poll");
};

/// Null until Module::load().
inline const Functions* functions = nullptr;

}  // namespace leadline::transport::psm2
