// SPDX-License-Identifier: Apache-2.0
// The HDF5 library with owned handles, checked calls, and errors as exceptions instead of prints.
#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace leadline::result::hdf5 {

/// What the library says about a failed call, and the system's error number where that is the cause (0 = none).
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& why, int error_number = 0)
      : std::runtime_error(why), error_number_(error_number) {}

  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

/// While it lives, this thread's HDF5 does not print its errors. The first one keeps the library from flushing files
/// at exit, where after a full disk it would try without end; all files are closed explicitly.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Throws Failure with the error stack's innermost reason.
[[noreturn]] void fail();

inline void check(herr_t status) {
  if (status < 0) fail();
}

/// An owned identifier of the library.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  /// Takes what a call returned; throws Failure if the call failed.
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {
    if (id < 0) fail();
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) closer_(id_);
  }

  hid_t id() const { return id_; }

  /// Closes now, with the error that may come of it.
  void close() { check(closer_(std::exchange(id_, H5I_INVALID_HID))); }

 private:
  hid_t id_;
  Closer closer_;
};

/// Variable-length and fixed-size zero-padded UTF-8.
Handle text_type();
Handle text_type(std::size_t size);

Handle scalar();

/// How files are opened: without locks, which fail on parallel file systems that are mounted without them; only one
/// process at a time changes a file.
Handle file_access();

void write_attribute(const Handle& object, const char* name, const std::string& value);
void write_attribute(const Handle& object, const char* name, int value);
void write_attribute(const Handle& object, const char* name, long long value);
void write_attribute(const Handle& object, const char* name, unsigned long long value);
void write_attribute(const Handle& object, const char* name, double value);

}  // namespace leadline::result::hdf5
