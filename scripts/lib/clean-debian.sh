# Sourced: clean Debians in which a check installs packages. Needs root.
needs mmdebstrap which mmdebstrap

# Creates a minimal Debian as a tar, unless the file exists.
make_debian() { # FILE SUITE ARCHITECTURE [OPTION...]
    local file=$1 suite=$2 architecture=$3 given=/etc/apt/sources.list.d/debian.sources folder
    shift 3
    [ ! -e "$file" ] || return 0
    [ -e "$given" ] || given=/etc/apt/sources.list
    folder=$(mktemp -d)
    sed "s/$(. /etc/os-release && echo "$VERSION_CODENAME")/$suite/g" "$given" > "$folder/${given##*/}"
    # Mirrors of an earlier day have package lists that have expired.
    mmdebstrap --quiet --mode=root --variant=minbase --architectures="$architecture" \
        --aptopt='Acquire::Check-Valid-Until "false"' "$@" "$suite" "$file.part" "$folder/${given##*/}" --format=tar
    mv "$file.part" "$file"
    rm -r "$folder"
}

# Unpacks a clean Debian of SUITE and ARCHITECTURE to $root, until the end of the script.
enter_debian() { # SUITE ARCHITECTURE
    local clean=$PWD/.build/clean-$1-$2.tar
    make_debian "$clean" "$1" "$2"
    leave_debian
    root=$(mktemp -d)
    trap leave_debian EXIT
    tar -C "$root" -xf "$clean"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
    mount -t proc proc "$root/proc"
}
leave_debian() {
    [ -n "${root:-}" ] || return 0
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$root"
}
inside() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

# Copies packages with the version 0.0.1, to upgrade from.
make_earlier() { # FOLDER PACKAGE.deb...
    local folder=$1 package
    mkdir -p "$folder"
    for package in "${@:2}"; do
        dpkg-deb -R "$package" "$folder/tree"
        sed -i 's/^Version: .*/Version: 0.0.1/' "$folder/tree/DEBIAN/control"
        package=${package##*/}
        dpkg-deb --root-owner-group -Znone -b "$folder/tree" "$folder/${package%%_*}_0.0.1_${package##*_}" > /dev/null
        rm -rf "$folder/tree"
    done
}

count=0
check() { # SENTENCE COMMAND...: the command must succeed
    local what=$1
    shift
    if ! "$@" >"$root/check" 2>&1; then
        echo "FAIL: $what" >&2
        tail -20 "$root/check" >&2
        exit 1
    fi
    count=$((count + 1))
}
