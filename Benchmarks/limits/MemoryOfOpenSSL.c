// SPDX-License-Identifier: Apache-2.0
//
// The least memory of a process with one TLS connection in bare C: most of it are clean pages of libcrypto, libssl and libc that
// all processes share. The handshake, with a certificate on both sides, is with itself.
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int accept_any(int is_valid, X509_STORE_CTX *store) {
    (void)is_valid, (void)store;
    return 1;
}

static SSL_CTX *context(void) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    SSL_CTX *made = SSL_CTX_new(TLS_method());
    if (!key || !certificate || !made || !ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        || !X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
        || !X509_gmtime_adj(X509_getm_notAfter(certificate), 86400) || !X509_set_pubkey(certificate, key)
        || !X509_sign(certificate, key, EVP_sha256()) || SSL_CTX_use_certificate(made, certificate) != 1
        || SSL_CTX_use_PrivateKey(made, key) != 1 || SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) != 1)
        exit(1);
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, accept_any);
    return made;
}

int main(void) {
    SSL *client = SSL_new(context()), *server = SSL_new(context());
    BIO *near, *far;
    char line[256], word[64];
    double kibibytes;
    if (!client || !server || BIO_new_bio_pair(&near, 65536, &far, 65536) != 1) return 1;
    SSL_set_bio(client, near, near), SSL_set_bio(server, far, far);
    SSL_set_connect_state(client), SSL_set_accept_state(server);
    for (int i = 0; i < 10; i++) SSL_do_handshake(client), SSL_do_handshake(server);
    if (!SSL_is_init_finished(client) || SSL_write(client, "Z", 1) != 1 || SSL_read(server, line, 1) != 1) return 1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %lf", word, &kibibytes) != 2) continue;
        const char *what = !strcmp(word, "Rss:") ? "resident"
            : !strcmp(word, "Private_Dirty:") ? "of that, written by it alone" : NULL;
        if (what) printf("{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"MiB\"}\n", what, kibibytes / 1024);
    }
    return 0;
}
