// SPDX-License-Identifier: Apache-2.0
// What a rank tells a partner of itself: in words which way it has, and its address there.
#pragma once

#include <string>
#include <string_view>

namespace leadline::transport::tagged {

struct Introduction {
  std::string_view way;      ///< for people, and to be compared: "tcp;ofi_rxm, FI_SOCKADDR_IN"
  std::string_view address;  ///< in the library's bytes
};

inline std::string in_one(const Introduction& introduction) {
  return std::string(introduction.way) + '\0' + std::string(introduction.address);
}

/// Lives as long as the text.
inline Introduction in_two(std::string_view text) {
  const auto end = text.find('\0');
  return end == std::string_view::npos ? Introduction{{}, text}
                                       : Introduction{text.substr(0, end), text.substr(end + 1)};
}

}  // namespace leadline::transport::tagged
