package import MultipeerCore

extension SocketAddress {
    /// The address at which a candidate is dialled.
    package init?(_ candidate: Candidate) {
        guard let host = Host(bytes: candidate.address, scope: candidate.zone) else { return nil }
        self.init(host, port: candidate.port)
    }
}

extension Candidate {
    /// The address as others may dial it: without a zone, which means nothing to them.
    package init?(_ address: SocketAddress) { self.init(address: address.host.bytes, port: address.port) }
}
