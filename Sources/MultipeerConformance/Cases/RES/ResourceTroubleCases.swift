import Foundation
import MultipeerSecurity

/// Chapter 9, resources that T sends: names, places, room.
enum ResourceTroubleCases {
    static let all: [Case] = [
        Case(
            "RES-09", "9.6", level: .channels, "a name is a label and no path",
            stimulus: "names with .., /, NUL, control characters, marks of direction, and of 1,024 bytes",
            expectation: "each is reported unchanged, and every file is in the folder",
            rules: ["resource.label", "channel.name"],
            bugs: [.seen("path-of-name", by: "is outside of"), .seen("cleans-names", by: "is called")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            let names = [
                "../../x", "/etc/x", "a\0b", "CON", "..", ".", "a/b", "\u{202e}txt.exe", "\u{1b}[2J",
                String(repeating: "n", count: 1_024),
            ]
            let bytes = [UInt8].pattern(1_000)
            for (number, name) in zip(UInt32(1)..., names) {
                let resource = try link.channel(number).offer(bytes, name: name, to: pair)
                try link.channel(number).expect(.done, .ok)
                let end = try pair.session.expectEnd("resource-end", "resource", resource)
                guard let path = end["path"]?.text else { throw CaseFailure("'resource-end' has no path") }
                let place = URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
                let home = URL(fileURLWithPath: folder.path).standardizedFileURL.resolvingSymlinksInPath()
                    .path
                try caseRun.require(place.hasPrefix(home + "/"), "'\(path)' is outside of '\(folder.path)'")
                try caseRun.require(try FileMetadata(path).bytes == bytes, "the file is not what was sent")
            }
            try caseRun.require(
                folder.files.count == names.count, "\(folder.files.count) files, not \(names.count)")
        },
        Case(
            "RES-10", "9.6", level: .channels, "no room for a resource",
            stimulus: "S can store 1 MiB; 5 MiB arrive without SIZE",
            expectation: "STOP(NO_SPACE), no file, and the link lives",
            rules: ["resource.space"], bugs: [.seen("full-disk-is-silent", by: "nothing on channel")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            let answer = try caseRun.subject().ask("limit", ["file": 1_048_576])
            if let error = answer["error"]?.text { throw CaseFailure("'limit' fails: \(error)") }
            link.send(.open(1, Frame.ChannelPurpose.resource))
            let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            // STOP ends it somewhere in the middle.
            do { try link.channel(1).send(.pattern(5 << 20), within: .seconds(3)) } catch is CaseFailure {}
            try link.channel(1).expect(.stop, .noSpace)
            link.send(.reset(1, .noSpace))
            try pair.session.expectResourceError(resource, [.noSpace])
            try caseRun.require(
                folder.isEmpty(within: .seconds(2), in: caseRun), "a file remains: \(folder.files)")
            try link.expectAlive()
        },
        Case(
            "RES-19", "9.6", level: .channels, "too many open files for all resources",
            stimulus: "S may have 6 descriptors more; 12 resources are announced, then all end",
            expectation: "each gets DONE(OK), or STOP or DONE(TOO_MANY_FILES); a later one DONE(OK)",
            rules: ["resource.files"], bugs: [.seen("too-many-files-is-internal", by: "INTERNAL")],
            seconds: 60
        ) { caseRun in
            let (_, pair, link) = try caseRun.receiving()
            // What a subject opens once, with its first resource, is open by then.
            let bytes = [UInt8].pattern(1_000)
            try link.channel(1).arrives(bytes, at: pair)
            guard let descriptors = try caseRun.subject().call("stats")["fds"]?.int else {
                throw Skip("no 'fds' in stats")
            }
            let answer = try caseRun.subject().ask("limit", ["descriptors": .number(Double(descriptors + 6))])
            if let error = answer["error"]?.text { throw CaseFailure("'limit' fails: \(error)") }
            let numbers = UInt32(2)...13
            for number in numbers {
                link.send(.open(number, Frame.ChannelPurpose.resource, size: UInt64(bytes.count)))
                _ = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            }
            for number in numbers {
                link.send([.data(number, bytes), .fin(number, digest: SHA256.hash(bytes))])
            }
            caseRun.loop.wait(.seconds(20)) {
                link.waiting.filter { [.stop, .done].contains($0.kind) }.count == numbers.count
            }
            let ends = link.takeAll().filter { [.stop, .done].contains($0.kind) }
            for frame in ends {
                let isRight = frame.code == .tooManyFiles || frame.kind == .done && frame.code == .ok
                try caseRun.require(isRight, "\(frame.words) on channel \(frame.channel)")
            }
            try caseRun.require(
                ends.count == numbers.count, "\(ends.count) of \(numbers.count) resources end")
            try caseRun.require(ends.contains { $0.code == .ok }, "no resource has arrived")
            try caseRun.subject().call("limit", ["descriptors": 4_096])
            try link.channel(14).arrives(bytes, at: pair)
        },
        Case(
            "RES-11", "9.6", level: .channels, "eight resources at once",
            stimulus: "eight of 2 MiB, their DATA in turns",
            expectation: "all arrive", rules: ["resource.done", "channel.credit-return"],
            bugs: [.seen("one-resource-at-a-time", by: "no CREDIT on channel")], seconds: 60
        ) { caseRun in
            caseRun.allowance = 8 << 20
            let (_, pair, link) = try caseRun.receiving()
            let bytes = [UInt8].pattern(2 << 20)
            var resources: [Int] = []
            for number in UInt32(1)...8 {
                link.send(
                    .open(number, Frame.ChannelPurpose.resource, name: Array("\(number)".utf8), size: 2 << 20)
                )
                resources.append(
                    try pair.session.expectResource(from: pair.tester.endpoint.uid)["resource"]?.int ?? -1)
            }
            for position in stride(from: 0, to: bytes.count, by: 65_536) {
                for number in UInt32(1)...8 {
                    try link.channel(number).send(
                        Array(bytes[position..<(position + 65_536)]), from: position)
                }
            }
            for number in UInt32(1)...8 { link.send(.fin(number, digest: SHA256.hash(bytes))) }
            for resource in resources { try pair.session.expectFile(resource, bytes) }
            var done = 0
            caseRun.loop.wait(.seconds(5)) { link.waiting.filter { $0.kind == .done }.count == 8 }
            for frame in link.takeAll() where frame.kind == .done {
                try caseRun.require(frame.code == .ok, "\(frame.words) on channel \(frame.channel)")
                done += 1
            }
            try caseRun.require(done == 8, "\(done) DONE for 8 resources")
        },
        Case(
            "RES-14", "9.6", level: .channels, "what arrives is its owner's alone",
            stimulus: "a resource whose name is that of a link in the folder",
            expectation: "a new file under another name, which no other user can read",
            rules: ["resource.private"],
            bugs: [
                .seen("files-for-everyone", by: "may use the file"),
                .seen("path-of-name", by: "what the link leads to"),
            ]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            let victim = try TemporaryFolder(caseRun)
            let target = try victim.write([1, 2, 3], to: "victim")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder.path)/planted", withDestinationPath: target)
            let bytes = [UInt8].pattern(10_000)
            let resource = try link.channel(1).offer(bytes, name: "planted", to: pair)
            try link.channel(1).expect(.done, .ok)
            let facts = try pair.session.expectFile(resource, bytes)
            try caseRun.require(
                try FileMetadata(target).bytes == [1, 2, 3], "what the link leads to was written")
            try caseRun.require(!facts.isLink, "the file is reached over a link")
            if facts.mode & 0o077 != 0 {
                caseRun.weak("others may use the file, mode \(String(facts.mode, radix: 8))")
            }
        },
    ]
}

extension TesterChannel {
    /// Sends a resource, and requires that it arrives.
    fileprivate func arrives(_ bytes: [UInt8], at pair: Pair) throws {
        let resource = try offer(bytes, to: pair)
        try expect(.done, .ok)
        try pair.session.expectFile(resource, bytes)
    }
}
