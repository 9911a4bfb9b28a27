#!/bin/bash
# setup.sh FOLDER: puts real GPU shader compilers into FOLDER, for `cargo xtask gpu-budgets`; about 25 s and 320 MB.
# They are Debian sid's Mesa drivers, a Python of sid to run them, and wgpu-py. Nothing is installed: packages are
# downloaded and unpacked, and nothing outside FOLDER changes. `rm -r FOLDER` undoes it.
set -euo pipefail

packages=(mesa-vulkan-drivers mesa-drm-shim libvulkan1 python3 python3-cffi)
wgpu=wgpu==0.32.0
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
folder=$1

fail() { echo "setup: $*" >&2; exit 1; }

# Addresses in this machine's own package sources, one a line.
addresses() {
    shopt -s nullglob
    local sources=(/etc/apt/sources.list.d/*.sources) lists=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
    if ((${#sources[@]})); then sed -n 's/^URIs:[[:space:]]*\([^[:space:]]*\).*/\1/p' "${sources[@]}"; fi
    sed -n 's/^deb[[:space:]]\+\(\[[^]]*\][[:space:]]*\)\?\([^[:space:]]*\).*/\2/p' "${lists[@]}" 2>/dev/null || true
}

# The first that is Debian's archive.
mirror() { addresses | grep debian | grep -v security | head -n 1; }

# apt with lists, cache and an empty "what is installed" of its own; only how to download is taken from this machine.
configure_apt() {
    mkdir -p apt/lists/partial apt/cache/archives/partial apt/etc
    : > apt/status
    echo "deb [signed-by=$keyring] $(mirror) sid main" > apt/etc/sources.list
    {
        apt-config dump | grep '^Acquire::' | grep -v '^Acquire::IndexTargets'
        cat <<END
Dir::Etc "$PWD/apt/etc"; Dir::Etc::Parts "/dev/null"; Dir::Etc::SourceParts "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$PWD/apt"; Dir::State::Status "$PWD/apt/status"; Dir::Cache "$PWD/apt/cache"; Dir::Log "$PWD/apt";
Dir::Etc::Trusted "/dev/null"; Dir::Etc::TrustedParts "/dev/null";
APT::Architecture "amd64"; APT::Architectures { "amd64"; }; APT::Install-Recommends "false"; APT::Sandbox::User "";
Acquire::Languages "none"; Debug::NoLocking "true";
END
    } > apt/apt.conf
}

download() {
    export APT_CONFIG=$PWD/apt/apt.conf
    apt-get -q=1 update
    apt-get -q=2 --yes --download-only install "${packages[@]}"
}

# Libraries, drivers and Python; no shells, and no drivers that nothing plays the GPU of.
unpack() {
    local deb
    for deb in apt/cache/archives/{lib,mesa-,python3}*.deb; do dpkg-deb --extract "$deb" tree; done
    rm -rf tree/usr/share/{doc,man,locale,info,X11} tree/usr/lib/x86_64-linux-gnu/libvulkan_{intel,intel_hasvk,gfxstream,virtio,lvp}.so
}

note_versions() {
    dpkg-deb --show --showformat '${Package} ${Version}\n' apt/cache/archives/mesa-vulkan-drivers_*.deb
    ls python | sed -n 's/^\(wgpu\)-\(.*\)\.dist-info$/\1 \2/p'
}

finish() { echo "$PWD: $(paste -sd, versions | sed 's/,/, /g'), $(du -sh . | cut -f 1)"; }

[[ $(uname -m) == x86_64 ]] || fail "these packages are for x86-64"
mkdir -p "$folder"
cd "$folder"
[[ $PWD != *[:\"]* ]] || fail "$PWD: no colon or quote may be in the path"
if [[ -e versions ]]; then finish; exit; fi
if [[ ! -e made-by-setup && -n $(ls -A) ]]; then fail "$PWD holds something else"; fi
touch made-by-setup
rm -rf apt tree python
[[ -n $(mirror) ]] || fail "no Debian archive among this machine's package sources"
configure_apt
download
unpack
python3 -m pip install --quiet --root-user-action ignore --no-deps --no-cache-dir --no-compile --target python "$wgpu"
note_versions > apt/versions
mv apt/versions versions
rm -rf apt
finish
