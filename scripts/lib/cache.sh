# Sourced: sets `cache` to the folder for the downloads of the slow checks and everything built from them.
#
# BEACON_CACHE  the folder, ~/.cache/swift-beacon by default. Checkouts can share it, and you can delete it at any time.
cache=$(realpath -m "${BEACON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-beacon}")
mkdir -p "$cache"

# Fetches one commit of other people's repository into $cache/sdks/NAME.
fetch() { # NAME ADDRESS COMMIT
    local folder=$cache/sdks/$1
    git -C "$folder" cat-file -e "$3" 2> /dev/null && return
    mkdir -p "$folder"
    git -C "$folder" init --quiet --bare
    git -C "$folder" fetch --quiet --depth 1 "$2" "$3" 2> /dev/null
}
