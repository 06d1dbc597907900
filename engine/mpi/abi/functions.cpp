// SPDX-License-Identifier: Apache-2.0
// The pointers to the functions of MPI, and how they are filled.
#include "mpi/abi/functions.hpp"

#include <dlfcn.h>

#include <array>

#include "mpi/library_search.hpp"

namespace leadline::mpi::LEADLINE_MPI_ABI {

// The library is one for the whole process, and so are these.
#define LEADLINE_DEFINE(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a name
LEADLINE_MPI_FUNCTIONS(LEADLINE_DEFINE)
LEADLINE_OPTIONAL_MPI_FUNCTIONS(LEADLINE_DEFINE)
#undef LEADLINE_DEFINE
#define LEADLINE_DEFINE(name) void* name = nullptr;  // NOLINT(bugprone-macro-parentheses): a name
LEADLINE_MPI_HANDLES(LEADLINE_DEFINE)
#undef LEADLINE_DEFINE

void take_functions(const DynamicLibrary& library) {
#define LEADLINE_TAKE(name) name = reinterpret_cast<decltype(name)>(library.symbol(#name));
  LEADLINE_MPI_FUNCTIONS(LEADLINE_TAKE)
  LEADLINE_MPI_HANDLES(LEADLINE_TAKE)
#undef LEADLINE_TAKE
#define LEADLINE_TAKE(name) name = reinterpret_cast<decltype(name)>(library.symbol_or_null(#name));
  LEADLINE_OPTIONAL_MPI_FUNCTIONS(LEADLINE_TAKE)
#undef LEADLINE_TAKE
}

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return short_name({text.data(), static_cast<std::size_t>(length)});
}

}  // namespace leadline::mpi::LEADLINE_MPI_ABI
