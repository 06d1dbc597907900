// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened at run time, or the loader's reason why it cannot be.
#pragma once

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

  /// Null where the library has no such symbol.
  void* symbol_or_null(const char* name) const;

  /// Becomes the pointer to a function that it is assigned to.
  struct Symbol {
    void* address;
    template <class Signature>
    operator Signature*() const {
      return reinterpret_cast<Signature*>(address);
    }
  };

  /// As symbol(), for a pointer whose type says which function it is: `decltype(&::abs) abs = library.find("abs")`.
  Symbol find(const char* name) const { return {symbol(name)}; }

  /// The same of one version of the symbol, as "FABRIC_1.3".
  Symbol find(const char* name, const char* version) const;

  /// The same as a function: `library.function<int(int)>("abs")`.
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

/// The functions of a library that is opened when they are first asked for, for ever: vendors' libraries crash when
/// they are unloaded. `Functions` opens it in its constructor, and throws Error(something_missing) with the loader's
/// reason where it is not here or lacks a function.
template <class Functions>
const Functions& opened_for_ever() {
  static const Functions& all = *new Functions;
  return all;
}

}  // namespace leadline
