#ifndef CCRYPTO_H
#define CCRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The few primitives of OpenSSL's libcrypto that an encrypted connection needs. The library is opened on first use, so
// that other programs run without it.

#pragma clang assume_nonnull begin

// Returns NULL if the library is available, otherwise a sentence with the cause. Thread-safe; the result is always the
// same.
const char *_Nullable beacon_crypto_problem(void);

// The functions return false if the library refuses, for example for an invalid public key of a peer.

// X25519 (RFC 7748, 5): the public key, or the secret shared with a peer.
bool beacon_x25519_public(const uint8_t *secret, uint8_t *public_key);
bool beacon_x25519_shared(const uint8_t *secret, const uint8_t *peer, uint8_t *shared);

// ChaCha20-Poly1305 (RFC 8439). Sealing writes 16 bytes more than `count`, the tag; opening writes 16 bytes less.
// `bytes` and `output` may be the same buffer. The tag also covers `associated`.
bool beacon_chachapoly_seal(
    const uint8_t *key, const uint8_t *nonce, const void *_Nullable associated, size_t associated_count,
    const void *_Nullable bytes, size_t count, uint8_t *output);
bool beacon_chachapoly_open(
    const uint8_t *key, const uint8_t *nonce, const void *_Nullable associated, size_t associated_count,
    const void *bytes, size_t count, uint8_t *output);

#pragma clang assume_nonnull end

#endif
