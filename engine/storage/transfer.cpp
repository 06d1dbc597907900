// SPDX-License-Identifier: Apache-2.0
// Puts together what is said of a transfer.
#include "storage/transfer.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "core/units.hpp"

namespace leadline::storage {
namespace {

std::string text_of(const Transfer& transfer, const std::string& path) {
  return fmt::format("{} {} at {} of {}", transfer.access == Access::write ? "writing" : "reading",
                     format_bytes(transfer.size_bytes), transfer.offset_bytes, path);
}

const char* hint_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Make room there, or write less (--objects, --object-size)";
    case EFBIG:
      return "The file system, or \"ulimit -f\", allows no longer file: write less (--objects, --object-size)";
    default:
      return "";
  }
}

}  // namespace

Error transfer_error(const Transfer& transfer, const std::string& path, const std::string& why) {
  return Error(ExitStatus::run_failed, text_of(transfer, path) + " failed", why);
}

Error late_error(const Transfer& transfer, const std::string& path) {
  return Error(ExitStatus::run_failed, text_of(transfer, path) + " was not done in time");
}

Error close_error(const std::string& path, int error_number) {
  const char* const hint = hint_for(error_number);
  return Error(ExitStatus::run_failed, "closing " + path + " failed",
               system_error_text(error_number) + ", of what was written before",
               *hint != '\0' ? hint : "Look at that file system and its servers");
}

Error transfer_error(const Transfer& transfer, const std::string& path, int error_number) {
  return Error(ExitStatus::run_failed, text_of(transfer, path) + " failed", system_error_text(error_number),
               hint_for(error_number));
}

}  // namespace leadline::storage
