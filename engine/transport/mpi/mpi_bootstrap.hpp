// SPDX-License-Identifier: Apache-2.0
// Who we are, from the MPI library's own launcher.
#pragma once

#include <memory>

#include "cluster/bootstrap.hpp"

namespace leadline::transport::mpi {

/// Collective: starts MPI.
std::unique_ptr<cluster::Bootstrap> make_bootstrap();

}  // namespace leadline::transport::mpi
