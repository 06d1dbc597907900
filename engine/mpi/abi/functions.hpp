// SPDX-License-Identifier: Apache-2.0
// The functions of MPI under their own names, as pointers into the library that was found. Sources that include this
// are compiled once for each ABI, into a namespace LEADLINE_MPI_ABI of its own, and include no other header of MPI.
#pragma once

#ifdef LEADLINE_MPI_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <string>

#include "core/dynamic_library.hpp"

// One that is missing here shows when the program is linked.
#define LEADLINE_MPI_FUNCTIONS(X) \
  X(MPI_Abort)                    \
  X(MPI_Allgather)                \
  X(MPI_Allreduce)                \
  X(MPI_Alltoall)                 \
  X(MPI_Barrier)                  \
  X(MPI_Bcast)                    \
  X(MPI_Cancel)                   \
  X(MPI_Comm_create_errhandler)   \
  X(MPI_Comm_create_group)        \
  X(MPI_Comm_free)                \
  X(MPI_Comm_get_errhandler)      \
  X(MPI_Comm_group)               \
  X(MPI_Comm_idup)                \
  X(MPI_Comm_rank)                \
  X(MPI_Comm_set_errhandler)      \
  X(MPI_Comm_size)                \
  X(MPI_Errhandler_free)          \
  X(MPI_Error_class)              \
  X(MPI_Error_string)             \
  X(MPI_File_close)               \
  X(MPI_File_get_info)            \
  X(MPI_File_get_size)            \
  X(MPI_File_iread_at)            \
  X(MPI_File_iread_at_all)        \
  X(MPI_File_iwrite_at)           \
  X(MPI_File_iwrite_at_all)       \
  X(MPI_File_open)                \
  X(MPI_File_preallocate)         \
  X(MPI_File_read_at)             \
  X(MPI_File_read_at_all)         \
  X(MPI_File_set_errhandler)      \
  X(MPI_File_sync)                \
  X(MPI_File_write_at)            \
  X(MPI_File_write_at_all)        \
  X(MPI_Finalize)                 \
  X(MPI_Finalized)                \
  X(MPI_Get_elements_x)           \
  X(MPI_Get_library_version)      \
  X(MPI_Group_free)               \
  X(MPI_Group_incl)               \
  X(MPI_Iallgather)               \
  X(MPI_Iallreduce)               \
  X(MPI_Ibarrier)                 \
  X(MPI_Info_create)              \
  X(MPI_Info_free)                \
  X(MPI_Info_get)                 \
  X(MPI_Info_get_nkeys)           \
  X(MPI_Info_get_nthkey)          \
  X(MPI_Info_get_valuelen)        \
  X(MPI_Info_set)                 \
  X(MPI_Init)                     \
  X(MPI_Initialized)              \
  X(MPI_Iprobe)                   \
  X(MPI_Irecv)                    \
  X(MPI_Isend)                    \
  X(MPI_Recv)                     \
  X(MPI_Reduce_scatter_block)     \
  X(MPI_Request_free)             \
  X(MPI_Request_get_status)       \
  X(MPI_Send)                     \
  X(MPI_T_cvar_get_index)         \
  X(MPI_T_cvar_get_info)          \
  X(MPI_T_cvar_get_num)           \
  X(MPI_T_cvar_handle_alloc)      \
  X(MPI_T_cvar_handle_free)       \
  X(MPI_T_cvar_read)              \
  X(MPI_T_finalize)               \
  X(MPI_T_init_thread)            \
  X(MPI_Test)                     \
  X(MPI_Testall)                  \
  X(MPI_Testany)                  \
  X(MPI_Testsome)                 \
  X(MPI_Type_commit)              \
  X(MPI_Type_contiguous)          \
  X(MPI_Type_create_struct)       \
  X(MPI_Type_free)                \
  X(MPI_Type_size_x)              \
  X(MPI_Wait)                     \
  X(MPI_Waitall)                  \
  X(MPI_Waitany)                  \
  X(MPI_Waitsome)

// What not every library of the ABI has: null there.
#if defined(MPIX_GPU_SUPPORT_CUDA)  // MPICH since 4.0, and what descends from it
#define LEADLINE_OPTIONAL_MPI_FUNCTIONS(X) X(MPIX_GPU_query_support)
#elif defined(MPIX_CUDA_AWARE_SUPPORT)  // Open MPI
#define LEADLINE_OPTIONAL_MPI_FUNCTIONS(X) X(MPIX_Query_cuda_support)
#else
#define LEADLINE_OPTIONAL_MPI_FUNCTIONS(X)
#endif

#ifdef OPEN_MPI
// Its handles are addresses of variables in the library; a handle that is missing here shows when it is compiled. Those
// of the others are constants.
#define LEADLINE_MPI_HANDLES(X) \
  X(ompi_mpi_byte)              \
  X(ompi_mpi_char)              \
  X(ompi_mpi_comm_null)         \
  X(ompi_mpi_comm_self)         \
  X(ompi_mpi_comm_world)        \
  X(ompi_mpi_datatype_null)     \
  X(ompi_mpi_errhandler_null)   \
  X(ompi_mpi_errors_return)     \
  X(ompi_mpi_file_null)         \
  X(ompi_mpi_float)             \
  X(ompi_mpi_group_null)        \
  X(ompi_mpi_info_null)         \
  X(ompi_mpi_int)               \
  X(ompi_mpi_op_min)            \
  X(ompi_mpi_op_sum)            \
  X(ompi_request_null)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(global))
#else
#define LEADLINE_MPI_HANDLES(X)
#endif

namespace leadline::mpi::LEADLINE_MPI_ABI {

// Hidden, so that a call needs one load more than a direct one, as a call into a linked library does.
#define LEADLINE_DECLARE(name) \
  [[gnu::visibility("hidden")]] extern decltype(&::name) name;  // NOLINT(bugprone-macro-parentheses): a name
LEADLINE_MPI_FUNCTIONS(LEADLINE_DECLARE)
LEADLINE_OPTIONAL_MPI_FUNCTIONS(LEADLINE_DECLARE)
#undef LEADLINE_DECLARE
#define LEADLINE_DECLARE(name) \
  [[gnu::visibility("hidden")]] extern void* name;  // NOLINT(bugprone-macro-parentheses): a name
LEADLINE_MPI_HANDLES(LEADLINE_DECLARE)
#undef LEADLINE_DECLARE

/// Local, before any other function of MPI: fills the pointers. Throws Error(something_missing) where the library lacks
/// one.
void take_functions(const DynamicLibrary& library);

/// Local, also before MPI starts: "Open MPI v4.1.4", "MPICH 4.0.2".
std::string library_name();

}  // namespace leadline::mpi::LEADLINE_MPI_ABI

namespace leadline {

// So these go before the functions of the same names that the header of MPI declares.
using namespace mpi::LEADLINE_MPI_ABI;  // NOLINT(google-build-using-namespace)

}  // namespace leadline
