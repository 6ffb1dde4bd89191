// mode: Swift 5
// flags: -swift-version 5

// idiom: a certificate compared with the Security framework
// why: There is no Security framework on Linux.
// instead: The elements are `MCCertificate`; compare them by value.

#if !INSTEAD
    // error: no such module 'Security'
    import Security
#endif
import MultipeerConnectivity

#if INSTEAD
    func isKnown(_ certificates: [Any]?, _ known: Set<MCCertificate>) -> Bool {
        (certificates?.first as? MCCertificate).map(known.contains) ?? false
    }
#else
    func isKnown(_ certificates: [Any]?, _ known: Set<Data>) -> Bool {
        guard let first = certificates?.first else { return false }
        return known.contains(SecCertificateCopyData(first as! SecCertificate) as Data)
    }
#endif
