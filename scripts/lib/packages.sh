# Sourced: installs the Debian packages that a script needs and this machine lacks, and checks for root.

# Ends the script with status 1 unless it runs as root.
need_root() { # REASON
    [ "$(id -u)" -eq 0 ] || { echo "$0: run this as root: $1" >&2; exit 1; }
}

missing=()
needs() { # PACKAGE COMMAND...: the command succeeds if the package is installed
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

install_missing() {
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Install these packages: ${missing[*]} (Debian's names; this machine has no apt-get)" >&2
        return 1
    fi
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    echo "Installing ${missing[*]} …" >&2
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
