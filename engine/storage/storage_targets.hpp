// SPDX-License-Identifier: Apache-2.0
// On which storage target of a parallel file system a file lies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::storage {

/// In place of the number of a storage target.
inline constexpr std::int32_t unknown_target = -1, several_targets = -2;

/// Local: the number of the storage target (of Lustre: the index of the OST) that has all objects of an existing file;
/// several_targets where it is striped over several or mirrored; unknown_target where the file system, as
/// file_system_of() names it, has none or does not tell.
std::int32_t storage_target_of(const std::string& path, const std::string& file_system);

/// "OST0007", as Lustre names it, else "7".
std::string storage_target_name(std::int32_t number, const std::string& file_system);

/// Distinct indices of OSTs, ascending, of a file whose extended attribute lustre.lov has this value: struct
/// lov_user_md_v1 or _v3, or lov_comp_md_v1 with components, of Lustre's lustre_user.h, little endian. Components
/// without objects yet count for nothing. Empty where it is none of these, or ends too early.
std::vector<std::uint32_t> lustre_targets(std::string_view attribute);

}  // namespace leadline::storage
