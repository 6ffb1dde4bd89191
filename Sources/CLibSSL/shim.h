#ifndef MULTIPEER_CLIBSSL_SHIM_H
#define MULTIPEER_CLIBSSL_SHIM_H

// The few OpenSSL macros that Swift cannot see, as inline functions. Nothing else belongs here.

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL headers are missing: run 'apt-get install libssl-dev' (or 'make setup')"
#endif

#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#endif
