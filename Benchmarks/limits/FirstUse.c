// SPDX-License-Identifier: Apache-2.0
//
// The limit of the first session of a process: the time that OpenSSL takes for its first use, before any work of a session.
// Each step is done for the first time in this process, and then again, in microseconds; what is paid once is the difference.
//
//   FirstUse
//
// "set-up" reads the configuration file and loads the provider, in which an administrator may have demanded approved algorithms:
// a library cannot skip it. The first key, signature, certificate and context fetch their algorithms by name.
#define OPENSSL_SUPPRESS_DEPRECATED  // the older form of a key of P-256
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static EVP_PKEY *key;
static X509 *certificate;
static SSL_CTX *context;

static void need(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "FirstUse: %s failed\n", what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void set_up(void) {
    need(OPENSSL_init_ssl(0, NULL) == 1, "OPENSSL_init_ssl");
    need(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1, "OPENSSL_init_crypto");
}

static void make_key(void) {
    EVP_PKEY_free(key);
    key = EVP_EC_gen("P-256");
    need(key != NULL, "EVP_EC_gen");
}

/// Sets the public key as the library does: in the older form, which `X509_set_pubkey` need not encode and decode again.
static void set_public_key(X509 *made, EVP_PKEY *key) {
    unsigned char *point = NULL;
    size_t count = EVP_PKEY_get1_encoded_public_key(key, &point);
    EC_KEY *curve = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    EVP_PKEY *known = EVP_PKEY_new();
    need(curve && known && EC_KEY_oct2key(curve, point, count, NULL) == 1, "public key");
    need(EVP_PKEY_assign(known, EVP_PKEY_EC, curve) == 1 && X509_set_pubkey(made, known) == 1, "public key");
    EVP_PKEY_free(known);
    OPENSSL_free(point);
}

static void sign_certificate(void) {
    X509_free(certificate);
    certificate = X509_new();
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"first", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    set_public_key(certificate, key);
    need(X509_sign(certificate, key, EVP_sha256()) > 0, "X509_sign");
}

static void make_context(void) {
    SSL_CTX_free(context);
    context = SSL_CTX_new(TLS_method());
    need(context != NULL, "SSL_CTX_new");
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    need(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1, "suite");
    need(SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1, "groups");
}

static void present(void) {
    SSL *ssl = SSL_new(context);
    need(ssl && SSL_use_cert_and_key(ssl, certificate, key, NULL, 1) == 1, "SSL_use_cert_and_key");
    SSL_free(ssl);
}

int main(void) {
    static const struct { const char *name; void (*work)(void); } steps[] = {
        { "set-up", set_up }, { "key of P-256", make_key }, { "self-signed certificate", sign_certificate },
        { "context of TLS", make_context }, { "connection with the certificate", present },
    };
    double first_all = 0, again_all = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double start = now();
        steps[i].work();
        double first = now() - start;
        steps[i].work();
        start = now();
        for (int round = 0; round < 20; round++) steps[i].work();
        double again = (now() - start) / 20;
        first_all += first, again_all += again;
        printf("{\"what\": \"%s, first\", \"value\": %.1f, \"unit\": \"us\"}\n", steps[i].name, first);
        printf("{\"what\": \"%s, again\", \"value\": %.1f, \"unit\": \"us\"}\n", steps[i].name, again);
    }
    printf("{\"what\": \"all steps, first\", \"value\": %.1f, \"unit\": \"us\"}\n", first_all);
    printf("{\"what\": \"all steps, again\", \"value\": %.1f, \"unit\": \"us\"}\n", again_all);
    return 0;
}
