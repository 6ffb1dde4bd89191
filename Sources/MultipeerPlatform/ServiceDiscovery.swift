// The calls of the system's responder for DNS-SD: those of Darwin's own library, or of Avahi's that has the same header. Only this
// file asks which one it is. The manifest defines `SystemDiscovery` for Darwin; on Linux it is a trait of the package.

#if SystemDiscovery
    #if canImport(Darwin)
        @_exported public import dnssd
    #else
        @_exported public import CDNSSD
    #endif

    /// How the two libraries differ.
    package enum ServiceDiscovery {
        #if canImport(Darwin)
            /// With a conflict, the call fails, and the caller chooses the next name.
            package static var registrationFlags: DNSServiceFlags {
                DNSServiceFlags(kDNSServiceFlagsNoAutoRename)
            }
            /// Stands for the machine itself: the responder uses no multicast on the loopback interface.
            package static var localInterface: UInt32? { .max }
            /// Whether a record that is reported again has to be taken back as often.
            package static var countsRepeats: Bool { false }
            /// Whether a record can be reconfirmed.
            package static var reconfirms: Bool { true }
        #else
            /// Avahi's library takes no flags here: it chooses a name itself, and reports it.
            package static var registrationFlags: DNSServiceFlags { 0 }
            /// Avahi uses the loopback interface like any other.
            package static var localInterface: UInt32? { nil }
            /// Whether a record that is reported again has to be taken back as often: Avahi reports it once for each family.
            package static var countsRepeats: Bool { true }
            /// Whether a record can be reconfirmed: Avahi's library has the call, which only prints a warning.
            package static var reconfirms: Bool { false }
        #endif
    }
#endif
