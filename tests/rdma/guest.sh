#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the virtual machine: five RDMA devices on one switch, the last of them down; then job after job.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
ulimit -l unlimited
hostname node
cd /run/share || exit

# All ends of the cables are in one namespace: replies must come from the device that was asked.
for scope in all default; do
  sysctl -qw "net.ipv4.conf.$scope.accept_local=1" "net.ipv4.conf.$scope.rp_filter=0" "net.ipv4.conf.$scope.arp_ignore=1"
done
ip link add switch type bridge
ip link set switch up
for i in 0 1 2 3 4; do
  ip link add "v$i" mtu 4200 type veth peer name "s$i" mtu 4200
  ip link set "s$i" master switch up
  ip addr add "10.88.0.$((i + 1))/24" dev "v$i"
  ip link set "v$i" up
  rdma link add "rxe$i" type rxe netdev "v$i"
done
ip link set v4 down

for job in jobs/*; do
  name=${job#jobs/*-}
  start=$(cut -d' ' -f1 /proc/uptime)
  mkdir "out/$name"
  (cd "out/$name" && timeout -k 5 "$(sed -n 's/^# seconds: //p' "../../$job")" bash "../../$job" >stdout 2>stderr </dev/null)
  echo $? >"out/$name/status"
  echo "$name: $start to $(cut -d' ' -f1 /proc/uptime) s after boot, status $(cat "out/$name/status")"
done
echo yes >finished
sync
echo b >/proc/sysrq-trigger
