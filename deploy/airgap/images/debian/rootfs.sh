#!/usr/bin/env bash
# rootfs.sh SUITE MIRROR FOLDER: a minimal Debian in FOLDER, as slim as the official -slim image.
set -euo pipefail
suite=$1 mirror=$2 rootfs=$3

rm -rf "$rootfs"
debootstrap --variant=minbase "$suite" "$rootfs" "$mirror"
rm -rf "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/* "$rootfs"/var/log/{bootstrap,dpkg,alternatives}.log \
	"$rootfs"/usr/share/{doc,man,info,locale}/*
for path in doc man info locale; do
	echo "path-exclude /usr/share/$path/*"
done >"$rootfs/etc/dpkg/dpkg.cfg.d/slim"
echo force-unsafe-io >"$rootfs/etc/dpkg/dpkg.cfg.d/unsafe-io" # an image that breaks while it is built is thrown away
cat >"$rootfs/etc/apt/apt.conf.d/slim" <<'EOF'
APT::Install-Recommends "0";
Acquire::Languages "none";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };
EOF
printf '#!/bin/sh\nexit 101\n' >"$rootfs/usr/sbin/policy-rc.d" # packages start no services
chmod +x "$rootfs/usr/sbin/policy-rc.d"
