import MultipeerCore
import MultipeerFraming
import MultipeerMesh
import MultipeerSecurity

// MARK: who made an entry

extension Observer {
    /// Returns the honest endpoints whose entries a node holds under their own key.
    func genuineKeys(_ node: Node) -> Set<Endpoint> {
        guard liesSince != nil, node.isHonest else { return [] }
        return Set(
            node.mesh.entries.lazy.filter { self.certificate(of: $0.origin) == $0.certificate }.map(\.origin))
    }

    /// Checks, after a node received something, that each entry that it holds of an honest endpoint was made by that endpoint,
    /// or else has been under another key since the first one, which that of a keyed uid never is. `genuine`: what `genuineKeys` returned before.
    func watchAuthenticity(_ node: Node, since genuine: Set<Endpoint>) {
        guard liesSince != nil, node.isHonest, failure == nil else { return }
        for entry in node.mesh.entries {
            guard let certificate = certificate(of: entry.origin) else { continue }
            if entry.certificate != certificate {
                if entry.origin.uid.isKeyed {
                    let origin = name(entry.origin)
                    fail(.authentic, "peer \(node.index) holds an entry of \(origin) under another key")
                } else if genuine.contains(entry.origin) {
                    fail(.authentic, "peer \(node.index) has replaced the key of \(name(entry.origin))")
                }
            } else if !SimulatedSignatures.verifier.isValid(
                entry.signature, of: entry.signedBytes, by: certificate)
            {
                fail(.authentic, "peer \(node.index) holds a forged entry of \(name(entry.origin))")
            }
        }
    }

    /// Returns the certificate of an honest peer that runs; nil for any other endpoint, and without a key.
    private func certificate(of endpoint: Endpoint) -> [UInt8]? {
        let node = nodes.first { $0.process.isUp && $0.endpoint == endpoint && $0.isHonest }
        return node?.signer?.certificate
    }

    private func name(_ endpoint: Endpoint) -> String {
        nodes.first { $0.endpoint == endpoint }.map { "\($0.index)" } ?? "?"
    }
}
