// SPDX-License-Identifier: Apache-2.0
// Addresses of ranks, the opening of ways, and what the driver says about memory.
#include "transport/cuda/cuda_port.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "core/error.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::cuda {
namespace {

/// What a partner must know.
struct Address {
  std::int32_t rank = 0, pid = 0, mailboxes = -1;
  char pci_bus_id[20] = {};
};

const memory::cuda::Driver& driver_on_one_host(const Context& context) {
  if (!is_on_one_host(context)) {
    throw Error(ExitStatus::something_missing, "the transport cuda reaches no other host",
                "GPUs copy into each other's memory within one host only",
                "Start all ranks on one host, or choose --transport mpi, ucx or nccl");
  }
  return memory::cuda::driver();
}

/// Throws where two devices are known not to reach each other; one that this process does not see is tried.
void require_peer_access(const memory::cuda::Driver& driver, const memory::cuda::DeviceFacts& own,
                         const Address& partner) {
  if (own.pci_bus_id == partner.pci_bus_id) return;
  for (int device = 0; device < driver.num_devices(); ++device) {
    if (driver.facts_of(device).pci_bus_id != partner.pci_bus_id) continue;
    if (driver.can_access_peer(driver.device(), device)) return;
    throw Error(ExitStatus::something_missing,
                fmt::format("the GPU of rank {} cannot be reached from this one", partner.rank),
                fmt::format("the CUDA driver has no peer access from {} to {}", own.pci_bus_id, partner.pci_bus_id));
  }
}

}  // namespace

CudaPort::CudaPort(const Context& context)
    : driver_(driver_on_one_host(context)),
      own_rank_(context.rank),
      device_(driver_.facts_of(driver_.device())),
      mailboxes_(make_mailboxes(context.size)) {
  driver_.enter();
}

CudaPort::Memory CudaPort::memory(const std::byte* data, std::size_t size) const {
  constexpr int buffer_id = 7;
  Memory memory;
  if (size == 0) return memory;
  driver_.enter();
  const auto& cuda = driver_.functions();
  auto* const address = const_cast<std::byte*>(data);
  std::byte* base = nullptr;
  std::size_t num_bytes = 0;
  // Where one of them fails this is ordinary memory, or such that only its own process can open.
  const bool is_open_to_others = cuda.mem_get_address_range(&base, &num_bytes, address) == 0 &&
                                 cuda.ipc_get_mem_handle(&memory.handle, base) == 0 &&
                                 cuda.pointer_get_attribute(&memory.buffer_id, buffer_id, base) == 0;
  if (is_open_to_others) memory.base = base;
  return memory;
}

bool CudaPort::progress() {
  bool has_moved = false;
  for (std::size_t i = 0; i < listed_.size();) {
    CudaChannel& channel = *listed_[i];
    has_moved |= channel.progress();
    if (channel.is_idle()) {
      channel.is_listed = false;
      listed_[i] = listed_.back();
      listed_.pop_back();
    } else {
      ++i;
    }
  }
  return has_moved;
}

bool CudaPort::flush(Deadline deadline) {
  return tagged::drive_until(*this, deadline, [&] { return listed_.empty(); });
}

std::string CudaPort::address() const {
  Address own{own_rank_, ::getpid(), mailboxes_.fd()};
  device_.pci_bus_id.copy(own.pci_bus_id, sizeof own.pci_bus_id - 1);
  return {reinterpret_cast<const char*>(&own), sizeof own};
}

CudaPort::Peer CudaPort::open(std::string_view address) {
  Address partner;
  if (address.size() != sizeof partner) {
    throw Error(ExitStatus::run_failed, "a rank has told an address that is none of this transport");
  }
  std::memcpy(&partner, address.data(), sizeof partner);
  require_peer_access(driver_, device_, partner);
  const bool is_self = partner.rank == own_rank_;
  const Descriptor opened(is_self ? -1 : open_mailboxes(partner.pid, partner.mailboxes));
  const int partner_mailboxes = is_self ? mailboxes_.fd() : opened.fd();
  channels_.push_back(
      std::make_unique<CudaChannel>(driver_, own_rank_, mailboxes_.fd(), partner.rank, partner_mailboxes));
  listed_.reserve(channels_.size());
  return channels_.back().get();
}

void CudaPort::close(Peer peer) noexcept {
  std::erase(listed_, peer);
  std::erase_if(channels_, [&](const auto& channel) { return channel.get() == peer; });
}

TransportInfo CudaPort::info() const {
  TransportInfo info;
  info.name = "cuda";
  info.library = driver_.version();
  info.device = fmt::format("{} {}", device_.name, device_.pci_bus_id);
  return info;
}

}  // namespace leadline::transport::cuda
