#ifndef MULTIPEER_CLIBSSL_SHIM_H
#define MULTIPEER_CLIBSSL_SHIM_H

// The few OpenSSL macros that Swift cannot import, as inline functions, and the BIO through which an `SSL` reaches the
// memory of its owner. Nothing else belongs here.

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL headers are missing: run 'apt-get install libssl-dev' (or 'make setup')"
#endif

#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>

// Loads the algorithms of OpenSSL itself where the machine's configuration has others in their place, such as only those of the
// provider `legacy`. Returns whether they are there.
static inline int multipeer_load_algorithms(void) {
    EVP_MD *digest = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    if (digest) {
        EVP_MD_free(digest);
        return 1;
    }
    ERR_clear_error();
    return OSSL_PROVIDER_try_load(NULL, "default", 1) != NULL;
}

static inline int multipeer_err_lib(unsigned long code) { return ERR_GET_LIB(code); }
static inline int multipeer_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// One line, in the form of RFC 2253, with everything but printable ASCII escaped.
static inline unsigned long multipeer_name_flags(void) { return XN_FLAG_RFC2253; }

// Returns P-256 as OpenSSL's parameters without a key, or null: the same ones for the whole process. To compute them again from the
// name takes as long as to make a key of them. Any thread may be the first to call it; from then on they are only read.
static EVP_PKEY *multipeer_p256_parameters(void) {
    static EVP_PKEY *shared;
    EVP_PKEY *made = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (made) return made;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    int is_made = context && EVP_PKEY_paramgen_init(context) == 1 && EVP_PKEY_CTX_set_group_name(context, "P-256") == 1
        && EVP_PKEY_generate(context, &made) == 1;
    EVP_PKEY_CTX_free(context);
    if (!is_made) return NULL;
    EVP_PKEY *first = NULL;
    if (__atomic_compare_exchange_n(&shared, &first, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    EVP_PKEY_free(made);
    return first;
}

#if !defined(OPENSSL_NO_DEPRECATED_3_0) && OPENSSL_VERSION_MAJOR < 4
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// The same for keys of the older kind.
static EC_GROUP *multipeer_p256_group(void) {
    static EC_GROUP *shared;
    EC_GROUP *made = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (made) return made;
    made = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_GROUP *first = NULL;
    if (!made || __atomic_compare_exchange_n(&shared, &first, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    EC_GROUP_free(made);
    return first;
}
#pragma GCC diagnostic pop
#endif

// Returns the public key of P-256 with this point, or null. A key of the older kind: `X509_set_pubkey` takes it as it is. For
// another, OpenSSL 3.0 searches all of its encoders and then all of its decoders, in ten times the time of making the key.
static inline EVP_PKEY *multipeer_p256_public(const unsigned char *point, size_t count) {
#if !defined(OPENSSL_NO_DEPRECATED_3_0) && OPENSSL_VERSION_MAJOR < 4
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EC_GROUP *group = multipeer_p256_group();
    EC_KEY *curve = group ? EC_KEY_new() : NULL;
    EVP_PKEY *key = EVP_PKEY_new();
    if (curve && key && EC_KEY_set_group(curve, group) == 1 && EC_KEY_oct2key(curve, point, count, NULL) == 1
        && EVP_PKEY_assign(key, EVP_PKEY_EC, curve) == 1)
        return key;
    EC_KEY_free(curve);
    EVP_PKEY_free(key);
#pragma GCC diagnostic pop
#endif
    return NULL;
}

// 112 bits, whatever the machine's configuration says: with more, P-256 and what the protocol requires would be refused.
static const int multipeer_security_level = 2;

// TLS 1.3 only, without what TLS 1.3 makes superfluous.
static inline int multipeer_ctx_only_tls13(SSL_CTX *ctx) {
    SSL_CTX_set_options(
        ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_security_level(ctx, multipeer_security_level);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1
        && SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1;
}
static inline int multipeer_ctx_set_groups(SSL_CTX *ctx, const char *names) {
    return SSL_CTX_set1_groups_list(ctx, names) == 1;
}
static inline void multipeer_ctx_set_cache_off(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline void multipeer_ctx_set_modes(SSL_CTX *ctx) {
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
}
// The buffers of a record that is read or written stay with this connection. The second call informs the record layer, an object
// of its own since libssl 3.2.
static inline void multipeer_ssl_keep_buffers(SSL *ssl) {
    SSL_clear_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_mode(ssl, 0);
}
// A read returns after each message of the handshake protocol, so that its caller can count them.
static inline void multipeer_ctx_set_no_retry(SSL_CTX *ctx) { SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY); }
static inline int multipeer_ssl_group(SSL *ssl) { return (int)SSL_get_negotiated_group(ssl); }
static inline void multipeer_ctx_set_max_cert_list(SSL_CTX *ctx, long count) {
    SSL_CTX_set_max_cert_list(ctx, count);
}

// DTLS 1.2 only: a handshake, then records, and no renegotiation or tickets in between.
static inline int multipeer_ctx_only_dtls12(SSL_CTX *ctx) {
    SSL_CTX_set_options(
        ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_QUERY_MTU
            | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_security_level(ctx, multipeer_security_level);
    return SSL_CTX_set_min_proto_version(ctx, DTLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(ctx, DTLS1_2_VERSION) == 1;
}
static inline int multipeer_ssl_set_link_mtu(SSL *ssl, long count) { return DTLS_set_link_mtu(ssl, count) == 1; }
static inline int multipeer_ssl_has_extended_secret(SSL *ssl) { return SSL_get_extms_support(ssl) == 1; }

// A memory BIO's contents in place, and how to drop their first bytes without copying.
static inline long multipeer_bio_contents(BIO *bio, unsigned char **start) { return BIO_get_mem_data(bio, start); }
static inline int multipeer_bio_skip(BIO *bio, long count) { return BIO_seek(bio, BIO_tell(bio) + count) >= 0; }

// What one `SSL` has received, which lies in the memory of its owner and is lent for one call, and what it wants to send.
// A pair of memory BIOs would copy everything that is received once more, and clear all memory that it empties.
typedef struct {
    const unsigned char *input;
    size_t input_count;
    unsigned char *output;
    size_t output_start, output_end, output_capacity;
} multipeer_wire;

static inline multipeer_wire *multipeer_wire_of(BIO *bio) { return (multipeer_wire *)BIO_get_data(bio); }

static int multipeer_wire_read(BIO *bio, char *into, int count) {
    multipeer_wire *wire = multipeer_wire_of(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (wire->input_count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t taken = wire->input_count < (size_t)count ? wire->input_count : (size_t)count;
    memcpy(into, wire->input, taken);
    wire->input += taken;
    wire->input_count -= taken;
    return (int)taken;
}

// Makes room for `count` more bytes of output. Returns 0 when there is no memory.
static int multipeer_wire_grow(multipeer_wire *wire, size_t count) {
    size_t used = wire->output_end - wire->output_start;
    if (wire->output_start > 0) memmove(wire->output, wire->output + wire->output_start, used);
    wire->output_start = 0;
    wire->output_end = used;
    if (wire->output_capacity - used >= count) return 1;
    size_t capacity = wire->output_capacity < 1024 ? 1024 : wire->output_capacity * 2;
    while (capacity - used < count) capacity *= 2;
    unsigned char *grown = (unsigned char *)realloc(wire->output, capacity);
    if (!grown) return 0;
    wire->output = grown;
    wire->output_capacity = capacity;
    return 1;
}

static int multipeer_wire_write(BIO *bio, const char *bytes, int count) {
    multipeer_wire *wire = multipeer_wire_of(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (wire->output_capacity - wire->output_end < (size_t)count && !multipeer_wire_grow(wire, (size_t)count)) return -1;
    memcpy(wire->output + wire->output_end, bytes, (size_t)count);
    wire->output_end += (size_t)count;
    return count;
}

static long multipeer_wire_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int multipeer_wire_free(BIO *bio) {
    multipeer_wire *wire = multipeer_wire_of(bio);
    if (wire) free(wire->output);
    free(wire);
    BIO_set_data(bio, NULL);
    return 1;
}

// Returns the one method of these BIOs, or null. Any thread may be the first to call it.
static BIO_METHOD *multipeer_wire_method(void) {
    static BIO_METHOD *shared;
    BIO_METHOD *method = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (method) return method;
    method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "wire");
    if (!method) return NULL;
    BIO_meth_set_read(method, multipeer_wire_read);
    BIO_meth_set_write(method, multipeer_wire_write);
    BIO_meth_set_ctrl(method, multipeer_wire_control);
    BIO_meth_set_destroy(method, multipeer_wire_free);
    BIO_METHOD *first = NULL;
    if (__atomic_compare_exchange_n(&shared, &first, method, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return method;
    BIO_meth_free(method);
    return first;
}

// Returns a BIO that owns a `multipeer_wire`, or null.
static inline BIO *multipeer_wire_new(void) {
    BIO_METHOD *method = multipeer_wire_method();
    if (!method) return NULL;
    multipeer_wire *wire = (multipeer_wire *)calloc(1, sizeof *wire);
    BIO *bio = wire ? BIO_new(method) : NULL;
    if (!bio) {
        free(wire);
        return NULL;
    }
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    return bio;
}

// How many bytes of output there are.
static inline size_t multipeer_wire_pending(const multipeer_wire *wire) { return wire->output_end - wire->output_start; }

// Drops the first bytes of the output.
static inline void multipeer_wire_sent(multipeer_wire *wire, size_t count) {
    wire->output_start += count;
    if (wire->output_start < wire->output_end) return;
    wire->output_start = wire->output_end = 0;
}

#endif
