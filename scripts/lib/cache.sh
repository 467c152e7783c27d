# Sourced: sets `cache` to the folder in which the slow checks keep what they have downloaded and built from it.
#
# BEACON_CACHE  the folder; ~/.cache/swift-beacon by default. It can be deleted at any time, and be shared by checkouts.
cache=$(realpath -m "${BEACON_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-beacon}")
mkdir -p "$cache"
