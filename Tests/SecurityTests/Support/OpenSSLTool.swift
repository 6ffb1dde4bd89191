import Foundation
import MultipeerSecurity
import TestSupport

/// The `openssl` command, in a directory of its own.
struct OpenSSLTool: ~Copyable {
    static let path = "/usr/bin/openssl"
    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Some systems have the provider with the old algorithms in a package of its own.
    static var hasOldAlgorithms: Bool {
        isPresent && ToolProcess.succeeds(path, ["list", "-providers", "-provider", "legacy"])
    }

    struct Failure: Error { let command: String }

    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "multipeer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Runs the tool with the words of `command`.
    func run(_ command: String) throws {
        let ending = try ToolProcess.run(
            Self.path, command.split(separator: " ").map(String.init), in: directory)
        guard ending.code == 0 else { throw Failure(command: command) }
    }

    func read(_ names: String...) throws -> [UInt8] {
        try names.flatMap { [UInt8](try Data(contentsOf: directory.appending(path: $0))) }
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    /// Creates root.pem, middle.pem and leaf.pem with their keys, each one signed by the one before.
    func makeChain(
        days: Int = 30, leaf name: String = "Leaf", extensions: String = "basicConstraints=CA:false\n",
        middle: String = ""
    ) throws {
        try write(
            Array("basicConstraints=critical,CA:true\nkeyUsage=keyCertSign\n\(middle)".utf8), to: "ca.ext")
        try write(Array(extensions.utf8), to: "leaf.ext")
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        try run(
            "req -x509 \(curve) -keyout root.key -out root.pem -subj /CN=Root -days 30 "
                + "-addext keyUsage=keyCertSign")
        try run("req \(curve) -keyout middle.key -out middle.csr -subj /CN=Middle")
        try run(
            "x509 -req -in middle.csr -CA root.pem -CAkey root.key -set_serial 2 -out middle.pem "
                + "-days 30 -extfile ca.ext")
        try run("req \(curve) -keyout leaf.key -out leaf.csr -subj /CN=\(name)")
        try run(
            "x509 -req -in leaf.csr -CA middle.pem -CAkey middle.key -set_serial 3 -out leaf.pem "
                + "-days \(days) -extfile leaf.ext")
    }
}
