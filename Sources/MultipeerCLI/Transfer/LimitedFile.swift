import MultipeerEssentials

/// A file whose bytes leave no faster than a limit, and whose transfer can go on where an earlier one broke.
final class LimitedFile: RepeatableSource {
    private let file: any RepeatableSource
    private let limited: LimitedSource

    init(_ file: any RepeatableSource, _ limit: LimitedSource.Limit) {
        self.file = file
        limited = LimitedSource(file, limit)
    }

    var size: UInt64? { file.size }
    var address: String? { file.address }

    func next() async throws(ResourceFault) -> [UInt8]? { try await limited.next() }

    func cancel() { limited.cancel() }

    /// What is compared does not leave.
    func read(at position: UInt64, _ wanted: Int) throws(FileFault) -> [UInt8] {
        try file.read(at: position, wanted)
    }

    func skip(to offset: UInt64) throws(FileFault) { try file.skip(to: offset) }
}

extension LimitedSource {
    /// Returns a source that can be read again if this one can.
    static func limiting(_ source: any PieceSource, _ limit: Limit) -> any PieceSource {
        guard let file = source as? any RepeatableSource else { return LimitedSource(source, limit) }
        return LimitedFile(file, limit)
    }
}
