import Foundation
import MultipeerSecurity

/// Chapter 9, resources that S sends.
enum OutgoingResourceCases {
    static let all: [Case] = [
        Case(
            "RES-07", "9.6", level: .channels, "a resource has arrived when its receiver confirms it",
            stimulus: "S sends 300,000 bytes; T sends DONE two seconds after FIN",
            expectation: "SIZE and DIGEST are correct; the completion follows DONE",
            rules: ["resource.done", "resource.digest"],
            bugs: [.seen("done-not-awaited", by: "comes before DONE")], orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            let sending = try pair.send(.pattern(300_000), name: "../label")
            let (channel, opening) = try link.expectOpen()
            try caseRun.require(opening.kind == Frame.ChannelPurpose.resource, "KIND \(opening.kind)")
            try caseRun.require(opening.name == Array("../label".utf8), "the name is changed")
            try caseRun.require(opening.size ?? 300_000 == 300_000, "SIZE \(opening.size ?? 0)")
            let (bytes, digest) = try link.channel(channel).expectBytes()
            try caseRun.require(bytes == .pattern(300_000), "the received bytes differ from the file")
            if let digest {
                try caseRun.require(digest == SHA256.hash(bytes), "DIGEST is wrong")
            } else {
                caseRun.weak("FIN carries no DIGEST")
            }
            let number = try sending.number()
            caseRun.loop.wait(.seconds(2))
            try caseRun.require(!sending.isOver(number), "the completion comes before DONE")
            link.send(.done(channel))
            let end = try pair.session.expectEnd("sent", "resource", number)
            try caseRun.require(end["error"] == nil, "the completion says \(end["error"]?.text ?? "")")
        },
        Case(
            "RES-08", "9.6", level: .channels, "without DONE nothing has arrived",
            stimulus: "the link ends after FIN, without DONE; DONE(DIGEST); STOP(DECLINED)",
            expectation: "the completion has an error each time",
            rules: ["resource.done", "resource.digest", "stream.end"],
            bugs: [.seen("lost-link-is-success", by: "has arrived")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked()
            var sending = try pair.send(.pattern(10_000), name: "one")
            var channel = try link.expectOpen().number
            _ = try link.channel(channel).expectBytes()
            link.send(.done(channel, .digest))
            try sending.expectError([.digest])
            sending = try pair.send(.pattern(10_000), name: "two")
            channel = try link.expectOpen().number
            link.send(.stop(channel, .declined))
            try sending.expectError([.declined])
            _ = link.takeAll()
            sending = try pair.send(.pattern(10_000), name: "three")
            channel = try link.expectOpen().number
            _ = try link.channel(channel).expectBytes()
            link.connection.reset()
            try sending.expectError([])
        },
        Case(
            "RES-12", "9.6", level: .channels, "a file that shrinks while it is sent",
            stimulus: "S sends 4 MiB; T gives credit when the file was cut to 100,000 bytes",
            expectation: "RESET(DIGEST) or RESET(INTERNAL), and the completion has an error",
            rules: ["resource.cancel"],
            bugs: [.seen("short-file-is-success", by: "expected, FIN received")]
        ) { caseRun in
            let (pair, link) = try caseRun.linked(prepare: { $0.limits.channelCredit = 65_536 })
            let sending = try pair.send(.pattern(4 << 20), name: "shrinks")
            let (channel, _) = try link.expectOpen()
            caseRun.loop.wait(.milliseconds(500))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: sending.path))
            try file.truncate(atOffset: 100_000)
            try file.close()
            link.send(.credit(16 << 20, channel: channel))
            let deadline = ContinuousClock.now + .seconds(10)
            var frame = try link.channel(channel).expectFrame(until: deadline)
            while frame.kind == .data { frame = try link.channel(channel).expectFrame(until: deadline) }
            let isRight = frame.kind == .reset && [.digest, .internal].contains(frame.code)
            try caseRun.require(isRight, "RESET(DIGEST) expected, \(frame.words) received")
            try sending.expectError([])
            try link.expectAlive()
        },
        Case(
            "RES-13", "9.7", level: .channels, "messages overtake a resource",
            stimulus:
                "over a line of 100 Mbit/s S sends 50 MiB as a resource, and a message every 10 ms during that time",
            expectation:
                "99 of 100 messages before 625,000 more bytes of the resource, which the line carries in 50 ms (recommended)",
            rules: ["channel.priority"],
            bugs: [.seen("messages-after-resources", by: "did not come")], seconds: 90
        ) { caseRun in
            caseRun.allowance = 16 << 20
            let (pair, link) = try caseRun.linked()
            link.connection.narrow(to: 12_500_000)
            let sending = try pair.send(.pattern(50 << 20), name: "bulk")
            let (channel, _) = try link.expectOpen()
            // What had come of the resource when S was asked to send a message of this size.
            var posted: [Int: Int] = [:]
            var overtaken: [Int] = []
            var (received, granted, next, isOver) = (0, 262_144, ContinuousClock.now, false)
            let deadline = ContinuousClock.now + .seconds(60)
            while !isOver, ContinuousClock.now < deadline {
                if ContinuousClock.now >= next, posted.count < 400 {
                    next += .milliseconds(10)
                    posted[1_000 + posted.count] = received
                    _ = pair.session.post(pattern: 999 + posted.count, to: pair.tester.endpoint.uid)
                }
                guard let frame = link.nextFrame(within: .milliseconds(5)) else { continue }
                if frame.kind == .message, let before = posted[frame.payload.count] {
                    overtaken.append(received - before)
                }
                if frame.kind == .data { received += frame.payload.count }
                if received + 262_144 >= granted + 65_536 {
                    granted = received + 262_144
                    link.send(.credit(UInt64(granted), channel: channel))
                }
                isOver = frame.kind == .fin || frame.kind == .close
            }
            try caseRun.require(received == 50 << 20, "\(received) bytes of the resource came")
            caseRun.loop.wait(.seconds(1))
            let missing = posted.count - overtaken.count - link.waiting.filter { $0.kind == .message }.count
            try caseRun.require(missing == 0, "\(missing) of \(posted.count) messages did not come")
            link.send(.done(channel))
            _ = try pair.session.expectEnd("sent", "resource", sending.number())
            let most = overtaken.sorted().dropLast(overtaken.count / 100).last ?? 0
            caseRun.note("\(overtaken.count) messages, 99 of 100 before \(most) more bytes of the resource")
            if most > 625_000 { caseRun.weak("\(most) bytes of a resource go before a message") }
        },
    ]
}

/// A resource that S is sending from a file of the tester.
final class OutgoingFile {
    private let session: SubjectSession
    private let request: Int
    let path: String

    init(_ session: SubjectSession, _ path: String, _ request: Int) {
        (self.session, self.path, self.request) = (session, path, request)
    }

    private var found: Int?

    /// Returns the number that the shim gives it.
    func number() throws -> Int {
        if let found { return found }
        guard let answer = session.subject.answer(request, within: .seconds(10)) else {
            throw CaseFailure("'resource' is not answered")
        }
        if answer["unimplemented"]?.isTrue == true { throw Skip("the shim does not implement 'resource'") }
        guard let number = answer["resource"]?.int else {
            throw CaseFailure("'resource' fails: \(answer["error"]?.text ?? "no number")")
        }
        found = number
        return number
    }

    func isOver(_ number: Int) -> Bool {
        session.subject.events.contains {
            $0["event"]?.text == "sent" && $0["session"]?.text == session.handle
                && $0["resource"]?.int == number
        }
    }

    func expectError(_ codes: [CloseCode]) throws {
        let end = try session.expectEnd("sent", "resource", number())
        guard let error = end["error"]?.text else {
            throw CaseFailure("the completion reports that it has arrived")
        }
        if !codes.isEmpty, !codes.contains(where: { $0.description == error }) {
            throw CaseFailure("the completion says \(error), not \(codes.words)")
        }
    }
}

extension Pair {
    /// Has S send a file with these bytes.
    func send(_ bytes: [UInt8], name: String, isResumable: Bool = false) throws -> OutgoingFile {
        let folder = try TemporaryFolder(tester.caseRun)
        let path = try folder.write(bytes, to: "source")
        var fields: [String: JSONValue] = [
            "to": .string(tester.endpoint.uid.hex), "path": .string(path), "name": .string(name),
        ]
        if isResumable { fields["resumable"] = .bool(true) }
        let request = session.post("resource", fields)
        return OutgoingFile(session, path, request)
    }
}
