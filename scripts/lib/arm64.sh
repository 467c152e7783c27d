# Sourced: a Swift compiler for 64-bit Arm that runs on another machine, and folders in which 64-bit Arm programs run
# emulated. Needs root.
#
# BEACON_CACHE is the folder for downloads, ~/.cache/swift-beacon by default. Its folder arm64 contains:
#   compiler   Debian's Swift for this machine. It links with lld, which supports all processors
#   machine    an arm64 Debian of the same day with Swift's libraries and the tests' servers. Its packages are unpacked only
#   trixie     the libraries that programs for Debian 13, and so for Raspberry Pi OS, are linked with
#   qemu       the emulator. Debian 12's own lacks a system call (PR_SET_CHILD_SUBREAPER)
#   sdks       SwiftPM's descriptions of machine and trixie
. scripts/lib/packages.sh
needs mmdebstrap which mmdebstrap
needs curl which curl
install_missing

arm64=$(realpath -m "${BEACON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-beacon}")/arm64
# The Debian mirror that this machine uses.
mirror=$(sed -nE 's/^(URIs: *|deb (\[[^]]*\] *)?)(http[^ ]*debian)\/?( .*)?$/\3/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2> /dev/null | head -1 || true)
mirror=${mirror:-http://deb.debian.org/debian}
# The folder of Debian's Swift in each of these folders.
swift=/usr/libexec/swift

# Ends a check with status 77 (skipped) if this machine cannot run it.
skip_where_impossible() {
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: run it as root" >&2
        exit 77
    fi
    if [ -e "$arm64/compiler" ] && [ -e "$arm64/machine" ]; then return 0; fi
    if ! curl --silent --fail --head --max-time 20 --output /dev/null "$mirror/dists/sid/InRelease"; then
        echo "skipped: cannot reach $mirror, and $arm64 lacks the packages to download from it" >&2
        exit 77
    fi
}

# Unpacks packages and their dependencies into a folder, without running their scripts.
unpack() { # FOLDER ARCHITECTURE SUITE PACKAGES [OPTION…]
    local folder=$1 architecture=$2 suite=$3 include=$4
    shift 4
    [ ! -e "$folder" ] || return 0
    rm -rf "$folder.part"
    echo "Downloading an $architecture Debian $suite …" >&2
    # Mirrors of an earlier day have package lists that have expired.
    mmdebstrap --quiet --variant=extract --mode=root --architectures="$architecture" \
        --aptopt='Acquire::Check-Valid-Until "false"' --include="$include" "$@" "$suite" "$folder.part" "deb $mirror $suite main"
    rm -rf "$folder.part"/var/{lib/apt,cache/apt}
    mv "$folder.part" "$folder"
}

# Packages with programs that the tests start, and with libraries that they open.
for_tests='bash,dash,libc-bin,coreutils,sed,grep,findutils,procps,util-linux,bsdutils,openssl,python3,python3-numpy,libsystemd0'
for_tests+=',dbus-daemon,libmosquitto1,mosquitto,mosquitto-clients,nats-server,?name(^libnats[0-9])'

prepare_arm64() {
    mkdir -p "$arm64"
    unpack "$arm64/qemu" amd64 sid base-files,qemu-user \
        --extract-hook='find "$1/usr/bin" -name "qemu-*" ! -name qemu-aarch64 -delete'
    unpack "$arm64/compiler" amd64 sid \
        'base-files,swiftlang,libc6-dev,libstdc++-15-dev,git,ca-certificates,bash,dash,libc-bin,coreutils,sed,grep,findutils'
    # Of the arm64 compiler, only the modules and archives are needed. Its dependencies take a gigabyte. Every test
    # links with the library of _Testing_Foundation. Debian packages that module without it; it contains no code.
    unpack "$arm64/machine" arm64 sid "base-files,libswiftlang,libc6-dev,libstdc++-15-dev,zlib1g-dev,libsqlite3-dev,$for_tests" \
        --extract-hook='cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq download swiftlang' \
        --extract-hook='dpkg-deb --fsys-tarfile "$1"/tmp/swiftlang_*.deb | tar -x -C "$1" --wildcards --exclude="*/embedded/*" \
            "./usr/libexec/swift/lib/swift/*" "./usr/libexec/swift/lib/swift_static/*" "./usr/libexec/swift/lib/clang/*" ./usr/lib/swift
            rm "$1"/tmp/swiftlang_*.deb' \
        --extract-hook="printf '!<arch>\\n' > \"\$1\"$swift/lib/swift/linux/lib_Testing_Foundation.a"
    release() { zcat "$arm64/$1/usr/share/doc/$2/changelog.Debian.gz" | sed -n '1s/.*(\(.*\)).*/\1/p'; }
    if [ "$(release compiler swiftlang)" != "$(release machine libswiftlang)" ]; then
        echo "Debian has Swift $(release compiler swiftlang) for this machine and $(release machine libswiftlang) for arm64;" \
            "remove $arm64 and try again later" >&2
        return 1
    fi
    mkdir -p "$arm64/home" "$arm64/compiler/machine"
    make_sdk machine
    # Creates the users and the library paths that configuring the packages would create. Swift's libraries must be
    # found without an environment variable, since beacond passes none to the programs that it starts.
    if [ ! -e "$arm64/machine/etc/ld.so.conf.d/swift.conf" ]; then
        printf '%s\n' root:x:0:0::/root:/bin/sh nobody:x:65534:65534::/nonexistent:/bin/false > "$arm64/machine/etc/passwd"
        printf '%s\n' root:x:0: nogroup:x:65534: > "$arm64/machine/etc/group"
        mkdir -p "$arm64/machine/etc/ld.so.conf.d"
        printf '%s\n' $swift/lib/swift/linux /usr/lib/aarch64-linux-gnu/{blas,lapack} > "$arm64/machine/etc/ld.so.conf.d/swift.conf"
        inside machine ldconfig
    fi
}

# Prepares the C and C++ libraries of Debian 13, for programs that are statically linked with Swift's libraries.
prepare_trixie() {
    local folder
    prepare_arm64
    unpack "$arm64/trixie" arm64 trixie 'base-files,libc6-dev,libstdc++-14-dev,zlib1g-dev,libsqlite3-dev'
    mkdir -p "$arm64/compiler/trixie"
    for folder in swift swift_static; do ln -sfn "/machine$swift/lib/$folder" "$arm64/trixie/usr/lib/$folder"; done
    make_sdk trixie
}

# Writes a Swift SDK: SwiftPM's description of a root folder for another processor.
make_sdk() { # ROOT
    local bundle=$arm64/sdks/$1.artifactbundle
    mkdir -p "$bundle/$1"
    cat > "$bundle/info.json" <<J
{ "schemaVersion": "1.0", "artifacts": { "$1": { "type": "swiftSDK", "version": "1", "variants": [{ "path": "$1" }] } } }
J
    cat > "$bundle/$1/swift-sdk.json" <<J
{ "schemaVersion": "4.0", "targetTriples": { "aarch64-unknown-linux-gnu": {
    "sdkRootPath": "/$1", "toolsetPaths": ["toolset.json"],
    "swiftResourcesPath": "/machine$swift/lib/swift", "swiftStaticResourcesPath": "/machine$swift/lib/swift_static" } } }
J
    echo '{ "schemaVersion": "1.0", "swiftCompiler": { "extraCLIOptions": ["-use-ld=lld"] } }' > "$bundle/$1/toolset.json"
}

# Prints the version of Debian's Swift.
swift_version() { zcat "$arm64/compiler/usr/share/doc/swiftlang/changelog.Debian.gz" | sed -nE '1s/.*\(([0-9.]+).*/\1/p'; }

# Runs `swift build` for arm64 with the libraries in ROOT.
cross_build() { # ROOT SCRATCH OPTION...
    local root=$1 scratch=$2
    shift 2
    inside compiler swift build --swift-sdks-path /sdks --swift-sdk "$root" --scratch-path "$scratch" "$@" \
        --pkg-config-path "/$root/usr/lib/aarch64-linux-gnu/pkgconfig"
}

# Prints the local folders that git uses in place of repository addresses, if this machine has any.
repositories() { git config --get-regexp '^url\..*\.insteadof$' | sed -nE 's/^url\.(\/.*)\.insteadof .*/\1/p' | sort -u; }

# Runs a command in ROOT, in the checkout, which has the same path there. 64-bit Arm programs run under qemu. INSIDE can
# add NAME=VALUE words to the environment, and LIMIT is the number of seconds after which the command is killed.
inside() { # ROOT COMMAND…
    local root=$arm64/$1 folder setting mounts=() settings=() count=0
    shift
    for folder in "$PWD" "$PWD/../shared" $(repositories); do
        if [ -d "$folder" ]; then mounts+=("$(realpath "$folder")"); fi
    done
    while read -r setting; do
        settings+=("GIT_CONFIG_KEY_$count=${setting%% *}" "GIT_CONFIG_VALUE_$count=${setting#* }")
        count=$((count + 1))
    done < <(git config --get-regexp '^url\..*\.insteadof$')
    # The user namespace maps all users, since servers switch from root to another user. Only a process outside it can
    # set that map. The shell stays as the first process of the namespace, which inherits orphaned processes and waits
    # for them. A test program in its place would keep them as zombies, and Swift Testing does not notice the end of a
    # process behind a zombie.
    timeout "${LIMIT:-infinity}" unshare --user sh -c 'echo $$ >&4; exec 4>&-
        until grep -q . /proc/self/gid_map; do sleep 0.01; done
        exec unshare --mount --pid --fork --kill-child "$@"' sh bash -euo pipefail -s -- \
        "$arm64" "$root" "$PWD" "${#mounts[@]}" "${mounts[@]}" \
        HOME=/root LC_ALL=C.UTF-8 PATH=$swift/bin:/usr/bin:/usr/sbin LD_LIBRARY_PATH=$swift/lib/swift/linux \
        GIT_CONFIG_COUNT=$count "${settings[@]}" ${INSIDE:-} sh -c 'cd "$0" && "$@"; exit $?' "$PWD" "$@" \
        3<&0 4> >(read -r process && for map in uid gid; do echo 0 0 65536 > "/proc/$process/${map}_map"; done) <<'S'
arm64=$1 root=$2 checkout=$3 count=$4
shift 4
# Since Linux 6.7, a user namespace can register its own emulators.
if mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2> /dev/null; then
    printf '%s' ":qemu-aarch64:M:0:\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\
\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$arm64/qemu/usr/bin/qemu-aarch64:POCF" \
        > /proc/sys/fs/binfmt_misc/register
elif ! grep -qs enabled /proc/sys/fs/binfmt_misc/qemu-aarch64; then
    echo "cannot run arm64 programs: install qemu-user-static and binfmt-support" >&2
    exit 1
fi
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$arm64/home" "$root/root"
for folder in "${@:1:$count}"; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
if [ -d "$root/machine" ]; then
    mount --bind "$arm64/machine" "$root/machine"
    if [ -d "$root/trixie" ]; then mount --bind "$arm64/trixie" "$root/trixie"; fi
    mkdir -p "$root/sdks" "$root/etc/ssl/certs"
    mount --bind "$arm64/sdks" "$root/sdks"
    mount --bind /etc/ssl/certs "$root/etc/ssl/certs"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/"
shift "$count"
cd /
exec chroot "$root" /usr/bin/env -i "$@" 0<&3
S
}

# Runs a program for Debian 13 with Debian 13's libraries.
emulate() { "$arm64/qemu/usr/bin/qemu-aarch64" -L "$arm64/trixie" "$@"; }
