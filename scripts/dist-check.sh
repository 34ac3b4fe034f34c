#!/bin/sh
# Installs a Debian package and its dependencies into a new root folder, and runs the packaged program's demo there.
# Usage: dist-check.sh DEB, as root; needs mmdebstrap
set -eu

package=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mmdebstrap --quiet --variant=minbase --include="$(dpkg-deb -f "$package" Depends | sed 's/ *([^)]*)//g; s/, */,/g')" bookworm "$root"
cp "$package" "$root/tenbin.deb"
chroot "$root" dpkg --install /tenbin.deb

# Runs a command in the root folder, with its own mount and PID namespaces.
inside() { unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root "$@"; }
inside tenbin --version
inside tenbin check /usr/share/doc/tenbin/plans/demo.yaml >/dev/null
inside tenbin run /usr/share/doc/tenbin/plans/demo.yaml --quick -o /demo.html
test -s "$root/demo.html"
test -s "$root/usr/share/man/man1/tenbin.1.gz"
chroot "$root" dpkg --verify tenbin
chroot "$root" dpkg --remove tenbin
test ! -e "$root/usr/bin/tenbin"
