import MultipeerCommandLine
import MultipeerEssentials

extension TransferEvent {
    static func offer(_ files: OfferedFiles?, _ peer: PeerID) -> TransferEvent {
        var event = TransferEvent("offer", peer: peer.displayName)
        event.id = peer.uid.bytes.hexadecimal
        event.totalFiles = files?.contents.files
        event.totalDirectories = files?.contents.directories
        event.totalBytes = files?.size
        event.names = files?.first.map(\.name)
        return event
    }

    static func done(
        _ transfer: TransferReport.Transfer, _ file: String, path: String? = nil, from peer: PeerID? = nil
    ) -> TransferEvent {
        var event = TransferEvent("done", peer: peer?.displayName)
        event.file = file
        event.path = path
        event.bytes = transfer.bytes
        event.resumedAt = transfer.resumedAt > 0 ? transfer.resumedAt : nil
        event.seconds = transfer.time.seconds
        event.sha256 = transfer.digest?.hexadecimal
        return event
    }

    /// A file that the receiver had already. `path`: where that is.
    static func same(
        _ file: String, bytes: UInt64, _ digest: [UInt8], path: String? = nil, from peer: PeerID? = nil
    ) -> TransferEvent {
        var event = TransferEvent("same", peer: peer?.displayName)
        event.file = file
        event.path = path
        event.bytes = bytes
        event.sha256 = digest.hexadecimal
        return event
    }

    /// Without a file it is the error that ends the command.
    static func error(
        _ file: String?, _ message: String, _ reason: String? = nil, from peer: PeerID? = nil
    ) -> TransferEvent {
        var event = TransferEvent("error", peer: peer?.displayName)
        event.file = file
        event.message = message
        event.reason = reason
        return event
    }

    static func end(_ report: TransferReport, _ time: Duration, of peer: PeerID? = nil) -> TransferEvent {
        var event = TransferEvent("end", peer: peer?.displayName)
        event.files = report.fileCount
        event.directories = report.directoryCount
        event.bytes = report.bytes
        event.seconds = time.seconds
        event.same = report.same
        event.skipped = report.skipped
        event.failed = report.failed
        return event
    }

    static func text(_ bytes: [UInt8], from peer: PeerID) -> TransferEvent {
        var event = TransferEvent("text", peer: peer.displayName)
        event.text = String(decoding: bytes, as: UTF8.self)
        return event
    }

    static func code(_ code: String) -> TransferEvent {
        var event = TransferEvent("code")
        event.text = code
        return event
    }
}
