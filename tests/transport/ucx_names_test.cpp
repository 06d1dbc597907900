// SPDX-License-Identifier: Apache-2.0
// Names in what UCX prints, and a network's adapters in folders as the kernel has them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "support/folder.hpp"
#include "transport/ucx/names.hpp"

namespace leadline::transport::ucx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UcxNames, AreReadOutOfWhatIsPrinted) {
  EXPECT_THAT(resources_in("#\n# UCP context\n#\n"
                           "#     component 1  :  tcp\n"
                           "#            md 1  :  component 1  tcp \n"
                           "#      resource 0  :  md 0  dev 0  flags -- self/memory0\n"
                           "#      resource 1  :  md 1  dev 1  flags -- tcp/lo\n"
                           "#      resource 2  :  md 1  dev 2  flags -- tcp/eth0\n"
                           "#      resource 3  :  md 4  dev 3  flags a- rc_mlx5/mlx5_0:1\n"
                           "#      resource 4  :  md 4  dev 3  flags a- rc_mlx5/mlx5_0:1\n"),
              ElementsAre("tcp/lo", "tcp/eth0", "rc_mlx5/mlx5_0:1"));
  EXPECT_THAT(resources_in(""), IsEmpty());
  EXPECT_THAT(resources_in("# resource\nresource 1 : tcp/lo\n# resource 1 : tcp\n"), IsEmpty());
}

TEST(UcxNames, OfANetworkHaveTheAdapterBehindIt) {
  const test::Folder kernel;
  std::filesystem::create_directories(kernel.path() / "eth0");
  std::filesystem::create_directories(kernel.path() / "ib1" / "device" / "infiniband" / "mlx5_3");
  std::filesystem::create_directories(kernel.path() / "roce" / "device" / "infiniband" / "rxe0");
  std::ofstream(kernel.path() / "ib1" / "dev_port") << "1\n";
  EXPECT_THAT(net_devices("eth0", kernel.path()), ElementsAre("eth0"));
  EXPECT_THAT(net_devices("ib1", kernel.path()), ElementsAre("ib1", "mlx5_3:2"));
  EXPECT_THAT(net_devices("roce", kernel.path()), ElementsAre("roce", "rxe0:1"));
  EXPECT_THAT(net_devices("lo"), ElementsAre("lo"));
}

TEST(UcxNames, OfWaysSayWhatTheyGoOver) {
  const std::vector<std::string> resources = {"posix/memory", "tcp/eth0", "rc_mlx5/mlx5_0:1"};
  EXPECT_TRUE(is_any_over(resources, std::vector<std::string>{"ib0", "mlx5_0:1"}));
  EXPECT_TRUE(is_any_over(resources, std::vector<std::string>{"eth0"}));
  EXPECT_FALSE(is_any_over(resources, std::vector<std::string>{"eth", "mlx5_0"}));
  EXPECT_FALSE(is_any_over({}, std::vector<std::string>{"eth0"}));
}

}  // namespace
}  // namespace leadline::transport::ucx
