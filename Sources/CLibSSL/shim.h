#ifndef MULTIPEER_CLIBSSL_SHIM_H
#define MULTIPEER_CLIBSSL_SHIM_H

// The few OpenSSL macros that Swift cannot see, as inline functions. Nothing else belongs here.

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL headers are missing: run 'apt-get install libssl-dev' (or 'make setup')"
#endif

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

#endif
