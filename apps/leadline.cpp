// SPDX-License-Identifier: Apache-2.0
// The program `leadline`. Under the name of a historical front end it is that one.
#include <string_view>

#include "cli/main.hpp"
#include "compat/main.hpp"

int main(int argc, char** argv) {
  using namespace leadline;
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "linktest" || name.starts_with("linktest.")) return compat::linktest::run(argc, argv);
  if (name == "mpilinktest") return compat::mpilinktest::run(argc, argv);
  if (name == "nettest") return compat::nettest::run(argc, argv);
  if (name == "netgauge") return compat::netgauge::run(argc, argv);
  if (name == "mpi_io_test.x") return compat::mpi_io_test::run(argc, argv);
  return cli::run(argc, argv);
}
