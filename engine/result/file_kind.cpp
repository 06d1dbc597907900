// SPDX-License-Identifier: Apache-2.0
// Looks at the first bytes of a file, and at what HDF5 says of the benchmark.
#include "result/file_kind.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/error.hpp"
#include "result/hdf5/run_reader.hpp"
#include "result/sion/container/reader.hpp"
#include "result/subprocess.hpp"

namespace leadline::result {

namespace {

constexpr const char* hdf5_signature = "\x89HDF\r\n\x1a\n";

}  // namespace

FileKind kind_of_file(const std::string& path) {
  const sion::InputFile file(path);
  std::string head(8, '\0');
  head.resize(file.read_at(0, head));
  if (head.empty()) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "the file is empty",
                "Was the run stopped before it could write?");
  }
  if (head.starts_with("sion")) return FileKind::sion;
  if (head.starts_with("\x89HDF") && head != hdf5_signature) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "damaged: the HDF5 header is broken",
                "Copy the file again");
  }
  return head == hdf5_signature ? FileKind::hdf5 : FileKind::other;
}

std::string benchmark_of(const std::string& path, FileKind kind) {
  if (kind != FileKind::hdf5) return "link";
  const hdf5::Session quiet;
  const auto read = [&] { return hdf5::reading(path, [&] { return hdf5::read_benchmark(hdf5::Input(path), path); }); };
  hdf5::expect_readable(path, [&] { (void)read(); });
  return read();
}

void work_with(const std::string& path, FileKind kind, const std::function<void()>& work) {
  if (kind != FileKind::hdf5) return work();
  run_in_subprocess("cannot read '" + path + "'", "damaged: the HDF5 library cannot cope with what is in it", work);
}

void throw_damaged(const std::string& path, const std::string& what) {
  throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "damaged: " + what);
}

void read_summary(const std::optional<std::string>& summary, const std::string& path, const char* test,
                  const std::function<void(const Json& summary)>& read, const char* part) {
  if (!summary) return;
  try {
    read(Json::parse(*summary));
  } catch (const JsonError&) {
    throw_damaged(path, fmt::format("/summary is not one of {}", test));
  } catch (const std::out_of_range&) {
    throw_damaged(path, fmt::format("/summary has {} that the file does not have", part));
  }
}

}  // namespace leadline::result
