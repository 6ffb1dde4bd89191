/// Requests of a session for introductions.
extension SubjectSession {
    /// Returns its endpoint and mesh data.
    func meshData() throws -> (Endpoint, [UInt8]) {
        let blob = try data(for: nil, mesh: true)
        do throws(Malformed) { return (try ConnectionData(blob).endpoint, blob) } catch {
            throw CaseFailure("the subject's mesh data: \(error)")
        }
    }

    /// Lets this session and another one connect to each other.
    func acquaint(with other: SubjectSession) throws {
        let (a, b) = (try data(for: other.uid, mesh: true), try other.data(for: uid, mesh: true))
        try connect(b)
        try other.connect(a)
    }

    /// Returns the peers to which it reports that it is connected.
    func connections() throws -> Set<String> {
        let peers = try ask("state")["peers"]?.members ?? [:]
        return Set(peers.filter { $0.value.text == "connected" }.keys)
    }
}
