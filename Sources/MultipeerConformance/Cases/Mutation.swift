/// Changes a valid transcript in one place, as a seed decides.
struct Mutator {
    var random: SeededRandom

    /// Bit flips, edits of a length, duplications, swaps and drops: one of them, rarely two.
    mutating func mutate(_ frames: [[UInt8]]) -> [[UInt8]] {
        var frames = frames
        repeat { change(&frames) } while Int.random(in: 0..<8, using: &random) == 0 && !frames.isEmpty
        return frames
    }

    private mutating func change(_ frames: inout [[UInt8]]) {
        guard let place = frames.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: flip(&frames[place])
        case 4: editLength(&frames[place])
        case 5: frames.insert(frames[place], at: place)
        case 6: frames.swapAt(place, frames.indices.randomElement(using: &random) ?? place)
        default: frames.remove(at: place)
        }
    }

    private mutating func flip(_ bytes: inout [UInt8]) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
    }

    /// The length of the frame, or two bytes that may be the length of an entry.
    private mutating func editLength(_ bytes: inout [UInt8]) {
        guard bytes.count >= 8 else { return flip(&bytes) }
        let place = Bool.random(using: &random) ? 1 : Int.random(in: 0..<(bytes.count - 1), using: &random)
        let old = Int(bytes[place]) << 8 | Int(bytes[place + 1])
        let change = [-8, -1, 1, 2, 255, 0x7fff].randomElement(using: &random) ?? 1
        let new = old &+ change
        bytes[place] = UInt8(truncatingIfNeeded: new >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: new)
    }
}

/// Mutated frames on links, one after the other: whatever comes of each, the subject must go on.
struct Mutations {
    let trial: Trial
    let pair: Pair
    /// How a link is made; the subject tells connected.
    let join: () throws -> Link
    /// What is changed; called anew each time.
    let transcript: (Link) -> [Frame]

    /// Calls `watch` every hundred rounds.
    func run(_ count: Int, watch: () throws -> Void = {}) throws {
        var mutator = Mutator(random: trial.random)
        trial.note("seed \(trial.random)")
        var link: Link?
        var done = 0
        var closed = 0
        while done < count {
            done += 1
            let current = try link ?? join()
            link = current
            let frames = mutator.mutate(transcript(current).map(\.bytes))
            current.send(raw: frames.flatMap(\.self), "mutation \(done)")
            current.send(.ping())
            trial.pump.wait(.milliseconds(200)) {
                current.ending != nil || current.waiting.contains { $0.kind == .pong || $0.kind == .close }
            }
            let isAlive =
                current.ending == nil && current.waiting.contains { $0.kind == .pong }
                && !current.waiting.contains { $0.kind == .close }
            while current.takeFirst() != nil {}
            if !isAlive {
                closed += 1
                current.close()
                try settle()
                link = nil
            }
            forgetEvents()
            try trial.require(trial.subject().isRunning, "mutation \(done): the subject's process has ended")
            if done % 100 == 0 { try watch() }
        }
        trial.note("\(closed) of \(count) mutations ended the link")
        if let link {
            link.send(.close(.goodbye))
            try link.expectEnd()
            try settle()
        }
    }

    /// The subject tells that the link has ended.
    private func settle() throws {
        try pair.session.expectNotConnected(pair.tester.endpoint.uid, within: .seconds(8))
        pair.tester.dismissCallers()
    }

    /// What the application was told of all that came is of no interest.
    private func forgetEvents() {
        pair.session.subject.events.removeAll { event in
            let kind = event["event"]?.text
            return kind != "state" || event["state"]?.text == "connecting"
        }
    }
}

extension Trial {
    /// A pair whose link can be made again and again.
    func mutations(
        _ settings: SubjectSession.Settings = .init(), transcript: @escaping (Link) -> [Frame]
    ) throws -> Mutations {
        let pair = try pair(settings, connects: false)
        return Mutations(
            trial: self, pair: pair,
            join: {
                try pair.session.connect(pair.terms.mine)
                return try pair.link()
            }, transcript: transcript)
    }
}
