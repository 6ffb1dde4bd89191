#ifndef MULTIPEER_CDNSSD_SHIM_H
#define MULTIPEER_CDNSSD_SHIM_H

// The calls of the system's responder, as Avahi's compatibility library has them. For the trait `SystemDiscovery` alone.

#if !__has_include(<dns_sd.h>)
#error "dns_sd.h is missing: run 'apt-get install libavahi-compat-libdnssd-dev', or build without the trait SystemDiscovery"
#endif

#include <dns_sd.h>

#endif
