# Sourced: signs files with the OpenPGP key in the file SIGNING_KEY, which has no passphrase:
#
#     gpg --armor --export-secret-keys ADDRESS > FILE
needs gpg which gpg
needs gpg-agent which gpg-agent

# Runs gpg with that key only, in a folder that exists until the end of the subshell or script.
with_key() { # COMMAND...
    (
        keyring=$(mktemp -d)
        trap 'gpgconf --homedir "$keyring" --kill all; rm -rf "$keyring"' EXIT
        sign --import "$SIGNING_KEY"
        "$@"
    )
}
sign() { gpg --homedir "$keyring" --batch --quiet --yes --digest-algo SHA256 "$@"; }
export_key() { sign --armor --export-options export-minimal --export; }
sign_file() { sign --armor --detach-sign --output "$1.asc" "$1"; }

# Fails unless the key has signed the lists of an apt repository, and they list each package of its pool as it is.
verify_repository() { # FOLDER
    sign --output "$keyring/Release" --decrypt "$1/dists/stable/InRelease" || return 1
    (
        cd "$1" || exit 1
        sed -nE 's/^ ([0-9a-f]{64}) +[0-9]+ (.*)$/\1  dists\/stable\/\2/p' "$keyring/Release" | sha256sum --check --quiet --strict || exit 1
        awk '/^Filename: / { name = $2 } /^SHA256: / { print $2 "  " name }' dists/stable/main/*/Packages |
            LC_ALL=C sort -k 2 > "$keyring/listed"
        sha256sum --check --quiet --strict "$keyring/listed" || exit 1
        find pool -type f | LC_ALL=C sort | diff <(cut -d' ' -f3 "$keyring/listed") - || exit 1
    ) || { echo "$1: these are not the packages that the key has signed" >&2; return 1; }
}

# Writes a new key for a check.
make_key() { # FILE
    (
        keyring=$(mktemp -d)
        trap 'gpgconf --homedir "$keyring" --kill all; rm -rf "$keyring"' EXIT
        sign --passphrase '' --quick-generate-key "Check <check@example.org>" ed25519 sign never 2> /dev/null
        sign --armor --export-secret-keys > "$1"
    )
}
