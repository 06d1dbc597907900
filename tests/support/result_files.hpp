// SPDX-License-Identifier: Apache-2.0
// What tests of result files share: ranks that agree, where a result comes from, reading of HDF5 files without the code
// under test, errors of damaged files.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "model/provenance.hpp"
#include "model/result.hpp"
#include "result/result_file.hpp"
#include "support/folder.hpp"
#include "support/thread_cluster.hpp"

namespace leadline::test {

/// Threads that agree on whole errors, not on their problems alone.
class AgreeingCluster : public ThreadCluster {
 public:
  using ThreadCluster::ThreadCluster;

  void agree(const Error* own) override {
    std::string text;
    if (own != nullptr) {
      const auto status = std::to_string(static_cast<int>(own->status()));
      text = status + '\n' + own->problem() + '\n' + own->why() + '\n' + own->hint();
    }
    text = all_reduce(
        text, [](std::string left, std::string_view right) { return left.empty() ? std::string(right) : left; });
    if (text.empty()) return;
    std::istringstream lines(text);
    std::string status, problem, why, hint;
    for (auto* line : {&status, &problem, &why, &hint}) std::getline(lines, *line);
    throw Error(static_cast<ExitStatus>(std::stoi(status)), problem, why, hint);
  }
};

struct Ranks {
  int num_ranks = 1;
  int ranks_a_host = 1 << 20;
};

/// Runs `body` on every rank; gives the message of what each rank threw, empty for none.
inline std::vector<std::string> run_ranks(Ranks ranks, const std::function<void(cluster::Cluster&)>& body) {
  std::vector<std::uint32_t> host_of;
  for (int rank = 0; rank < ranks.num_ranks; ++rank) {
    host_of.push_back(static_cast<std::uint32_t>(rank / ranks.ranks_a_host));
  }
  Board board(ranks.num_ranks);
  std::vector<std::string> errors(host_of.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks.num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      AgreeingCluster cluster(board, rank, host_of);
      try {
        body(cluster);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

/// Of a test that has just begun.
inline Provenance provenance_so_far(int num_ranks) {
  Provenance provenance;
  provenance.version = "0.1.0";
  provenance.commit = "abcdef0";
  provenance.start_utc = "2026-01-31T23:59:58Z";
  provenance.launcher = "threads";
  provenance.transport.name = "tcp";
  provenance.clock = {"CLOCK_MONOTONIC (tsc)", 1, 21.5};
  provenance.wait = WaitMode::yield;
  provenance.num_ranks = num_ranks;
  provenance.num_hosts = 2;
  return provenance;
}

/// What only the end of a test knows.
inline void finish(RunResult& result) {
  result.hosts = {{"node0", "0-1"}, {"node1", "2-4"}};
  result.findings = {
      {"oversubscribed", Severity::warning, "More ranks than cores.", "5 ranks on 2 cores", "Use --local 2."}};
  result.provenance.end_utc = "2026-01-31T23:59:59Z";
  result.complete = true;
}

inline result::RunFileSetup run_setup_for(const cluster::Cluster& cluster, const std::string& path) {
  result::RunFileSetup setup;
  setup.path = path;
  setup.placement = {.host = cluster.host(),
                     .pid = 100 + cluster.rank(),
                     .cpus = "0-1",
                     .num_cpus = 2,
                     .numa_node = -1,
                     .device = "eth" + std::to_string(cluster.rank()),
                     .adapter = "mlx5_" + std::to_string(cluster.rank())};
  return setup;
}

/// An HDF5 file read with the library's own calls.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {}
  ~Reader() {
    if (file_ >= 0) H5Fclose(file_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool has(const std::string& name) const { return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0; }

  std::vector<hsize_t> shape(const std::string& name) const {
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    H5Sclose(space);
    H5Dclose(dataset);
    return shape;
  }

  template <typename Value>
  std::vector<Value> values(const std::string& name, hid_t type) const {
    std::size_t count = 1;
    for (const hsize_t extent : shape(name)) count *= extent;
    std::vector<Value> all(count);
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()), 0) << name;
    H5Dclose(dataset);
    return all;
  }
  std::vector<double> doubles(const std::string& name) const { return values<double>(name, H5T_NATIVE_DOUBLE); }
  std::vector<int> ints(const std::string& name) const { return values<int>(name, H5T_NATIVE_INT); }

  /// Where the values of a table in one piece end in the file.
  std::uint64_t end_of(const std::string& name) const {
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const std::uint64_t end = H5Dget_offset(dataset) + H5Dget_storage_size(dataset);
    H5Dclose(dataset);
    return end;
  }

  /// Fixed-size texts, without their padding.
  std::vector<std::string> texts(const std::string& name) const {
    std::size_t count = 1;
    for (const hsize_t extent : shape(name)) count *= extent;
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    const std::size_t size = H5Tget_size(type);
    std::string bytes(count * size, '?');
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0) << name;
    H5Tclose(type);
    H5Dclose(dataset);
    std::vector<std::string> all;
    for (std::size_t each = 0; each < count; ++each) {
      const std::string padded = bytes.substr(each * size, size);
      all.push_back(padded.substr(0, padded.find('\0')));
    }
    return all;
  }

  std::string variable_text(const std::string& name) const {
    const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    char* text = nullptr;
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&text)), 0) << name;
    const std::string copy = text == nullptr ? "" : text;
    H5free_memory(text);
    H5Tclose(type);
    H5Dclose(dataset);
    return copy;
  }

  std::string text_attribute(const std::string& object, const std::string& name) const {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    char* text = nullptr;
    EXPECT_GE(H5Aread(attribute, type, static_cast<void*>(&text)), 0) << object << " " << name;
    const std::string copy = text == nullptr ? "" : text;
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
    return copy;
  }

  double number_attribute(const std::string& object, const std::string& name) const {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    double value = NAN;
    EXPECT_GE(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), 0) << object << " " << name;
    H5Aclose(attribute);
    return value;
  }

 private:
  hid_t file_;
};

/// The file with what is random in it made equal.
inline std::string without_nonce(const std::string& path) {
  std::string nonce;
  {
    const Reader reader(path);
    nonce = reader.text_attribute("/", "nonce");
  }
  std::string bytes = contents_of(path);
  bytes.replace(bytes.find(nonce), nonce.size(), nonce.size(), 'n');
  return bytes;
}

/// Rank 0 is in one folder, the others in another, as on hosts without a common file system.
inline void go_apart(const cluster::Cluster& cluster, const Folder& here, const Folder& there) {
  ASSERT_EQ(::unshare(CLONE_FS), 0) << "a thread cannot have its own working directory";
  ASSERT_EQ(::chdir(cluster.rank() == 0 ? here.path().c_str() : there.path().c_str()), 0);
}

/// Runs `body` in a child process; its exit status, or 1000 + the signal that ended it.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// All ranks: rank 2 is gone without a word, once all have come here.
inline void kill_rank_2(cluster::Cluster& cluster) {
  cluster.barrier();
  if (cluster.rank() == 2) ::raise(SIGKILL);
  cluster.barrier();
}

/// All ranks: the last number of eight bytes in that table of the file does not fit any more.
inline void limit_file_size(cluster::Cluster& cluster, const std::string& path, const std::string& table) {
  cluster.barrier();
  if (cluster.rank() == 0) {
    const rlim_t size = Reader(path).end_of(table) - 8;
    const rlimit limit{size, size};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  cluster.barrier();
}

/// Runs ranks that write, and then call kill_rank_2(). What is left opens, and says that the run has not ended.
inline void expect_left_by_a_kill(const std::string& path, int num_ranks,
                                  const std::function<void(cluster::Cluster&)>& write) {
  const int status = in_child([&] {
    run_ranks({num_ranks}, write);
    return 0;
  });
  EXPECT_EQ(status, 1000 + SIGKILL);
  const Reader reader(path);
  ASSERT_TRUE(reader.is_open());
  EXPECT_EQ(reader.ints("/status/complete"), std::vector<int>{0});
  EXPECT_EQ(reader.texts("/status/reason"), std::vector<std::string>{"still running, or killed without a word"});
  EXPECT_FALSE(reader.has("/summary"));
}

/// The error that reading gives, which has this status.
template <typename Read>
std::string error_of(ExitStatus status, const Read& read) {
  try {
    (void)read();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "no error";
}

/// What reading says of a copy of the file that was damaged.
template <typename Read>
std::string error_of_damaged(const std::string& whole, const std::function<void(hid_t file)>& damage,
                             const Read& read) {
  const std::string path = whole + ".damaged";
  std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  damage(file);
  H5Fclose(file);
  const std::string said = error_of(ExitStatus::run_failed, [&] { return read(path); });
  EXPECT_NE(said.find(path), std::string::npos) << said;
  return said;
}

}  // namespace leadline::test
