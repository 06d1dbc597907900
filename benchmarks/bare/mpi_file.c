// SPDX-License-Identifier: Apache-2.0
// Blocking MPI-IO calls of all ranks, to a file each or to one; prints the slowest rank's times of writing and of
// reading, open to close, in ns.
#include <mpi.h>
#include <string.h>

#include "bare.h"

struct job {
  const char* path;
  int is_shared, num_objects, size_bytes, with_sync;
};

static void check(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
}

static MPI_Offset offset_of(const struct job* job, int rank, int object) {
  const MPI_Offset before = job->is_shared ? (MPI_Offset)rank * job->num_objects : 0;
  return (before + object) * job->size_bytes;
}

static double phase_ns(const struct job* job, int rank, int writes, char* buffer) {
  MPI_File file;
  MPI_Status status;
  const MPI_Comm openers = job->is_shared ? MPI_COMM_WORLD : MPI_COMM_SELF;
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start_ns = now_ns();
  check(MPI_File_open(openers, job->path, writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY, MPI_INFO_NULL,
                      &file));
  for (int i = 0; i < job->num_objects; ++i) {
    int count = 0;
    const MPI_Offset at = offset_of(job, rank, i);
    if (writes) {
      check(MPI_File_write_at(file, at, buffer, job->size_bytes, MPI_BYTE, &status));
    } else {
      check(MPI_File_read_at(file, at, buffer, job->size_bytes, MPI_BYTE, &status));
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != job->size_bytes) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  if (writes && job->with_sync) check(MPI_File_sync(file));
  check(MPI_File_close(&file));
  double own_ns = (double)(now_ns() - start_ns), slowest_ns = 0;
  MPI_Allreduce(&own_ns, &slowest_ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest_ns;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  struct job job = {argv[1], atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
  char path[4096];
  if (!job.is_shared) {
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    job.path = path;
  }
  // As ours: what an earlier run left is gone before the clock starts.
  if (!job.is_shared || rank == 0) unlink(job.path);
  char* const buffer = filled_buffer((size_t)job.size_bytes);
  const double write_ns = phase_ns(&job, rank, 1, buffer);
  const double read_ns = phase_ns(&job, rank, 0, buffer);
  if (rank == 0) printf("%.0f %.0f\n", write_ns, read_ns);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!job.is_shared || rank == 0) unlink(job.path);
  free(buffer);
  MPI_Finalize();
  return 0;
}
