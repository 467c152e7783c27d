#include "CCrypto.h"

#include "CDynamicLibrary.h"

#include <pthread.h>

// The declarations in use of openssl/evp.h, unchanged since version 1.1.1.
typedef struct evp_pkey EVP_PKEY;
typedef struct evp_pkey_ctx EVP_PKEY_CTX;
typedef struct evp_cipher EVP_CIPHER;
typedef struct evp_cipher_ctx EVP_CIPHER_CTX;

enum { KEY_X25519 = 1034, GET_TAG = 0x10, SET_TAG = 0x11, TAG = 16, KEY = 32, LARGEST = 1 << 20 };

static struct {
    EVP_PKEY *(*EVP_PKEY_new_raw_private_key)(int type, void *engine, const uint8_t *key, size_t count);
    EVP_PKEY *(*EVP_PKEY_new_raw_public_key)(int type, void *engine, const uint8_t *key, size_t count);
    int (*EVP_PKEY_get_raw_public_key)(const EVP_PKEY *key, uint8_t *bytes, size_t *count);
    void (*EVP_PKEY_free)(EVP_PKEY *key);
    EVP_PKEY_CTX *(*EVP_PKEY_CTX_new)(EVP_PKEY *key, void *engine);
    void (*EVP_PKEY_CTX_free)(EVP_PKEY_CTX *context);
    int (*EVP_PKEY_derive_init)(EVP_PKEY_CTX *context);
    int (*EVP_PKEY_derive_set_peer)(EVP_PKEY_CTX *context, EVP_PKEY *peer);
    int (*EVP_PKEY_derive)(EVP_PKEY_CTX *context, uint8_t *secret, size_t *count);
    const EVP_CIPHER *(*EVP_chacha20_poly1305)(void);
    EVP_CIPHER_CTX *(*EVP_CIPHER_CTX_new)(void);
    void (*EVP_CIPHER_CTX_free)(EVP_CIPHER_CTX *context);
    int (*EVP_CIPHER_CTX_ctrl)(EVP_CIPHER_CTX *context, int type, int number, void *pointer);
    int (*EVP_CipherInit_ex)(
        EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, void *engine, const uint8_t *key, const uint8_t *nonce,
        int encrypts);
    int (*EVP_CipherUpdate)(EVP_CIPHER_CTX *context, uint8_t *output, int *count, const uint8_t *input, int input_count);
    int (*EVP_CipherFinal_ex)(EVP_CIPHER_CTX *context, uint8_t *output, int *count);
} crypto;

static char trouble[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(function) {#function, &crypto.function}

static void load(void) {
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", NULL};
    const struct beacon_symbol symbols[] = {
        SYMBOL(EVP_PKEY_new_raw_private_key),
        SYMBOL(EVP_PKEY_new_raw_public_key),
        SYMBOL(EVP_PKEY_get_raw_public_key),
        SYMBOL(EVP_PKEY_free),
        SYMBOL(EVP_PKEY_CTX_new),
        SYMBOL(EVP_PKEY_CTX_free),
        SYMBOL(EVP_PKEY_derive_init),
        SYMBOL(EVP_PKEY_derive_set_peer),
        SYMBOL(EVP_PKEY_derive),
        SYMBOL(EVP_chacha20_poly1305),
        SYMBOL(EVP_CIPHER_CTX_new),
        SYMBOL(EVP_CIPHER_CTX_free),
        SYMBOL(EVP_CIPHER_CTX_ctrl),
        SYMBOL(EVP_CipherInit_ex),
        SYMBOL(EVP_CipherUpdate),
        SYMBOL(EVP_CipherFinal_ex),
    };
    const struct beacon_library library = {
        .names = names,
        .reported_name = names[1],
        .title = "libcrypto",
        .remark = "; it is older than 1.1.1",
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
    };
    beacon_open_library(&library, trouble, sizeof trouble);
}

const char *beacon_crypto_problem(void) {
    pthread_once(&once, load);
    return trouble[0] ? trouble : NULL;
}

bool beacon_x25519_public(const uint8_t *secret, uint8_t *public_key) {
    if (beacon_crypto_problem()) return false;
    EVP_PKEY *key = crypto.EVP_PKEY_new_raw_private_key(KEY_X25519, NULL, secret, KEY);
    if (!key) return false;
    size_t count = KEY;
    bool is_made = crypto.EVP_PKEY_get_raw_public_key(key, public_key, &count) == 1 && count == KEY;
    crypto.EVP_PKEY_free(key);
    return is_made;
}

bool beacon_x25519_shared(const uint8_t *secret, const uint8_t *peer, uint8_t *shared) {
    if (beacon_crypto_problem()) return false;
    EVP_PKEY *key = crypto.EVP_PKEY_new_raw_private_key(KEY_X25519, NULL, secret, KEY);
    EVP_PKEY *other = crypto.EVP_PKEY_new_raw_public_key(KEY_X25519, NULL, peer, KEY);
    EVP_PKEY_CTX *context = key ? crypto.EVP_PKEY_CTX_new(key, NULL) : NULL;
    size_t count = KEY;
    // This fails for a peer's key that produces an all-zero secret.
    bool is_made = context && other && crypto.EVP_PKEY_derive_init(context) == 1
        && crypto.EVP_PKEY_derive_set_peer(context, other) == 1
        && crypto.EVP_PKEY_derive(context, shared, &count) == 1 && count == KEY;
    if (context) crypto.EVP_PKEY_CTX_free(context);
    if (other) crypto.EVP_PKEY_free(other);
    if (key) crypto.EVP_PKEY_free(key);
    return is_made;
}

static bool run(
    bool seals, const uint8_t *key, const uint8_t *nonce, const void *associated, size_t associated_count,
    const uint8_t *bytes, size_t count, uint8_t *output) {
    if (beacon_crypto_problem() || count > LARGEST || associated_count > LARGEST) return false;
    EVP_CIPHER_CTX *context = crypto.EVP_CIPHER_CTX_new();
    if (!context) return false;
    int made = 0;
    uint8_t end[TAG];
    const size_t text = seals ? count : count - TAG;
    uint8_t tag[TAG];
    if (!seals) {
        for (int index = 0; index < TAG; index++) tag[index] = bytes[text + index];
    }
    bool is_done = crypto.EVP_CipherInit_ex(context, crypto.EVP_chacha20_poly1305(), NULL, key, nonce, seals) == 1
        && (associated_count == 0
            || crypto.EVP_CipherUpdate(context, NULL, &made, associated, (int)associated_count) == 1)
        && (text == 0 || crypto.EVP_CipherUpdate(context, output, &made, bytes, (int)text) == 1)
        && (seals || crypto.EVP_CIPHER_CTX_ctrl(context, SET_TAG, TAG, tag) == 1)
        && crypto.EVP_CipherFinal_ex(context, end, &made) == 1
        && (!seals || crypto.EVP_CIPHER_CTX_ctrl(context, GET_TAG, TAG, output + text) == 1);
    crypto.EVP_CIPHER_CTX_free(context);
    return is_done;
}

bool beacon_chachapoly_seal(
    const uint8_t *key, const uint8_t *nonce, const void *associated, size_t associated_count, const void *bytes,
    size_t count, uint8_t *output) {
    return run(true, key, nonce, associated, associated_count, bytes, count, output);
}

bool beacon_chachapoly_open(
    const uint8_t *key, const uint8_t *nonce, const void *associated, size_t associated_count, const void *bytes,
    size_t count, uint8_t *output) {
    return count >= TAG && run(false, key, nonce, associated, associated_count, bytes, count, output);
}
