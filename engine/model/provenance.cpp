// SPDX-License-Identifier: Apache-2.0
// The options of a run as text, for the files that keep them so.
#include "model/provenance.hpp"

#include "model/options.hpp"

namespace leadline {

std::vector<std::pair<std::string, std::string>> options_as_text(const LinkRequest& request) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Option& option : options_of(request)) texts.emplace_back(option.name, as_text(option.value));
  return texts;
}

}  // namespace leadline
