package import MultipeerCore

/// The certificate that one expected peer has to present: the one that its connection data pins, with a key that hashes to
/// its uid if that is keyed. Spec 3.1 and 5.3.
package struct CertificatePin: Hashable, Sendable {
    package let fingerprint: Fingerprint
    package let uid: UID

    package init(_ fingerprint: Fingerprint, of uid: UID) {
        self.fingerprint = fingerprint
        self.uid = uid
    }
}
