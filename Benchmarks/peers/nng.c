// SPDX-License-Identifier: Apache-2.0
//
// nng: two pair sockets over TLS (with mbed TLS in Debian), or over TCP where the library has none. The client does not
// check the server's certificate.
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/supplemental/tls/tls.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "peer.h"

static nng_socket nng;
static bool is_encrypted;

static void check(int error, const char *what) { if (error) die(what, nng_strerror(error)); }

static const char *protection(void) { return is_encrypted ? "TLS of nng" : "none: this nng has no TLS"; }

/// Makes a certificate as the twin does, as text.
static void certify(nng_tls_config *config) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    BIO *texts[2] = { BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()) };
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME_add_entry_by_txt(
        X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (const unsigned char *)"peer", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_set_pubkey(certificate, key);
    if (!X509_sign(certificate, key, EVP_sha256())) die("certificate", "not signed");
    PEM_write_bio_X509(texts[0], certificate);
    PEM_write_bio_PrivateKey(texts[1], key, NULL, NULL, 0, NULL, NULL);
    for (int i = 0; i < 2; i++) BIO_write(texts[i], "", 1);
    char *shown, *secret;
    BIO_get_mem_data(texts[0], &shown);
    BIO_get_mem_data(texts[1], &secret);
    check(nng_tls_config_own_cert(config, shown, secret, NULL), "certificate");
}

static nng_tls_config *tls(bool is_server) {
    nng_tls_config *config;
    int error = nng_tls_config_alloc(&config, is_server ? NNG_TLS_MODE_SERVER : NNG_TLS_MODE_CLIENT);
    if (error == NNG_ENOTSUP) return NULL;
    check(error, "TLS");
    is_encrypted = true;
    if (is_server) certify(config);
    check(nng_tls_config_auth_mode(config, NNG_TLS_AUTH_MODE_NONE), "mode");
    return config;
}

static size_t prepare(bool is_server, unsigned char mine[INTRODUCTION]) {
    check(nng_pair0_open(&nng), "socket");
    // Without buffers each message waits for the other side.
    check(nng_socket_set_int(nng, NNG_OPT_SENDBUF, 128), "send buffer");
    check(nng_socket_set_int(nng, NNG_OPT_RECVBUF, 128), "receive buffer");
    nng_tls_config *config = tls(is_server);
    if (!is_server) return mine[0] = 0, 1;
    nng_listener listener;
    nng_sockaddr address;
    check(nng_listener_create(&listener, nng, config ? "tls+tcp://127.0.0.1:0" : "tcp://127.0.0.1:0"), "listener");
    if (config) check(nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, config), "configuration");
    check(nng_listener_start(listener, 0), "listen");
    check(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address), "address");
    memcpy(mine, &address.s_in.sa_port, 2);
    return 2;
}

static void begin(bool is_server, const unsigned char *theirs, size_t count) {
    if (is_server) return;
    if (count != 2) die("introduction", "too short");
    char url[64];
    nng_dialer dialer;
    nng_tls_config *config = tls(false);
    snprintf(url, sizeof url, "%s://127.0.0.1:%d", config ? "tls+tcp" : "tcp", theirs[0] << 8 | theirs[1]);
    check(nng_dialer_create(&dialer, nng, url), "dialer");
    if (config) check(nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config), "configuration");
    check(nng_dialer_start(dialer, 0), "dial");
}

static void send_message(const unsigned char *bytes, size_t count) {
    check(nng_send(nng, (void *)bytes, count, 0), "send");
}

static size_t receive_message(void) {
    nng_msg *message;
    check(nng_recvmsg(nng, &message, 0), "receive");
    size_t count = nng_msg_len(message);
    static volatile unsigned char first;
    if (count > 0) first = *(unsigned char *)nng_msg_body(message);
    (void)first;
    nng_msg_free(message);
    return count;
}

static void end(void) {
    // Closing drops what is still queued.
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    nng_close(nng);
}
