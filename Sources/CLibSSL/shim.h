#ifndef MULTIPEER_CLIBSSL_SHIM_H
#define MULTIPEER_CLIBSSL_SHIM_H

// The few OpenSSL macros that Swift cannot import, as inline functions. Nothing else belongs here.

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL headers are missing: run 'apt-get install libssl-dev' (or 'make setup')"
#endif

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

static inline int multipeer_err_lib(unsigned long code) { return ERR_GET_LIB(code); }
static inline int multipeer_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// One line, in the form of RFC 2253, with everything but printable ASCII escaped.
static inline unsigned long multipeer_name_flags(void) { return XN_FLAG_RFC2253; }

// TLS 1.3 only, without what TLS 1.3 makes superfluous.
static inline int multipeer_ctx_only_tls13(SSL_CTX *ctx) {
    SSL_CTX_set_options(
        ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
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
    return SSL_CTX_set_min_proto_version(ctx, DTLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(ctx, DTLS1_2_VERSION) == 1;
}
static inline int multipeer_ssl_set_link_mtu(SSL *ssl, long count) { return DTLS_set_link_mtu(ssl, count) == 1; }
static inline int multipeer_ssl_has_extended_secret(SSL *ssl) { return SSL_get_extms_support(ssl) == 1; }

// A memory BIO's contents in place, and how to drop their first bytes without copying.
static inline long multipeer_bio_contents(BIO *bio, unsigned char **start) { return BIO_get_mem_data(bio, start); }
static inline int multipeer_bio_skip(BIO *bio, long count) { return BIO_seek(bio, BIO_tell(bio) + count) >= 0; }

#endif
