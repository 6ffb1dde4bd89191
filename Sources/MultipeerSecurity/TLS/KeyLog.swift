/// Where the secrets of every TLS connection go, a line each, for a tool that decrypts captures
/// (`SSLKEYLOGFILE`). Whoever reads them reads the traffic.
public struct KeyLog: Sendable {
    let write: @Sendable (String) -> Void

    /// Hands each line, without its line break, to `write`. It runs inside the handshake: keep it short.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }
}
