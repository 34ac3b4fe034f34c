#!/bin/sh
# Packages a built program as a tar.gz and a Debian package, both with manual pages, completions, plans, and documents.
# Usage: dist.sh PROGRAM FOLDER; needs binutils and dpkg
set -eu

program=$(realpath "$1") folder=$(realpath "$2")
cd "$(dirname "$0")/.."
version=$("$program" --version | cut -d' ' -f2)
machine=$(uname -m)
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) architecture=$machine ;;
esac
# Time of the last commit, so that archives of the same sources are identical.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
glibc=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
needs="libc6 (>= ${glibc#GLIBC_})"
if objdump -p "$program" | grep -q 'NEEDED *libgcc_s'; then needs="$needs, libgcc-s1"; fi

# Builds the tar.gz: one folder, from which the program runs without installation.
name=tenbin-$version-$machine-linux
tree=$folder/$name
rm -rf "$tree"
mkdir -p "$tree/man" "$tree/completions"
install -m 755 "$program" "$tree/tenbin"
cp README.md LICENSE CHANGELOG.md "$tree"
cp -R docs plans "$tree"
"$program" man "$tree/man"
"$program" completions bash >"$tree/completions/tenbin.bash"
"$program" completions zsh >"$tree/completions/_tenbin"
"$program" completions fish >"$tree/completions/tenbin.fish"
chmod -R u=rwX,go=rX "$tree"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$folder" -cf - "$name" | gzip -9n >"$folder/$name.tar.gz"

# Builds the Debian package: the files of the tar.gz at the paths that Debian policy requires.
root=$folder/deb
doc=$root/usr/share/doc/tenbin
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" \
    "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d" "$doc"
install -m 755 "$program" "$root/usr/bin/tenbin"
cp "$tree"/man/*.1 "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
cp "$tree/completions/tenbin.bash" "$root/usr/share/bash-completion/completions/tenbin"
cp "$tree/completions/_tenbin" "$root/usr/share/zsh/vendor-completions/_tenbin"
cp "$tree/completions/tenbin.fish" "$root/usr/share/fish/vendor_completions.d/tenbin.fish"
cp -R README.md docs plans "$doc"
gzip -9nc CHANGELOG.md >"$doc/CHANGELOG.md.gz"
gzip -9n >"$doc/changelog.gz" <<CHANGES
tenbin ($version) unstable; urgency=low

  * What changed is in CHANGELOG.md.

 -- The Tenbin authors <tenbin@tenbin.invalid>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGES
cat >"$doc/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: The Tenbin authors
License: Apache-2.0
 On Debian systems the license is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT
cat >"$root/DEBIAN/control" <<CONTROL
Package: tenbin
Version: $version
Architecture: $architecture
Maintainer: The Tenbin authors <tenbin@tenbin.invalid>
Section: net
Priority: optional
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $needs
Description: benchmark and compare servers and databases
 Starts the candidates, puts the same load on each in random order, checks its
 own numbers, compares with a known error rate, and explains the difference.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k2) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/tenbin_${version}_$architecture.deb" >/dev/null
rm -rf "$root" "$tree"
ls -l "$folder/$name.tar.gz" "$folder/tenbin_${version}_$architecture.deb"
