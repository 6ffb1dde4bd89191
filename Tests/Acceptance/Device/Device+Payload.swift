import MultipeerConnectivity

/// Commands for messages, files and streams.
extension Device {
    func payload(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "send": return try send(words)
        case "say":
            let text = Data(try words.needed(0, "a text").utf8)
            try session.send(text, toPeers: try peers(words.dropFirst(1)), with: .reliable)
        case "file": return try file(try words.needed(0, "a path"), try words.number(1, "a size"))
        case "offer": return try offer(words)
        case "cancel": try transfer(words).cancel()
        case "progress":
            let progress = try transfer(words)
            return [
                "fraction": progress.fractionCompleted, "total": Int(progress.totalUnitCount),
                "completed": Int(progress.completedUnitCount), "cancelled": progress.isCancelled,
            ]
        case "reading":
            let reading = try words.choice(0, Reading.self)
            with { $0.reading = reading }
        case "read":
            let name = try words.needed(0, "a stream")
            guard let gate = with({ $0.readers[name] }) else { throw Complaint("there is no '\(name)'") }
            gate.signal()
        case "stream": try stream(words)
        default: return nil
        }
        return [:]
    }

    private func peers(_ words: [String]) throws -> [MCPeerID] { try words.map(peer) }

    private func transfer(_ words: Words) throws -> Progress {
        let name = try words.needed(0, "a name")
        guard let progress = with({ $0.transfers[name] }) else { throw Complaint("there is no '\(name)'") }
        return progress
    }

    /// `send reliable|unreliable COUNT BYTES FIRST PEER…`: sends COUNT messages, numbered from FIRST.
    private func send(_ words: Words) throws -> Fields {
        let modes = ["reliable": MCSessionSendDataMode.reliable, "unreliable": .unreliable]
        guard let mode = modes[try words.needed(0, "a mode")] else { throw Complaint("not a mode") }
        let (count, size) = (try words.number(1, "a count"), try words.number(2, "a size"))
        let (first, peers) = (try words.number(3, "a number"), try peers(words.dropFirst(4)))
        let session = try session
        var last: Fields = [:]
        for number in first..<first + count {
            let message = Pattern.message(number, size)
            try session.send(message, toPeers: peers, with: mode)
            last = message.told
        }
        return last
    }

    /// Creates a file to send.
    private func file(_ path: String, _ size: Int) throws -> Fields {
        var pattern = Pattern(size)
        let data = pattern.next(size)
        try data.write(to: URL(fileURLWithPath: path))
        return data.told
    }

    /// `offer URL-OR-PATH NAME PEER`
    private func offer(_ words: Words) throws -> Fields {
        let (place, name) = (try words.needed(0, "a URL"), try words.needed(1, "a name"))
        let peer = try peer(try words.needed(2, "a peer"))
        let url = place.contains(":") ? URL(string: place) : URL(fileURLWithPath: place)
        guard let url else { throw Complaint("\(place) is not a URL") }
        let parent = Progress(totalUnitCount: 10)
        parent.becomeCurrent(withPendingUnitCount: 10)
        let progress = try session.sendResource(at: url, withName: name, toPeer: peer) { error in
            var told: Fields = ["name": name]
            if let error { told.merge(fields(of: error)) { old, _ in old } }
            told["parent"] = parent.fractionCompleted
            tell("sent", told)
        }
        parent.resignCurrent()
        if let progress { with { $0.transfers[name] = progress } }
        return ["progress": progress != nil]
    }

    /// `stream NAME PEER BYTES [loop|block]`: a negative number of bytes means a stream that never ends.
    private func stream(_ words: Words) throws {
        let (name, peer) = (try words.needed(0, "a name"), try peer(try words.needed(1, "a peer")))
        let count = try words.number(2, "a count")
        let writing = words[3] == nil ? Writing.loop : try words.choice(3, Writing.self)
        let stream = try session.startStream(withName: name, toPeer: peer)
        Writer.begin(stream, name, count < 0 ? .max : count, writing)
    }
}
