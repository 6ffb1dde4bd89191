// SPDX-License-Identifier: Apache-2.0
//
// The limit of a connection with keys of its own: the processor time that OpenSSL alone takes for what both ends must do, without
// sockets, threads, frames or allocations of a library. The C twin of the row "connect" does only the first of these steps.
//
//   Connect ROUNDS
//
// Both ends run in one thread, over memory. "handshake": TLS 1.3 with a certificate on both sides, each compared with a digest.
// "keys": a key of P-256 and a self-signed certificate for each end. "datagrams": DTLS 1.2 of Spec 10, with a key of the link.
#include "self_signed.h"
#include <openssl/ssl.h>
#include <string.h>

struct end { EVP_PKEY *key; X509 *certificate; SSL *link; };

static SSL_CTX *tls, *dtls;
static unsigned char shared[32];

static int is_pinned(X509_STORE_CTX *store, void *unused) {
    unsigned char digest[32];
    (void)unused;
    return X509_digest(X509_STORE_CTX_get0_cert(store), EVP_sha256(), digest, NULL);
}

static unsigned client_key(SSL *s, const char *h, char *id, unsigned n, unsigned char *psk, unsigned m) {
    (void)s, (void)h, (void)m;
    snprintf(id, n, "link");
    return memcpy(psk, shared, sizeof shared), sizeof shared;
}
static unsigned server_key(SSL *s, const char *id, unsigned char *psk, unsigned m) {
    (void)s, (void)id, (void)m;
    return memcpy(psk, shared, sizeof shared), sizeof shared;
}

static void make_contexts(void) {
    tls = SSL_CTX_new(TLS_method()), dtls = SSL_CTX_new(DTLS_method());
    SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(dtls, DTLS1_2_VERSION);
    need(SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256") == 1, "suite");
    need(SSL_CTX_set_cipher_list(dtls, "ECDHE-PSK-CHACHA20-POLY1305") == 1, "suite of DTLS");
    SSL_CTX_set_options(dtls, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_num_tickets(tls, 0);
    for (int i = 0; i < 2; i++) {
        SSL_CTX_set1_groups_list(i ? dtls : tls, "X25519:P-256");
        SSL_CTX_set_session_cache_mode(i ? dtls : tls, SSL_SESS_CACHE_OFF);
    }
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(tls, is_pinned, NULL);
    SSL_CTX_set_psk_client_callback(dtls, client_key);
    SSL_CTX_set_psk_server_callback(dtls, server_key);
}

static void make_keys(struct end *end) {
    end->key = EVP_EC_gen("P-256");
    end->certificate = self_signed(end->key);
}

/// Completes the handshake of two connections, one flight after the other, and moves the bytes between them.
static void shake_hands(SSL *pair[2]) {
    for (int i = 0; i < 2; i++) {
        SSL_set_bio(pair[i], BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        i ? SSL_set_accept_state(pair[i]) : SSL_set_connect_state(pair[i]);
    }
    unsigned char bytes[16384];
    for (int turn = 0; turn < 12 && !(SSL_is_init_finished(pair[0]) && SSL_is_init_finished(pair[1])); turn++) {
        SSL *from = pair[turn % 2], *to = pair[1 - turn % 2];
        SSL_do_handshake(from);
        int count = BIO_read(SSL_get_wbio(from), bytes, sizeof bytes);
        if (count > 0) BIO_write(SSL_get_rbio(to), bytes, count);
    }
    need(SSL_is_init_finished(pair[0]) && SSL_is_init_finished(pair[1]), "handshake");
}

static void link_ends(struct end ends[2], int datagrams) {
    SSL *pair[2], *second[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = SSL_new(tls);
        need(SSL_use_cert_and_key(pair[i], ends[i].certificate, ends[i].key, NULL, 1) == 1, "certificate");
    }
    shake_hands(pair);
    for (int i = 0; datagrams && i < 2; i++) {
        SSL_export_keying_material(pair[i], shared, sizeof shared, "limit", 5, NULL, 0, 0);
        second[i] = SSL_new(dtls);
        SSL_ctrl(second[i], DTLS_CTRL_SET_LINK_MTU, 1200, NULL);
    }
    if (datagrams) shake_hands(second);
    for (int i = 0; i < 2; i++) {
        SSL_free(pair[i]);
        if (datagrams) SSL_free(second[i]);
    }
}

static double measure(int rounds, int keys, int datagrams) {
    struct end ends[2];
    double start = 0;
    for (int i = -20; i < rounds; i++) {                    // the first ones fetch the algorithms
        if (i == 0) start = microseconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int e = 0; e < 2 && (keys || i == -20); e++) make_keys(&ends[e]);
        link_ends(ends, datagrams);
        for (int e = 0; e < 2 && (keys || i == rounds - 1); e++) EVP_PKEY_free(ends[e].key), X509_free(ends[e].certificate);
    }
    return (microseconds(CLOCK_PROCESS_CPUTIME_ID) - start) / rounds;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    make_contexts();
    static const char *const names[] = { "handshake", "handshake, keys", "handshake, datagrams", "handshake, keys, datagrams" };
    for (int i = 0; i < 4; i++)
        printf("{\"what\": \"%s, both ends\", \"value\": %.0f, \"unit\": \"us\"}\n", names[i],
            measure(rounds, i & 1, i >> 1));
    return 0;
}
