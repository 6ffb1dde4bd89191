import MultipeerSecurity

extension FuzzBody {
    /// The first byte chooses what the rest is: a certificate, an identity with or without a passphrase, a trust store.
    package static let certificateChain = FuzzBody("certificate-chain") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let form = input.byte() % 4
        let file = input.rest()
        do {
            switch form {
            case 0: try examine(try Certificate(parsing: file), readFrom: file)
            case 1: try examine(try Identity(parsing: file))
            case 2: try examine(try Identity(parsing: file, passphrase: "secret"))
            default: try examine(try TrustStore(parsing: file))
            }
        } catch let fault as SecurityFault {
            guard case .local = fault else {
                throw BrokenPromise(description: "the fault of a bad file is \(fault)")
            }
            try promise(isOneLine(fault.description), "a fault is one printable line")
        } catch let broken as BrokenPromise {
            throw broken
        } catch {
            throw BrokenPromise(description: "an error of another type: \(error)")
        }
    }
}

private func examine(_ certificate: Certificate, readFrom der: [UInt8]) throws {
    try promise(certificate.der == der, "a certificate keeps its bytes")
    try promise(
        certificate.fingerprint == Fingerprint(SHA256.hash(der)), "the fingerprint is that of the bytes")
    for text in [
        certificate.subject, certificate.issuer, certificate.keyDescription, certificate.description,
    ] {
        try promise(isOneLine(text), "texts of a certificate are one printable line")
    }
    try promise(!certificate.pem.isEmpty, "a certificate has a PEM form")
}

private func examine(_ identity: Identity) throws {
    try promise((1...Identity.longestChain).contains(identity.chain.count), "a chain has 1 to 8 certificates")
    let size = identity.chain.reduce(0) { $0 + $1.der.count }
    try promise(size <= Identity.largestChain, "a chain has at most 16 KiB")
    try promise(identity.chain.first?.fingerprint == identity.fingerprint, "the leaf is pinned")
    for certificate in identity.chain { try examine(certificate, readFrom: certificate.der) }
    let again = try Identity(parsingPEM: try identity.encodedPEM())
    try promise(again.chain == identity.chain, "an identity is read as it was written")
    let archive = try Identity(
        parsingPKCS12: try identity.encodedPKCS12(passphrase: "x", rounds: 1), passphrase: "x")
    try promise(archive.chain == identity.chain, "and so is its archive")
}

private func examine(_ store: TrustStore) throws {
    try promise(try TrustStore(parsing: store.text) == store, "a trust store is read as it was written")
}

private func isOneLine(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
