// SPDX-License-Identifier: Apache-2.0
// Lustre tells by an extended attribute, BeeGFS by calls of its own; neither needs a library or a program of theirs.
#include "storage/storage_targets.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ioctl.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "core/descriptor.hpp"

namespace leadline::storage {
namespace {

constexpr const char *lustre = "lustre", *beegfs = "beegfs";

/// Numbers of an attribute, by byte.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  std::optional<std::uint32_t> at(std::size_t offset) const {
    if (bytes_.size() < sizeof(Number) || offset > bytes_.size() - sizeof(Number)) return std::nullopt;
    std::uint32_t number = 0;
    for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
      number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[offset + byte])) << (8 * byte);
    }
    return number;
  }

 private:
  std::string_view bytes_;
};

// Magic numbers, offsets and sizes of lustre_user.h.
constexpr std::uint32_t plain_magic = 0x0bd10bd0, pool_magic = 0x0bd30bd0, composite_magic = 0x0bd60bd0;
constexpr std::uint32_t has_objects = 0x10, is_released = 0x80000000;
constexpr std::size_t pattern_at = 4, stripe_count_at = 28, plain_size = 32, pool_size = 48, object_size = 24;
constexpr std::size_t index_in_object = 20;
constexpr std::size_t num_components_at = 14, composite_size = 32, component_size = 48;
constexpr std::size_t flags_in_component = 4, offset_in_component = 24;

/// Whether the layout at that place is a whole one; its targets are added.
bool add_targets(const Bytes& bytes, std::size_t begin, std::set<std::uint32_t>& targets) {
  const auto magic = bytes.at<std::uint32_t>(begin), pattern = bytes.at<std::uint32_t>(begin + pattern_at);
  const auto num = bytes.at<std::uint16_t>(begin + stripe_count_at);
  if (!magic || !pattern || !num || (*magic != plain_magic && *magic != pool_magic)) return false;
  if ((*pattern & is_released) != 0) return true;
  const std::size_t objects = begin + (*magic == pool_magic ? pool_size : plain_size);
  for (std::size_t object = 0; object < *num; ++object) {
    const auto target = bytes.at<std::uint32_t>(objects + object * object_size + index_in_object);
    if (!target) return false;
    targets.insert(*target);
  }
  return true;
}

std::int32_t target_on_lustre(const std::string& path) {
  const ssize_t size = ::getxattr(path.c_str(), "lustre.lov", nullptr, 0);
  if (size <= 0) return unknown_target;
  std::string attribute(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::getxattr(path.c_str(), "lustre.lov", attribute.data(), attribute.size());
  if (got <= 0) return unknown_target;
  const std::vector<std::uint32_t> targets = lustre_targets(std::string_view(attribute).substr(0, std::size_t(got)));
  if (targets.empty()) return unknown_target;
  return targets.size() > 1 ? several_targets : static_cast<std::int32_t>(targets.front());
}

// What BeeGFS's client takes and gives, of beegfs_ioctl_functions.h.
struct StripeInfo {
  unsigned pattern;
  unsigned chunk_size;
  std::uint16_t num_targets;
};
struct StripeTarget {
  std::uint32_t index;  ///< asked for
  std::uint32_t target, primary_target, secondary_target, primary_node, secondary_node;
  char primary_name[256], secondary_name[256];
};
constexpr unsigned unmirrored = 1;

std::int32_t target_on_beegfs(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  StripeInfo info{};
  if (!file || ::ioctl(file.fd(), _IOR('f', 25, StripeInfo), &info) != 0) return unknown_target;
  if (info.pattern != unmirrored || info.num_targets != 1) return several_targets;
  StripeTarget first{};
  if (::ioctl(file.fd(), _IOR('f', 26, StripeTarget), &first) != 0) return unknown_target;
  return static_cast<std::int32_t>(first.target);
}

}  // namespace

std::vector<std::uint32_t> lustre_targets(std::string_view attribute) {
  const Bytes bytes(attribute);
  std::set<std::uint32_t> targets;
  bool is_whole = false;
  if (bytes.at<std::uint32_t>(0) == composite_magic) {
    const auto num = bytes.at<std::uint16_t>(num_components_at);
    is_whole = num.has_value();
    for (std::size_t component = 0; is_whole && component < *num; ++component) {
      const std::size_t entry = composite_size + component * component_size;
      const auto flags = bytes.at<std::uint32_t>(entry + flags_in_component);
      const auto offset = bytes.at<std::uint32_t>(entry + offset_in_component);
      is_whole = flags && offset && ((*flags & has_objects) == 0 || add_targets(bytes, *offset, targets));
    }
  } else {
    is_whole = add_targets(bytes, 0, targets);
  }
  if (!is_whole) return {};
  return {targets.begin(), targets.end()};
}

std::int32_t storage_target_of(const std::string& path, const std::string& file_system) {
  if (file_system == lustre) return target_on_lustre(path);
  if (file_system == beegfs) return target_on_beegfs(path);
  return unknown_target;
}

std::string storage_target_name(std::int32_t number, const std::string& file_system) {
  return file_system == lustre ? fmt::format("OST{:04x}", number) : fmt::to_string(number);
}

}  // namespace leadline::storage
