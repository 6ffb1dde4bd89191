/// Receives the secrets of every TLS connection, one line each, for a tool that decrypts captures
/// (`SSLKEYLOGFILE`). With them, the traffic can be decrypted.
public struct KeyLog: Sendable {
    let write: @Sendable (String) -> Void

    /// Passes each line, without its line break, to `write`, which runs inside the handshake and must be
    /// fast.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }
}
