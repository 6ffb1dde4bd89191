// SPDX-License-Identifier: Apache-2.0
//
// What the programs here share that make a certificate with OpenSSL.
#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED  // the older form of a key of P-256
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void need(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static double microseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
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

static X509 *self_signed(EVP_PKEY *key) {
    X509 *made = X509_new();
    need(key && made, "key");
    X509_set_version(made, 2);
    ASN1_TIME_set_string_X509(X509_getm_notBefore(made), "20000101000000Z");
    ASN1_TIME_set_string_X509(X509_getm_notAfter(made), "99991231235959Z");
    X509_NAME *name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"limit", -1, -1, 0);
    X509_set_issuer_name(made, name);
    set_public_key(made, key);
    need(X509_sign(made, key, EVP_sha256()) > 0, "X509_sign");
    return made;
}
