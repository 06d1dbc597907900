#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# First program of the virtual machine: loads its modules, puts the host's files under a layer of its own, goes on there.
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
while read -r module; do
  insmod "/modules/$module" || echo "cannot load $module"
done </modules/order

mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 host /host
mount -t tmpfs none /layer
mkdir /layer/changed /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/changed,workdir=/layer/work none /root
for folder in proc sys dev; do mount --move "/$folder" "/root/$folder"; done
for folder in tmp run dev/shm; do
  mkdir -p "/root/$folder"
  mount -t tmpfs none "/root/$folder"
done
mkdir /root/run/share /root/run/build
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=524288 build /root/run/build
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=524288 share /root/run/share
ip link set lo up
exec switch_root /root /bin/bash /run/share/guest.sh
