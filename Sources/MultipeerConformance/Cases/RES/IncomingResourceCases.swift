import MultipeerSecurity

/// Chapter 9, resources that T sends.
enum IncomingResourceCases {
    static let all: [Case] = [
        Case(
            "RES-01", "9.6", level: .channels, "resources arrive whole",
            stimulus: "0 bytes, 1 byte, 50 MiB, with SIZE and DIGEST",
            expectation: "DONE(OK), equal files, progress that only grows and ends with 1",
            rules: ["resource.done", "resource.digest", "resource.size"],
            bugs: [.seen("resources-not-acknowledged", by: "nothing on channel")], seconds: 90
        ) { caseRun in
            caseRun.allowance = 8 << 20
            let (folder, pair, link) = try caseRun.receiving()
            for (number, count) in zip(UInt32(1)..., [0, 1, 50 << 20]) {
                let bytes = [UInt8].pattern(count)
                let resource = try link.channel(number).offer(bytes, to: pair, within: .seconds(60))
                try link.channel(number).expect(.done, .ok, within: .seconds(20))
                let end = try pair.session.expectEnd("resource-end", "resource", resource)
                try caseRun.require(end["error"] == nil, "the resource ends with \(end["error"]?.text ?? "")")
                guard let path = end["path"]?.text else { throw CaseFailure("'resource-end' has no path") }
                try caseRun.require(try FileMetadata(path).bytes == bytes, "the file is not what was sent")
                try caseRun.require(path.hasPrefix(folder.path), "the file is at '\(path)'")
                let fractions = pair.session.progress(of: resource)
                try caseRun.require(fractions == fractions.sorted(), "progress goes back: \(fractions)")
                try caseRun.require(fractions.last ?? 1 == 1, "the last progress is \(fractions.last ?? 1)")
            }
        },
        Case(
            "RES-02", "9.6", level: .channels, "a resource may be of unknown size",
            stimulus: "300,000 bytes without SIZE, without DIGEST",
            expectation: "DONE(OK), and a file", rules: ["resource.size", "resource.done"],
            bugs: [.seen("resources-not-acknowledged", by: "nothing on channel")]
        ) { caseRun in
            let (_, pair, link) = try caseRun.receiving()
            let bytes = [UInt8].pattern(300_000)
            link.send(.open(1, Frame.ChannelPurpose.resource))
            let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try caseRun.require(resource["size"] == nil, "a size is reported that was not sent")
            try link.channel(1).send(bytes)
            link.send(.fin(1))
            try link.channel(1).expect(.done, .ok)
            try pair.session.expectFile(resource["resource"]?.int ?? -1, bytes)
        },
        Case(
            "RES-03", "9.6", level: .channels, "the size must be right",
            stimulus: "SIZE one less, and one more, than the bytes sent",
            expectation: "STOP(DIGEST); DONE(DIGEST); no file remains; the application is notified",
            rules: ["resource.size"],
            bugs: [.seen("ignores-size", by: "nothing on channel")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            let bytes = [UInt8].pattern(100_000)
            link.send(.open(1, Frame.ChannelPurpose.resource, size: 99_999))
            var resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try link.channel(1).send(bytes)
            try link.channel(1).expect(.stop, .digest)
            link.send(.reset(1, .digest))
            try pair.session.expectResourceError(resource, [.digest])
            link.send(.open(2, Frame.ChannelPurpose.resource, size: 100_001))
            resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try link.channel(2).send(bytes)
            link.send(.fin(2, digest: SHA256.hash(bytes)))
            try link.channel(2).expect(.done, .digest)
            try pair.session.expectResourceError(resource, [.digest])
            try caseRun.require(
                folder.isEmpty(within: .seconds(2), in: caseRun), "a file remains: \(folder.files)")
            try link.expectAlive()
        },
        Case(
            "RES-04", "9.6", level: .channels, "the digest must be right",
            stimulus: "a DIGEST with one bit wrong",
            expectation: "DONE(DIGEST); no file remains, and it is reported", rules: ["resource.digest"],
            bugs: [.seen("ignores-digest", by: "expected, DONE")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            let bytes = [UInt8].pattern(100_000)
            var digest = SHA256.hash(bytes)
            digest[31] ^= 1
            link.send(.open(1, Frame.ChannelPurpose.resource, size: 100_000))
            let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try link.channel(1).send(bytes)
            link.send(.fin(1, digest: digest))
            try link.channel(1).expect(.done, .digest)
            try pair.session.expectResourceError(resource, [.digest])
            try caseRun.require(
                folder.isEmpty(within: .seconds(2), in: caseRun), "a file remains: \(folder.files)")
        },
        Case(
            "RES-05", "9.6", level: .channels, "a sender calls it off",
            stimulus: "RESET(CANCELLED) at one half",
            expectation: "no file remains; the application is notified", rules: ["resource.cancel"],
            bugs: [.seen("keeps-cancelled-files", by: "a file remains")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            link.send(.open(1, Frame.ChannelPurpose.resource, size: 200_000))
            let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try link.channel(1).send(.pattern(100_000))
            caseRun.loop.wait(.seconds(1)) { !folder.files.isEmpty }
            link.send(.reset(1, .cancelled))
            try pair.session.expectResourceError(resource, [.cancelled])
            try caseRun.require(
                folder.isEmpty(within: .seconds(2), in: caseRun), "a file remains: \(folder.files)")
            try link.expectAlive()
        },
        Case(
            "RES-06", "9.6", level: .channels, "a receiver calls it off",
            stimulus: "S's application cancels at one half",
            expectation: "STOP(CANCELLED); no file remains", rules: ["resource.cancel"],
            bugs: [.seen("cancels-silently", by: "nothing on channel")]
        ) { caseRun in
            let (folder, pair, link) = try caseRun.receiving()
            link.send(.open(1, Frame.ChannelPurpose.resource, size: 200_000))
            let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
            try link.channel(1).send(.pattern(100_000))
            try pair.session.call("drop", ["resource": resource["resource"] ?? .null])
            try link.channel(1).expect(.stop, .cancelled)
            link.send(.reset(1, .cancelled))
            try pair.session.expectResourceError(resource, [])
            try caseRun.require(
                folder.isEmpty(within: .seconds(2), in: caseRun), "a file remains: \(folder.files)")
            try link.expectAlive()
        },
    ]
}

// MARK: - What the cases of resources share

extension CaseRun {
    /// Makes a link to a session that puts resources into a folder of this case.
    func receiving(_ settings: SubjectSession.Settings = .init()) throws -> (
        TemporaryFolder, Pair, TesterLink
    ) {
        let folder = try TemporaryFolder(self)
        var settings = settings
        settings.receiving = folder.path
        let (pair, link) = try linked(settings)
        return (folder, pair, link)
    }
}

extension TesterChannel {
    /// Sends a resource with everything that belongs to it; returns the number that the shim gives it.
    func offer(
        _ bytes: [UInt8], name: String = "resource", to pair: Pair, within duration: Duration = .seconds(30)
    ) throws -> Int {
        link.send(
            .open(number, Frame.ChannelPurpose.resource, name: Array(name.utf8), size: UInt64(bytes.count)))
        let told = try pair.session.expectResource(from: pair.tester.endpoint.uid)
        try link.caseRun.require(
            told["name"]?.text == name, "the resource is called '\(told["name"]?.text ?? "")'")
        try send(bytes, within: duration)
        link.send(.fin(number, digest: SHA256.hash(bytes)))
        return told["resource"]?.int ?? -1
    }
}

extension SubjectSession {
    /// Returns all progress that was reported for a resource, in order.
    func progress(of resource: Int) -> [Double] {
        subject.events.filter {
            $0["event"]?.text == "resource-progress" && $0["session"]?.text == handle
                && $0["resource"]?.int == resource
        }.compactMap { $0["fraction"]?.double }
    }

    /// Returns whether the end of a resource was reported.
    func hasEnded(_ resource: Int) -> Bool {
        subject.events.contains {
            $0["event"]?.text == "resource-end" && $0["session"]?.text == handle
                && $0["resource"]?.int == resource
        }
    }

    func expectResource(from peer: [UInt8], within duration: Duration = .seconds(10)) throws -> JSONValue {
        guard let event = event("resource-start", from: peer, within: duration) else {
            throw CaseFailure("no resource is reported within \(duration)")
        }
        return event
    }

    /// Waits for a resource that arrives as a file with these bytes.
    @discardableResult
    func expectFile(_ resource: Int, _ bytes: [UInt8]) throws -> FileMetadata {
        let end = try expectEnd("resource-end", "resource", resource)
        if let error = end["error"]?.text { throw CaseFailure("the resource ends with \(error)") }
        guard let path = end["path"]?.text else { throw CaseFailure("'resource-end' has no path") }
        let facts = try FileMetadata(path)
        guard facts.bytes == bytes else { throw CaseFailure("the file is not what was sent") }
        return facts
    }

    /// Waits for a resource that does not arrive, with one of these codes, if there are any.
    func expectResourceError(
        _ resource: JSONValue, _ codes: [CloseCode], within duration: Duration = .seconds(10)
    )
        throws
    {
        let end = try expectEnd("resource-end", "resource", resource["resource"]?.int ?? -1, within: duration)
        guard let error = end["error"]?.text else {
            throw CaseFailure("the resource is reported as complete")
        }
        if !codes.isEmpty, !codes.contains(where: { $0.description == error }) {
            throw CaseFailure("the resource ends with \(error), not \(codes.words)")
        }
    }
}
