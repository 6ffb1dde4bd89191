import Foundation
import MultipeerPlatform
import MultipeerTransport

/// Lines of JSON on standard input and output.
final class JSONLinesIO: PollSource {
    private var bytes: [UInt8] = []
    private var isOver = false
    var take: ([UInt8]) -> Void = { _ in }
    var isAtEnd: () -> Void = {}

    var descriptor: Int32 { isOver ? -1 : 0 }
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { false }

    func move() {
        var count = 0
        let more = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, used in
            count = unsafe read(0, buffer.baseAddress, 65_536)
            used = max(0, count)
        }
        guard count > 0 else {
            isOver = true
            return isAtEnd()
        }
        bytes += more
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(bytes[..<end])
            bytes.removeSubrange(...end)
            if !line.isEmpty { take(line) }
        }
    }

    func say(_ value: JSONValue) {
        var line = Array(value.line.utf8)[...]
        line.append(UInt8(ascii: "\n"))
        while !line.isEmpty {
            let count = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return isAtEnd() }
            line.removeFirst(max(0, count))
        }
    }
}

/// What the process holds.
enum ProcessStatistics {
    static func now(buffered: Int) -> [String: JSONValue] {
        let pages =
            (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        let rss = pages.count > 1 ? (Int(pages[1]) ?? 0) * 4_096 : 0
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
        var usage = rusage()
        _ = unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        let time =
            (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
            + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        return [
            "cpu": .number(Double(time) / 1_000_000),
            "rss": .number(Double(rss)), "fds": .number(Double(descriptors)),
            "threads": .number(Double(threads)),
            "buffered": .number(Double(buffered)), "heap": .number(Double(Heap.allocated)),
        ]
    }
}

extension TLSIdentity {
    /// Reads a PEM file: a key and certificates, the leaf first.
    init(file: String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        var certificates: [[UInt8]] = []
        var key: [UInt8] = []
        for block in text.components(separatedBy: "-----BEGIN ").dropFirst() {
            let body = block.split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-----END") }.joined()
            let bytes = Data(base64Encoded: body, options: .ignoreUnknownCharacters).map { [UInt8]($0) } ?? []
            if block.hasPrefix("CERTIFICATE") { certificates.append(bytes) }
            if block.hasPrefix("PRIVATE KEY") || block.hasPrefix("EC PRIVATE KEY") { key = bytes }
        }
        guard let leaf = certificates.first, !key.isEmpty else { throw SuiteFault("no identity in \(file)") }
        self.init(leaf: leaf, issuers: Array(certificates.dropFirst()), key: key)
    }
}
