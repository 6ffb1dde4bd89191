import Foundation
import Multipeer
import MultipeerActors

/// A member of a mesh that has an actor for everybody and calls those of the others; it obeys lines on its standard input.
@main
enum MultipeerCaller {
    private static let usage = "usage: MultipeerCaller NAME FOLDER HISTORY --uid HEX"

    static func main() async {
        let words = CommandLine.arguments
        do {
            guard words.count == 6, words[4] == "--uid" else { throw Complaint(usage) }
            let digits = Array(words[5])
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            guard let uid = UID(bytes) else { throw Complaint(usage) }
            let folder = URL(fileURLWithPath: words[2], isDirectory: true)
            let caller = try await Caller(PeerID(uid: uid, displayName: words[1]), folder)
            try await caller.start()
            say("ready")
            for await line in lines() {
                let words = line.split(separator: " ").map(String.init)
                guard let order = words.first, order != "quit" else { break }
                say(try await carryOut(order, Array(words.dropFirst()), caller))
            }
            await caller.quit()
            say("ok quit")
        } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    private static func carryOut(_ order: String, _ words: [String], _ caller: Caller) async throws -> String
    {
        switch (order, words.first) {
        case ("join", let path?):
            await caller.join(try ConnectionData(Array(Data(contentsOf: URL(fileURLWithPath: path)))))
            return "ok join"
        case ("who", nil):
            return (["who"] + (await caller.linked.map(\.text).sorted())).joined(separator: " ")
        case ("call", let count?):
            await caller.begin(Int(count) ?? 0)
            return "ok call"
        case ("report", nil): return await caller.report()
        default: throw Complaint("'\(order)' is not understood")
        }
    }

    /// The lines of standard input, read by a thread of their own.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    /// Goes out at once, also into a pipe.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

/// Why a caller cannot do what it was told.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension PeerID {
    /// The uid as a line has it.
    fileprivate var text: String {
        uid.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
