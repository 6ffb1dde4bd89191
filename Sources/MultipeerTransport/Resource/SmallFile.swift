import MultipeerFraming
import MultipeerSecurity

/// A file whose bytes are few enough that they are read when it is opened. OPEN, DATA and FIN of it then leave together, and no
/// further task is necessary.
package struct SmallFile: PieceSource {
    /// Longer files are read while they are sent.
    static let longest = 4 * Limits.channelPiece
    /// What a channel queues without waiting.
    package static let longestWhole = ChannelSendQueue.byteLimit

    private let bytes: [UInt8]
    private let digest: [UInt8]?

    package enum Opened {
        case small(SmallFile)
        /// Nothing of it was read.
        case long(FileSource)
    }

    /// Reads a file if it is small. Blocks: for a thread of the file pool.
    package static func read(_ file: FileSource, digest: Bool) throws(FileFault) -> Opened {
        guard let size = file.size, size <= UInt64(longest) else { return .long(file) }
        return .small(SmallFile(try file.read() ?? [], digest: digest))
    }

    /// `bytes`: all of them, at most `longestWhole`.
    package init(_ bytes: [UInt8], digest: Bool) {
        self.bytes = bytes
        self.digest = digest ? SHA256.hash(bytes) : nil
    }

    package var size: UInt64? { UInt64(bytes.count) }
    package var whole: WholeContents? { WholeContents(bytes: bytes, digest: digest) }

    /// Nothing remains to be read.
    package func next() async throws(ResourceFault) -> [UInt8]? { nil }

    package func cancel() {}
}

/// All bytes of a resource, with their digest if it is to be sent.
package struct WholeContents: Sendable {
    let bytes: [UInt8]
    let digest: [UInt8]?
}
