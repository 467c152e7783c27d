# Sourced: sets `cache` to the folder for the downloads of the slow checks and everything built from them.
#
# BEACON_CACHE  the folder, ~/.cache/swift-beacon by default. Checkouts can share it, and you can delete it at any time.
cache=$(realpath -m "${BEACON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-beacon}")
mkdir -p "$cache"
