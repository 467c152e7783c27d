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

# Writes a new key for a check.
make_key() { # FILE
    (
        keyring=$(mktemp -d)
        trap 'gpgconf --homedir "$keyring" --kill all; rm -rf "$keyring"' EXIT
        sign --passphrase '' --quick-generate-key "Check <check@example.org>" ed25519 sign never 2> /dev/null
        sign --armor --export-secret-keys > "$1"
    )
}
