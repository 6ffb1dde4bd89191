import MultipeerTransport

/// A file of which only the first bytes are sent, until the transfer ends.
final class GatedSource: RepeatableSource {
    private let file: FileSource
    private let gate: UInt64
    private let position: Locked<UInt64> = Locked(0)
    private let end = Promise<Void>()

    init(_ path: String, gate: UInt64) throws {
        file = try FileSource(path)
        self.gate = gate
    }

    var size: UInt64? { file.size }

    func next() async throws(ResourceFault) -> [UInt8]? {
        let start = position.withLock { $0 }
        if start >= gate {
            await end.value()
            throw .cancelled
        }
        do throws(FileFault) {
            let bytes = try file.read(at: start, Int(min(gate - start, 65_536)))
            position.withLock { $0 += UInt64(bytes.count) }
            return bytes
        } catch {
            throw .file(error)
        }
    }

    func cancel() { end.send(()) }

    func read(at position: UInt64, _ wanted: Int) throws(FileFault) -> [UInt8] {
        try file.read(at: position, wanted)
    }

    func skip(to offset: UInt64) throws(FileFault) { position.withLock { $0 = offset } }
}
