// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened at run time, or the loader's reason why it cannot be; and where ours lie.
#pragma once

#include <filesystem>
#include <string>

namespace leadline {

/// Owns one opening of a shared library. What it hands out must not outlive it.
class DynamicLibrary {
 public:
  /// `path` with a slash is that file, without one a name that the loader searches for. All symbols are bound at
  /// once, so that nothing is resolved in a timed region and a missing one shows here; none is offered to other
  /// libraries, so that two MPIs can lie side by side. Throws Error(something_missing) with the loader's reason.
  explicit DynamicLibrary(const std::string& path);
  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  const std::string& path() const noexcept { return path_; }

  /// Throws Error(something_missing) where the library has no such symbol.
  void* symbol(const char* name) const;

  /// The same as a function: `library.function<int(int)>("abs")`.
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

/// Local: where Leadline's own modules lie: LEADLINE_MODULE_PATH, else ../lib/leadline beside the program's own folder.
std::filesystem::path module_directory();

}  // namespace leadline
