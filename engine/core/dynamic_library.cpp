// SPDX-License-Identifier: Apache-2.0
// Opens shared libraries with dlopen(3).
#include "core/dynamic_library.hpp"

#include <dlfcn.h>

#include <cassert>
#include <utility>

#include "core/error.hpp"

namespace leadline {
namespace {

std::string loader_reason() {
  const char* reason = dlerror();
  return reason != nullptr ? reason : "the loader gives no reason";
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::string& path) : path_(path) {
  // dlopen takes an empty name for the program itself.
  if (path.empty()) throw Error(ExitStatus::something_missing, "cannot load a library", "its name is empty");
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Error(ExitStatus::something_missing, "cannot load " + path, loader_reason());
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* DynamicLibrary::symbol(const char* name) const {
  void* found = symbol_or_null(name);
  if (found == nullptr) {
    throw Error(ExitStatus::something_missing, path_ + " has no symbol " + name, loader_reason());
  }
  return found;
}

void* DynamicLibrary::symbol_or_null(const char* name) const {
  assert(handle_ != nullptr);  // dlsym would search the whole program
  return dlsym(handle_, name);
}

DynamicLibrary::Symbol DynamicLibrary::find(const char* name, const char* version) const {
  assert(handle_ != nullptr);
  void* found = dlvsym(handle_, name, version);
  if (found == nullptr) {
    throw Error(ExitStatus::something_missing, path_ + " has no symbol " + name + " of version " + version,
                loader_reason());
  }
  return {found};
}

}  // namespace leadline
