// SPDX-License-Identifier: Apache-2.0
// The least that an MPI program can do: what starting and ending it costs.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
