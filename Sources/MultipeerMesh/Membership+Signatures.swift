import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

/// Whose key made an entry: no member can make one in the name of another. Spec 11.4.
extension Membership {
    /// Returns our own entry with our certificate and signature; without them if the session has no key, and nil when signing
    /// fails.
    func signed(_ entry: Members) -> Members? {
        guard let signer else { return entry }
        var entry = entry
        entry.certificate = signer.certificate
        guard let signature = signer.sign(entry.signedBytes) else { return nil }
        entry.signature = signature
        return entry
    }

    /// Returns whether the entry has a certificate and a signature of a possible size if this session has a key, and neither if
    /// it has none. [mesh.entry]
    func hasSignature(_ entry: Members) -> Bool {
        guard signer != nil else { return entry.certificate.isEmpty && entry.signature.isEmpty }
        return 1...Limits.entryCertificate ~= entry.certificate.count
            && 1...Limits.entrySignature ~= entry.signature.count
    }

    /// Returns the fingerprint of a certificate; nil if it is empty.
    static func key(of certificate: [UInt8]) -> Fingerprint? {
        certificate.isEmpty ? nil : Fingerprint(SHA256.hash(certificate))
    }

    /// Returns whether an entry with these data is of the key that this endpoint has: that of its link, or else that of the
    /// stored entry. [mesh.one-key]
    func isOfItsKey(_ data: ConnectionData, on link: MeshLink) throws(Violation) -> Bool {
        let endpoint = data.endpoint
        if endpoint == link.endpoint {
            guard data.fingerprint == link.key else { throw .badEntry(.foreignKey) }
            return true
        }
        if endpoint == local { return data.fingerprint == key }
        if let neighbour = graph.links.values.first(where: { $0.endpoint == endpoint }) {
            return data.fingerprint == neighbour.key
        }
        let held = graph.database[endpoint]?.data ?? hearsayEntries[endpoint]?.data
        return held.map { $0.fingerprint == data.fingerprint } ?? true
    }

    /// Drops what others sent of this endpoint with another key, because the link proves its own. [mesh.one-key]
    mutating func dropEntries(of endpoint: Endpoint, except key: Fingerprint?) {
        if let held = graph.database[endpoint], held.data.fingerprint != key { graph.remove(endpoint) }
        if let kept = hearsayEntries[endpoint], kept.data.fingerprint != key {
            hearsayEntries[endpoint] = nil
        }
    }

    /// Verifies an entry that may be stored, set aside or answered. Its sender had to do the same. [mesh.signature]
    mutating func verify(_ entry: Members) throws(Violation) {
        guard signer != nil else { return }
        let uid = entry.origin.uid
        let known = verificationKeys[entry.certificate]
        guard let key = known ?? verifier.key(of: entry.certificate),
            !uid.isKeyed || key.keyedUID == uid,  // [uid.proof]
            key.isValid(entry.signature, of: entry.signedBytes)
        else { throw .badSignature }
        if known == nil { keep(key, of: entry.certificate) }
    }

    /// Keeps a key that has verified an entry, as many as there may be entries: then all are read again.
    private mutating func keep(_ key: VerificationKey, of certificate: [UInt8]) {
        if verificationKeys.count == Limits.memberEntries {
            verificationKeys.removeAll(keepingCapacity: true)
        }
        verificationKeys[certificate] = key
    }

    /// Returns whether the entry may be stored, set aside or answered. Any other is ignored, and its signature not verified.
    func isNews(_ entry: Members, on link: MeshLink, _ id: ConnectionID) -> Bool {
        let origin = entry.origin
        if origin == local {
            return own.map { !entry.saysTheSame(as: $0) && entry.sequence >= $0.sequence } ?? false
        }
        guard !departures.holds(origin, at: now) else { return false }
        let held = graph.database[origin]
        let isFirstHand = link.endpoint == origin
        if isFirstHand, held?.link != id { return true }
        let hearsay = isFirstHand ? nil : hearsayEntries[origin]
        let known = [held?.entry.sequence, hearsay?.entry.sequence].compactMap { $0 }
        return known.allSatisfy { entry.sequence > $0 }
    }
}
