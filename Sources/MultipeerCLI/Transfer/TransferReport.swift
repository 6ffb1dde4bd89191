import Multipeer
import MultipeerCommandLine

/// What became of every file, as one line each and one for all; and what the command's exit code says of it.
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
    package private(set) var transferred: [Transfer] = []
    /// How many files were not taken although everything worked: they exist, are too large, or nobody wants them.
    package private(set) var skipped = 0
    package private(set) var failed = 0

    package init(_ direction: Direction) { self.direction = direction }

    /// Each answers the line that tells it.
    package mutating func add(_ transfer: Transfer) -> String {
        transferred.append(transfer)
        let digest = transfer.digest.map { ", sha256 \($0.hexadecimal)" } ?? ""
        return "\(verb) \(transfer.name.printable), \(figures(transfer.bytes, transfer.time))\(digest)"
    }

    package mutating func skip(_ name: String, _ reason: String) -> String {
        skipped += 1
        return "skipped \(name.printable): \(reason.printable)"
    }

    package mutating func fail(_ name: String, _ reason: String) -> String {
        failed += 1
        return "not \(verb) \(name.printable): \(reason.printable)"
    }

    /// The line for all of them; nil when it would only say again what was said.
    package func total(_ time: Duration) -> String? {
        guard transferred.count + skipped + failed > 1 else { return nil }
        let bytes = transferred.reduce(0) { $0 &+ $1.bytes }
        let count = transferred.count == 1 ? "1 file" : "\(transferred.count) files"
        var parts = ["\(verb) \(count), \(figures(bytes, time))"]
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if failed > 0 { parts.append("\(failed) not \(verb)") }
        return parts.joined(separator: "; ")
    }

    package var isComplete: Bool { skipped == 0 && failed == 0 }

    private var verb: String { direction == .sending ? "sent" : "received" }

    private func figures(_ bytes: UInt64, _ time: Duration) -> String {
        let rate = Double(bytes) / max(time.seconds, 1e-6)
        return
            "\(HumanReadable.bytes(bytes)) in \(HumanReadable.duration(time)), \(HumanReadable.bytes(rate))/s"
    }

}

extension TransferReport {
    /// Why one file was not transferred, for people.
    static func reason(_ error: MultipeerError) -> String {
        guard error.closeCode != nil else { return error.description }
        switch error.code {
        case .cancelled: return "the other side cancelled it"
        case .declined: return "the other side declined it"
        case .noSpace: return "the other side has no space for it"
        case .damaged: return "what arrived is not what was sent"
        default: return error.description
        }
    }
}
