// SPDX-License-Identifier: Apache-2.0
// Who we are, from a launcher that speaks PMIx: Open MPI's mpirun, srun --mpi=pmix and others.
#include "cluster/pmix.hpp"

#include <fmt/format.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "cluster/bootstrap.hpp"
#include "cluster/bootstraps/library_bootstrap.hpp"
#include "core/dynamic_library.hpp"

namespace leadline::cluster {
namespace {

/// Their contract is the PMIx standard.
struct Functions {
  DynamicLibrary library{"libpmix.so.2"};
  decltype(&PMIx_Commit) commit = library.find("PMIx_Commit");
  decltype(&PMIx_Error_string) error_string = library.find("PMIx_Error_string");
  decltype(&PMIx_Fence) fence = library.find("PMIx_Fence");
  decltype(&PMIx_Finalize) finalize = library.find("PMIx_Finalize");
  decltype(&PMIx_Get) get = library.find("PMIx_Get");
  decltype(&PMIx_Init) init = library.find("PMIx_Init");
  decltype(&PMIx_Put) put = library.find("PMIx_Put");
};

const Functions& functions() { return opened_for_ever<Functions>(); }

struct Pmix {
  static constexpr const char* protocol = "PMIx";
  static constexpr const char* hint =
      "Start the ranks with srun --mpi=pmix or Open MPI's mpirun, or remove the PMIX_* variables";

  struct Identity {
    pmix_proc_t own{};
    int rank = 0, size = 0;
  };

  static Identity start();
  static std::string gather(const Identity& identity, int turn, std::string own);
  static void end() { functions().finalize(nullptr, 0); }
  static std::string launcher_under(Launcher launcher) {
    return launcher == Launcher::open_mpi ? "Open MPI mpirun (PMIx)" : name_of(launcher);
  }
};
using Identity = Pmix::Identity;

void require(pmix_status_t status, const char* call) {
  if (status == PMIX_SUCCESS) return;
  cannot_gather(fmt::format("{} says {}", call, functions().error_string(status)));
}

pmix_proc_t process(const pmix_proc_t& own, pmix_rank_t rank) {
  pmix_proc_t one = own;
  one.rank = rank;
  return one;
}

/// A value that the library has allocated.
class Value {
 public:
  Value(const pmix_proc_t& whose, const char* key) {
    require(functions().get(&whose, key, nullptr, 0, &value_), "PMIx_Get");
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() {  // of one of the two types that are asked for
    if (value_->type == PMIX_BYTE_OBJECT) std::free(value_->data.bo.bytes);
    std::free(value_);
  }

  const pmix_value_t* operator->() const { return value_; }

 private:
  pmix_value_t* value_ = nullptr;
};

Identity Pmix::start() {
  Identity identity;
  const pmix_status_t status = functions().init(&identity.own, nullptr, 0);
  if (status != PMIX_SUCCESS) no_server<Pmix>(std::string("PMIx_Init says ") + functions().error_string(status));
  // A library may take a missing server for a run of one process.
  const char* given = std::getenv("PMIX_NAMESPACE");
  if (given == nullptr || std::string(given) != identity.own.nspace) no_server<Pmix>("PMIx_Init ignores it");
  const Value size(process(identity.own, PMIX_RANK_WILDCARD), PMIX_JOB_SIZE);
  if (size->type != PMIX_UINT32) no_server<Pmix>("it does not say how many ranks there are");
  identity.rank = static_cast<int>(identity.own.rank);
  identity.size = static_cast<int>(size->data.uint32);
  return identity;
}

void fence(const pmix_proc_t& own) {
  const pmix_proc_t everybody = process(own, PMIX_RANK_WILDCARD);
  pmix_info_t collect{};
  std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  require(functions().fence(&everybody, 1, &collect, 1), "PMIx_Fence");
}

std::string Pmix::gather(const Identity& identity, int turn, std::string own) {
  const std::string key = fmt::format("leadline-{}", turn);
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo = {own.data(), own.size()};
  require(functions().put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
  require(functions().commit(), "PMIx_Commit");
  fence(identity.own);
  std::string all;
  all.reserve(own.size() * static_cast<std::size_t>(identity.size));
  for (int rank = 0; rank < identity.size; ++rank) {
    const Value one(process(identity.own, static_cast<pmix_rank_t>(rank)), key.c_str());
    if (one->type != PMIX_BYTE_OBJECT || one->data.bo.size != own.size()) require(PMIX_ERR_TYPE_MISMATCH, "PMIx_Get");
    all.append(one->data.bo.bytes, one->data.bo.size);
  }
  return all;
}

}  // namespace

std::string open_pmix() { return functions().library.path(); }

std::unique_ptr<Bootstrap> pmix_bootstrap(Launcher launcher, std::chrono::nanoseconds timeout) {
  if (std::getenv("PMIX_NAMESPACE") == nullptr) no_server<Pmix>("PMIX_NAMESPACE is not set");
  return std::make_unique<LibraryBootstrap<Pmix>>(launcher, timeout);
}

}  // namespace leadline::cluster
