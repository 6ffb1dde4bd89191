import MultipeerCommandLine

/// What `--json` prints, an object in a line: a field that does not apply is missing. Fields may be added; those that are
/// there keep their meaning.
package struct TransferEvent: Encodable, Equatable, Sendable {
    /// `offer`, `progress`, `done`, `same`, `text`, `error`, `end` or `code`.
    package var event: String
    /// The name of the other side, and its id in hexadecimal.
    package var peer: String?
    package var id: String?
    /// The file as its sender names it: with its path in a directory that is sent.
    package var file: String?
    /// Where a received file is.
    package var path: String?
    /// Files that were transferred, and that there are. Those of `progress` have directories without files among them.
    package var files: Int?
    package var totalFiles: Int?
    /// Directories without files that were transferred, and that there are.
    package var directories: Int?
    package var totalDirectories: Int?
    /// Bytes that were transferred, and that there are.
    package var bytes: UInt64?
    package var totalBytes: UInt64?
    /// Those of `bytes` that an earlier transfer had moved.
    package var resumedAt: UInt64?
    package var bytesPerSecond: UInt64?
    package var seconds: Double?
    package var sha256: String?
    /// The first names of an offer.
    package var names: [String]?
    package var text: String?
    /// Why a file was not transferred, for people, and the word of a note if there is one.
    package var message: String?
    package var reason: String?
    /// Files that the receiver had already.
    package var same: Int?
    package var skipped: Int?
    package var failed: Int?

    package init(_ event: String, peer: String? = nil) {
        self.event = event
        self.peer = peer
    }

    /// One line.
    package var line: [UInt8] {
        (try? JSON.encode(self, isPretty: false)) ?? Array("{}\n".utf8)
    }
}
