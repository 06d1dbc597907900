// SPDX-License-Identifier: Apache-2.0
// A small fabric in the form of ibnetdiscover's output: two leaves, a spine, three hosts of which one has two adapters.
#pragma once

namespace leadline::network {

inline const char* const ib_sample = R"(#
# Topology file: generated on Mon Jan  5 10:00:00 2026
#
# Initiated from node 0c42a10300000001 port 0c42a10300000001

vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb8599f0300000003
switchguid=0xb8599f0300000003(b8599f0300000003)
Switch	41 "S-b8599f0300000003"		# "MF0;spine-1:MQM8700/U1" enhanced port 0 lid 3 lmc 0
[1]	"S-b8599f0300000001"[40]		# "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR
[2]	"S-b8599f0300000002"[40]		# "MF0;leaf-2:MQM8700/U1" lid 2 4xHDR

vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb8599f0300000001
switchguid=0xb8599f0300000001(b8599f0300000001)
Switch	41 "S-b8599f0300000001"		# "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-0c42a10300000001"[1](c42a10300000001) 		# "node01 HCA-1" lid 11 4xHDR
[2]	"H-0c42a10300000002"[1](c42a10300000002) 		# "node02 HCA-1" lid 12 4xHDR
[40]	"S-b8599f0300000003"[1]		# "MF0;spine-1:MQM8700/U1" lid 3 4xHDR
[41]	"H-b8599f0300000009"[1](b8599f0300000009) 		# "Mellanox Technologies Aggregation Node" lid 19 4xHDR

vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb8599f0300000002
switchguid=0xb8599f0300000002(b8599f0300000002)
Switch	41 "S-b8599f0300000002"		# "MF0;leaf-2:MQM8700/U1" enhanced port 0 lid 2 lmc 0
[1]	"H-0c42a10300000003"[1](c42a10300000003) 		# "node03 HCA-1" lid 13 4xHDR
[2]	"H-0c42a10300000004"[1](c42a10300000004) 		# "node01 HCA-2" lid 14 4xHDR
[40]	"S-b8599f0300000003"[2]		# "MF0;spine-1:MQM8700/U1" lid 3 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xc42a10300000004
caguid=0xc42a10300000004
Ca	1 "H-0c42a10300000004"		# "node01 HCA-2"
[1](c42a10300000004) 	"S-b8599f0300000002"[2]		# lid 14 lmc 0 "MF0;leaf-2:MQM8700/U1" lid 2 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xc42a10300000003
caguid=0xc42a10300000003
Ca	1 "H-0c42a10300000003"		# "node03 HCA-1"
[1](c42a10300000003) 	"S-b8599f0300000002"[1]		# lid 13 lmc 0 "MF0;leaf-2:MQM8700/U1" lid 2 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0xc42a10300000001
caguid=0xc42a10300000001
Ca	1 "H-0c42a10300000001"		# "node01 HCA-1"
[1](c42a10300000001) 	"S-b8599f0300000001"[1]		# lid 11 lmc 0 "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR
)";

}  // namespace leadline::network
