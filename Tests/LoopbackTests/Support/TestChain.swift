import Foundation
import Multipeer
import TestSupport

/// A certificate authority and an identity that it has certified, made by the `openssl` command.
struct TestChain {
    let identity: Identity
    let root: Certificate
    private let directory: URL

    /// Creates a leaf with this common name, and the root that has signed it.
    init(named name: String) throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "multipeer-\(UUID().uuidString)")
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        try Self.run("req -x509 \(curve) -keyout root.key -out root.pem -subj /CN=Root -days 30", directory)
        try Self.run("req \(curve) -keyout leaf.key -out leaf.csr -subj /CN=\(name)", directory)
        try Self.run(
            "x509 -req -in leaf.csr -CA root.pem -CAkey root.key -set_serial 2 -out leaf.pem -days 30",
            directory)
        let files = try ["leaf.key", "leaf.pem", "root.pem"].map {
            try Data(contentsOf: directory.appending(path: $0))
        }
        identity = try Identity(file: files.flatMap { [UInt8]($0) })
        guard let root = identity.chain.last else { throw Overdue() }
        self.root = root
    }

    func remove() { try? FileManager.default.removeItem(at: directory) }

    private static func run(_ command: String, _ directory: URL) throws {
        try ToolProcess.run(OpenSSLClient.path, command.split(separator: " ").map(String.init), in: directory)
    }
}
