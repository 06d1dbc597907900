// SPDX-License-Identifier: Apache-2.0
// Reads names out of what UCX prints and out of the kernel's folders.
#include "transport/ucx/names.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace leadline::transport::ucx {
namespace {

bool is_in(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of "#      resource 2  :  md 1  dev 2  flags -- tcp/eth0" the last word, of other lines nothing.
std::string resource_in(const std::string& line) {
  std::istringstream words(line);
  std::string mark, title, last;
  words >> mark >> title;
  if (mark != "#" || title != "resource") return {};
  while (words >> last) {
  }
  return last.find('/') == std::string::npos || last.starts_with("self/") ? "" : last;
}

}  // namespace

std::vector<std::string> resources_in(const std::string& text) {
  std::vector<std::string> resources;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string resource = resource_in(line);
    if (!resource.empty() && !is_in(resources, resource)) resources.push_back(std::move(resource));
  }
  return resources;
}

std::vector<std::string> net_devices(const std::string& device, const std::filesystem::path& devices) {
  const std::filesystem::path folder = devices / device;
  unsigned port_index = 0;  // stays so where the kernel has no file of it
  std::ifstream(folder / "dev_port") >> port_index;
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& adapter : std::filesystem::directory_iterator(folder / "device" / "infiniband", none)) {
    names.push_back(adapter.path().filename().string() + ":" + std::to_string(port_index + 1));
  }
  std::sort(names.begin(), names.end());
  names.insert(names.begin(), device);
  return names;
}

bool is_any_over(std::span<const std::string> resources, std::span<const std::string> devices) {
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& resource) {
    return is_in(devices, resource.substr(resource.find('/') + 1));
  });
}

}  // namespace leadline::transport::ucx
