// SPDX-License-Identifier: Apache-2.0
//
// The limit of the first session of a process: the time that OpenSSL takes for its first use, before any work of a session.
// Each step is done for the first time in this process, and then again, in microseconds; what is paid once is the difference.
//
//   FirstUse
//
// "set-up" reads the configuration file and loads the provider, in which an administrator may have demanded approved algorithms:
// a library cannot skip it. The first key, signature, certificate and context fetch their algorithms by name.
#include "self_signed.h"
#include <openssl/ssl.h>

static EVP_PKEY *key;
static X509 *certificate;
static SSL_CTX *context;

static void set_up(void) {
    need(OPENSSL_init_ssl(0, NULL) == 1, "OPENSSL_init_ssl");
    need(OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL) == 1, "OPENSSL_init_crypto");
}

static void make_key(void) {
    EVP_PKEY_free(key);
    key = EVP_EC_gen("P-256");
    need(key != NULL, "EVP_EC_gen");
}

static void sign_certificate(void) {
    X509_free(certificate);
    certificate = self_signed(key);
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
        double start = microseconds(CLOCK_MONOTONIC);
        steps[i].work();
        double first = microseconds(CLOCK_MONOTONIC) - start;
        steps[i].work();
        start = microseconds(CLOCK_MONOTONIC);
        for (int round = 0; round < 20; round++) steps[i].work();
        double again = (microseconds(CLOCK_MONOTONIC) - start) / 20;
        first_all += first, again_all += again;
        printf("{\"what\": \"%s, first\", \"value\": %.1f, \"unit\": \"us\"}\n", steps[i].name, first);
        printf("{\"what\": \"%s, again\", \"value\": %.1f, \"unit\": \"us\"}\n", steps[i].name, again);
    }
    printf("{\"what\": \"all steps, first\", \"value\": %.1f, \"unit\": \"us\"}\n", first_all);
    printf("{\"what\": \"all steps, again\", \"value\": %.1f, \"unit\": \"us\"}\n", again_all);
    return 0;
}
