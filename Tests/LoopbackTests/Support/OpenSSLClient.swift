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
        let process = Process()
        process.executableURL = URL(filePath: Self.path)
        process.arguments = ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments
        let (input, output) = (Foundation.Pipe(), Foundation.Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        // What would be a frame if anybody read it. Standard input stays open, so that the other side has to end it.
        try input.fileHandleForWriting.write(
            contentsOf: Data([0, 0, 8, 6, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]))
        defer { if process.isRunning { process.terminate() } }
        let read = Promise<Data>()
        let thread = Thread {
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            read.send(data)
        }
        thread.start()
        return try await within {
            let data = await read.value(onCancel: { read.send(Data()) })
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// Creates a key and a certificate for it, in one file each, in a directory that the caller removes.
    static func makeCertificate(in directory: URL) throws -> [String] {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let (key, certificate) = (directory.appending(path: "key.pem"), directory.appending(path: "cert.pem"))
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments =
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Stranger -days 2".split(
                separator: " "
            )
            .map(String.init) + ["-keyout", key.path(), "-out", certificate.path()]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return ["-cert", certificate.path(), "-key", key.path()]
    }
}
