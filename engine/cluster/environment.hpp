// SPDX-License-Identifier: Apache-2.0
// Ranks that were started by hand or by a script: everything is in environment variables.
#pragma once

#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// From LEADLINE_SIZE, LEADLINE_RANK, LEADLINE_SECRET (at least 16 characters) and, for every rank r,
/// LEADLINE_ADDRESS_r and LEADLINE_PORT_r. Local. Throws Error(bad_command_line) naming the first variable that is
/// missing or makes no sense, or that says where rank 0 is in another way; those of the other ranks are looked at when
/// they are needed.
std::unique_ptr<Bootstrap> environment_bootstrap();

/// The same from the variables that LinkTest reads: LINKTEST_TCP_SIZE, LINKTEST_TCP_RANK and, with r as eight digits,
/// LINKTEST_TCP_IPADDR_r and LINKTEST_TCP_PORT_r; every rank needs those of all ranks, its own too. They hold no
/// secret: without LEADLINE_SECRET it is made out of them, so that whoever knows the variables can join, as with
/// LinkTest. All ranks must then be given the same texts.
std::unique_ptr<Bootstrap> linktest_environment_bootstrap();

/// Whether LEADLINE_SIZE, LEADLINE_RANK, or the address or port of rank 0 is set: where only some are, that is reported
/// as a mistake.
bool has_own_variables();

/// Whether the address or port of rank 0 is set with its number behind the name, as those of all ranks are then.
bool has_addresses_of_all();

/// Whether LEADLINE_RANK is set: somebody started this rank among others.
bool has_own_rank();

/// Whether LINKTEST_TCP_SIZE or LINKTEST_TCP_RANK is set: where only some are set, that is reported as a mistake.
bool has_linktest_variables();

}  // namespace leadline::cluster
