import Foundation
import Multipeer
import MultipeerCommandLine

/// `multipeer-demo`: real processes that link with each other, exchange data, and report what they measured.
enum DemoCommand: Subcommand {
    static let usage = Usage(
        [], "start processes that find each other, link and exchange data, and show timings",
        details: """
            Every peer is a process. They find each other by multicast DNS on the loopback interface only, under a
            unique service type: nothing leaves the machine. Each invites every peer it finds, one after the other.
            Shows when each pair was found, invited and linked, from when all began to browse. Each peer sends the
            following ones a file, a stream and datagrams, which are counted at the receiving end. Throughput is
            measured with 64 KiB messages.

            With --peers the processes form a mesh, in which linked peers introduce the others. Shows each link as it is
            established, and the time until all peers are linked with each other. Then each sends one line to all.
            """,
        options: [
            .init("--peers", "N", "form a mesh of N peers, 2 to 16"),
            .init(
                "--seconds", "S",
                "total time of all bulk transfers, 1 to 60; default: 2; not with --peers"),
            .init("--preference", "WORD", "encryption: required (default), optional or none"),
            .init("--json", "print only JSON, at the end"),
            KeyLogOption.option,
        ], exits: [.linkFailed, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        try arguments.exclude(["--peers", "--seconds"])
        let peers = try arguments.number("--peers", in: 2...16)
        let seconds = try arguments.number("--seconds", in: 1...60) ?? 2
        let words = ["required", "optional", "none"]
        let preference =
            try arguments.choice("--preference", of: words, EncryptionPreference.init(name:)) ?? .required
        let isSilent = arguments.has("--json")
        // Each process appends to the same file; errors are reported before any process is started.
        _ = try KeyLogOption.read(arguments)
        let log = arguments.value(KeyLogOption.option.name).map { [KeyLogOption.option.name, $0] } ?? []
        if let peers {
            let mesh = try MeshDemonstration(peers, preference, log, isSilent: isSilent)
            try await run(mesh.abandon, within: .seconds(120)) { () throws(CommandError) in
                let timeline = try await mesh.run()
                if isSilent { try Terminal.put(JSON.encode(timeline)) }
                try await mesh.end()
            }
        } else {
            let demo = try Demonstration(3, preference, log, isSilent: isSilent)
            try await run(demo.abandon, within: .seconds(60 + seconds)) { () throws(CommandError) in
                let pairs = try await demo.run(Double(seconds))
                try Terminal.put(isSilent ? JSON.encode(pairs) : DemoTable.text(pairs))
                try await demo.end()
            }
        }
    }

    /// No process is left running when the demonstration is interrupted, takes too long, or fails.
    private static func run(
        _ abandon: @escaping @Sendable () -> Void, within timeLimit: Duration,
        _ body: () async throws(CommandError) -> Void
    ) async throws(CommandError) {
        SignalHandler.first { abandon() }
        let guardian = Task {
            try await Task.sleep(for: timeLimit)
            abandon()
        }
        defer { guardian.cancel() }
        do throws(CommandError) {
            try await body()
        } catch {
            abandon()
            throw error
        }
    }
}

/// The results for one pair of peers.
struct DemoPair: Encodable, Sendable {
    /// The two peers, what protects their link, and when it was established.
    let link: DemoTimeline.Link
    let speed: DemoSpeed
    let delivery: DemoDelivery
}

/// The lines about the deliveries, and the table at the end.
enum DemoTable {
    static func lines(from name: String, _ delivery: DemoDelivery, isEncrypted: Bool) -> String {
        let head = "\(name) to \(delivery.peer): "
        let file = delivery.file
        let digest = file.digest.map { ", sha256 \($0.prefix(16))... at both ends" } ?? ""
        let way = isEncrypted ? "UDP with DTLS 1.2" : "UDP"
        return [
            "the file \(file.name), \(figures(file))\(digest)",
            "the stream \(delivery.stream.name), \(figures(delivery.stream))",
            "\(delivery.datagrams) datagrams of \(delivery.datagramBytes) bytes, \(delivery.datagramsArrived) arrived over \(way)",
        ].map { head + $0 }.joined(separator: "\n")
    }

    private static func figures(_ transfer: DemoTransfer) -> String {
        let rate = Double(transfer.bytes) / max(transfer.seconds, 1e-6)
        return
            "\(HumanReadable.bytes(transfer.bytes)) in \(HumanReadable.duration(.seconds(transfer.seconds))), \(HumanReadable.bytes(rate))/s"
    }

    static func text(_ pairs: [DemoPair]) -> [UInt8] {
        let head = [
            "link", "protected by", "peer is", "found", "invited", "linked", "round trip",
            "throughput",
        ]
        let rows =
            [head]
            + pairs.map { pair in
                [
                    pair.link.peers.joined(separator: " - "),
                    pair.link.protection.suite.map { "TLS 1.3, \($0)" } ?? "nothing",
                    pair.link.protection.verification, pair.link.found.map(DemoTimeline.text) ?? "-",
                    pair.link.invited.map(DemoTimeline.text) ?? "-", DemoTimeline.text(pair.link.linked),
                    HumanReadable.duration(.seconds(pair.speed.roundTrip)),
                    "\(HumanReadable.bytes(Int(pair.speed.bytesPerSecond)))/s",
                ]
            }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            return String(cells.reversed().drop { $0 == " " }.reversed()) + "\n"
        }
        return Array(("\n" + lines.joined()).utf8)
    }
}
