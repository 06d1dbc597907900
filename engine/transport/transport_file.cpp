// SPDX-License-Identifier: Apache-2.0
// Looks at the file before the loader does: that ends the process where the end of a file is missing.
#include "transport/transport_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <list>
#include <system_error>
#include <vector>

#include "core/dynamic_library.hpp"
#include "core/error.hpp"

namespace leadline::transport {
namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ExitStatus::something_missing, path, why);
}

template <class Part>
bool read_at(std::ifstream& file, std::uint64_t offset, Part* parts, std::size_t num) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(parts), static_cast<std::streamsize>(num * sizeof(Part)));
  return file.good();
}

Elf64_Half own_machine() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  Elf64_Ehdr header{};
  read_at(file, 0, &header, 1);
  return header.e_machine;
}

/// All that the loader would map is there.
void check_shape(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) refuse_file(path, std::system_category().message(errno));
  const auto size = static_cast<std::uint64_t>(file.tellg());
  Elf64_Ehdr header{};
  const bool has_header = read_at(file, 0, &header, 1);
  if (!has_header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN) {
    refuse_file(path, "it is no shared library of 64 bits");
  }
  if (header.e_machine != own_machine()) refuse_file(path, "it is for another kind of processor");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (!read_at(file, header.e_phoff, segments.data(), segments.size())) refuse_file(path, "it is cut off");
  for (const Elf64_Phdr& segment : segments) end = std::max(end, segment.p_offset + segment.p_filesz);
  if (end > size) refuse_file(path, fmt::format("it is cut off: {} of {} bytes are there", size, end));
}

/// "81c5f2f4a4b3d0aa (Leadline 0.1.0, 2c862d81)"
std::string interface_text(const TransportFile& file) {
  return fmt::format("{:016x} (Leadline {}{}{})", file.interface, file.version, *file.commit != '\0' ? ", " : "",
                     file.commit);
}

}  // namespace

const Module& open_transport_file(const std::string& path) {
  check_shape(path);
  static std::list<DynamicLibrary> open;
  open.emplace_back(path);
  const auto& file = *static_cast<const TransportFile*>(open.back().symbol(transport_file_symbol));
  if (file.interface != own_interface().interface) {
    refuse_file(path,
                fmt::format("it has the interface {}, this program {}: compile it again with the program's own sources "
                            "and compiler",
                            interface_text(file), interface_text(own_interface())));
  }
  if (file.module == nullptr) refuse_file(path, "it offers no transport");
  if (file.module->load != nullptr) file.module->load();
  return *file.module;
}

}  // namespace leadline::transport
