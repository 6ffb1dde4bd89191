import Multipeer
import MultipeerCommandLine

/// The results of all files, as one line for each and one for all.
package struct TransferReport: Equatable, Sendable {
    package enum Direction: Sendable { case sending, receiving }

    package struct Transfer: Equatable, Sendable {
        package let name: String
        package let bytes: UInt64
        package let time: Duration
        package let digest: [UInt8]?

        package init(name: String, bytes: UInt64, time: Duration, digest: [UInt8]?) {
            self.name = name
            self.bytes = bytes
            self.time = time
            self.digest = digest
        }
    }

    private let direction: Direction
    /// Whether digests are shown whole.
    private let isVerbose: Bool
    package private(set) var transferred: [Transfer] = []
    /// The number of files that were skipped without an error: they exist already, are too large, or were declined.
    package private(set) var skipped = 0
    package private(set) var failed = 0

    package init(_ direction: Direction, isVerbose: Bool = false) {
        self.direction = direction
        self.isVerbose = isVerbose
    }

    /// Records a result and returns the line to show, like the two functions below.
    package mutating func add(_ transfer: Transfer) -> String {
        transferred.append(transfer)
        let digest = transfer.digest.map { ", sha256 \(shown($0))" } ?? ""
        return "\(verb) \(transfer.name.printable), \(figures(transfer.bytes, transfer.time))\(digest)"
    }

    package mutating func skip(_ name: String, _ reason: String) -> String {
        skipped += 1
        return "skipped \(name.printable): \(reason.printable)"
    }

    package mutating func fail(_ name: String, _ reason: String) -> String {
        failed += 1
        return "\(name.printable): \(reason.printable)"
    }

    /// Returns the line for all files; nil for a single file, which has its own line.
    package func total(_ time: Duration) -> String? {
        guard transferred.count + skipped + failed > 1 else { return nil }
        let bytes = transferred.reduce(0) { $0 &+ $1.bytes }
        let count = transferred.count == 1 ? "1 file" : "\(transferred.count) files"
        var parts = ["\(verb) \(count), \(figures(bytes, time))"]
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if failed > 0 { parts.append("\(failed) failed") }
        return parts.joined(separator: "; ")
    }

    package var isComplete: Bool { skipped == 0 && failed == 0 }

    /// Returns enough of a digest to compare two by eye; they were compared in full.
    private func shown(_ digest: [UInt8]) -> String {
        isVerbose ? digest.hexadecimal : "\(Array(digest.prefix(TransferReport.shownBytes)).hexadecimal)..."
    }

    private static let shownBytes = 4

    private var verb: String { direction == .sending ? "sent" : "received" }

    private func figures(_ bytes: UInt64, _ time: Duration) -> String {
        let rate = Double(bytes) / max(time.seconds, 1e-6)
        return
            "\(HumanReadable.bytes(bytes)) in \(HumanReadable.duration(time)), \(HumanReadable.bytes(rate))/s"
    }

}

extension TransferReport {
    /// Returns why one file was not transferred, for people.
    static func reason(_ error: MultipeerError) -> String {
        guard error.closeCode != nil else {
            return error.code == .cancelled ? "cancelled" : error.description
        }
        switch error.code {
        case .cancelled: return "cancelled by the other side"
        case .declined: return "declined by the other side"
        case .noSpace: return "no space left on the other side"
        case .damaged: return "the data received differs from the data sent"
        default: return error.description
        }
    }
}
