import Foundation
import MultipeerTransport
import TestSupport

/// `openssl s_client`, a TLS client that knows nothing of this protocol.
struct OpenSSLClient: Sendable {
    static let path = "/usr/bin/openssl"

    /// Whether `openssl` exists; prints a note when the tests that need it cannot run.
    static var isPresent: Bool {
        let isPresent = FileManager.default.isExecutableFile(atPath: path)
        if !isPresent { print("skipped: there is no \(path)") }
        return isPresent
    }

    let port: UInt16
    let arguments: [String]

    /// Runs until the other side ends the connection, and returns what it printed.
    func run() async throws -> String {
        // The input would be a frame if anybody read it. It stays open, so that the other side has to end the connection.
        let process = try ToolProcess(
            Self.path, ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments,
            input: "\0\0\u{8}\u{6}\0\0\0\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}")
        defer { process.kill() }
        return try await within {
            let ending = await process.end()
            return ending.output + ending.errors
        }
    }

    /// Creates a key and a certificate for it, in one file each, in a directory that the caller removes.
    static func makeCertificate(in directory: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let (key, certificate) = (directory.appending(path: "key.pem"), directory.appending(path: "cert.pem"))
        let request =
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Stranger -days 2"
        try ToolProcess.run(
            path,
            request.split(separator: " ").map(String.init) + [
                "-keyout", key.path(), "-out", certificate.path(),
            ])
        return ["-cert", certificate.path(), "-key", key.path()]
    }
}
