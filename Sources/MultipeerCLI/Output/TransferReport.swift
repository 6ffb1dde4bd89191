import MultipeerCommandLine
import MultipeerEssentials

/// The results of all files, as one line for each and one for all.
package struct TransferReport: Equatable, Sendable {
    package enum Direction: Sendable { case sending, receiving }

    package struct Transfer: Equatable, Sendable {
        package let name: String
        package let bytes: UInt64
        package let time: Duration
        package let digest: [UInt8]?
        /// The bytes that an earlier transfer had moved, which are among `bytes`.
        package let resumedAt: UInt64
        /// Whether it stands for a directory without files.
        package let isDirectory: Bool

        package init(
            name: String, bytes: UInt64, time: Duration, digest: [UInt8]?, resumedAt: UInt64 = 0,
            isDirectory: Bool = false
        ) {
            self.name = name
            self.bytes = bytes
            self.time = time
            self.digest = digest
            self.resumedAt = resumedAt
            self.isDirectory = isDirectory
        }
    }

    /// The files of one directory, which have one line together.
    private struct Group: Equatable {
        let name: String
        var files = 0
        var directories = 0
        /// Files that the receiver had already.
        var same = 0
        var bytes: UInt64 = 0
        /// Those of them that an earlier transfer had moved.
        var resumed: UInt64 = 0
        var time = Duration.zero
    }

    private let direction: Direction
    private var groups: [Group] = []
    /// The position of each group.
    private var places: [FilePath: Int] = [:]
    /// Files that are in no group.
    private var single = 0
    /// Whether digests are shown whole.
    private let isVerbose: Bool
    package private(set) var transferred: [Transfer] = []
    /// The number of files that the receiver had already: they were compared.
    package private(set) var same = 0
    /// Those of them that are in no directory.
    private var singleSame = 0
    /// The number of files that were skipped without an error: another one exists, they are too large, or were declined.
    package private(set) var skipped = 0
    /// Those of them of whose name the receiver has a file that differs.
    private var different = 0
    package private(set) var failed = 0

    package init(_ direction: Direction, isVerbose: Bool = false) {
        self.direction = direction
        self.isVerbose = isVerbose
    }

    /// Records a result and returns the line to show, like the two functions below.
    package mutating func add(_ transfer: Transfer) -> String {
        transferred.append(transfer)
        single += 1
        let digest = transfer.digest.map { ", sha256 \(shown($0))" } ?? ""
        let resumed = transfer.resumedAt > 0 ? ", resumed at \(HumanReadable.bytes(transfer.resumedAt))" : ""
        let figures = figures(transfer.bytes, transfer.time, after: transfer.resumedAt)
        return "\(verb) \(transfer.name.printable), \(figures)\(resumed)\(digest)"
    }

    /// Records a file of a directory, which has no line of its own. `time`: since the first file began.
    package mutating func add(_ transfer: Transfer, of directory: String, at time: Duration) {
        transferred.append(transfer)
        let place = place(of: directory)
        if transfer.isDirectory { groups[place].directories += 1 } else { groups[place].files += 1 }
        groups[place].bytes &+= transfer.bytes
        groups[place].resumed &+= transfer.resumedAt
        groups[place].time = time
    }

    /// Records a file that the receiver had already. `directory`: the one that it is in.
    package mutating func addSame(of directory: String?) {
        same += 1
        if let directory { groups[place(of: directory)].same += 1 } else { singleSame += 1 }
    }

    private mutating func place(of directory: String) -> Int {
        if let place = places[FilePath(directory)] { return place }
        places[FilePath(directory)] = groups.count
        groups.append(Group(name: directory))
        return groups.count - 1
    }

    /// A line for each directory.
    package var directories: [String] {
        groups.map { group in
            let name = group.name.printable
            if group.files + group.directories == 0 {
                return "\(name): \(TransferReport.present(HumanReadable.files(group.same), group.same))"
            }
            let count = HumanReadable.files(group.files, directories: group.directories)
            let figures = figures(group.bytes, group.time, after: group.resumed)
            let rest = group.same == 0 ? "" : "; \(TransferReport.present("\(group.same)", group.same))"
            return "\(verb) \(name), \(count), \(figures)\(rest)"
        }
    }

    private static func present(_ count: String, _ number: Int) -> String {
        "\(count) \(number == 1 ? "was" : "were") there already"
    }

    package mutating func skip(_ name: String, _ reason: String, isDifferent: Bool = false) -> String {
        skipped += 1
        if isDifferent { different += 1 }
        return "skipped \(name.printable): \(reason.printable)"
    }

    package mutating func fail(_ name: String, _ reason: String) -> String {
        failed += 1
        return "\(name.printable): \(reason.printable)"
    }

    /// Returns the line for all files; nil for a single file, which has its own line.
    package func total(_ time: Duration) -> String? {
        guard groups.count + single + singleSame + skipped + failed > 1 else { return nil }
        let count = HumanReadable.files(fileCount, directories: directoryCount)
        var parts = ["\(verb) \(count), \(figures(bytes, time, after: resumed))"]
        if same > 0 { parts.append(TransferReport.present("\(same)", same)) }
        if skipped > 0 {
            parts.append("\(skipped) skipped" + (different > 0 ? ", \(different) different" : ""))
        }
        if failed > 0 { parts.append("\(failed) failed") }
        return parts.joined(separator: "; ")
    }

    /// How many of the transferred are directories without files.
    package var directoryCount: Int { transferred.count(where: \.isDirectory) }

    /// How many files were transferred.
    package var fileCount: Int { transferred.count - directoryCount }

    private var resumed: UInt64 { transferred.reduce(0) { $0 &+ $1.resumedAt } }

    /// Of all files that were transferred.
    package var bytes: UInt64 { transferred.reduce(0) { $0 &+ $1.bytes } }

    package var isComplete: Bool { skipped == 0 && failed == 0 }

    /// Returns enough of a digest to compare two by eye; they were compared in full.
    private func shown(_ digest: [UInt8]) -> String {
        isVerbose ? digest.hexadecimal : "\(Array(digest.prefix(TransferReport.shownBytes)).hexadecimal)..."
    }

    private static let shownBytes = 4

    private var verb: String { direction == .sending ? "sent" : "received" }

    private func figures(_ bytes: UInt64, _ time: Duration, after earlier: UInt64 = 0) -> String {
        let rate = Double(bytes - min(earlier, bytes)) / max(time.seconds, 1e-6)
        return
            "\(HumanReadable.bytes(bytes)) in \(HumanReadable.duration(time)), \(HumanReadable.bytes(rate))/s"
    }
}

extension TransferReport {
    /// Follows the reason, where the receiver keeps what it has. A directory that exists gets another name otherwise.
    static func resumption(inDirectory isInDirectory: Bool) -> String {
        "; to go on from there, send it again" + (isInDirectory ? " to 'receive --exists skip'" : "")
    }

    /// Returns why one file was not transferred, for people.
    static func reason(_ error: MultipeerError) -> String {
        guard let code = error.closeCode else {
            switch error.reason?.code {
            case .left?: return "cancelled"
            case .goodbye?: return "cancelled by the other side"
            default: return error.code == .cancelled ? "cancelled" : error.description
            }
        }
        switch error.code {
        case .cancelled: return "cancelled by the other side"
        case .declined: return "declined by the other side"
        case .noSpace: return "no space left on the other side"
        case .tooManyFiles: return "too many open files on the other side"
        case .damaged: return "the data received differs from the data sent"
        case .aborted where code == .internal: return "the other side could not receive it"
        default: return error.description
        }
    }
}
