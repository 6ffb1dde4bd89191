import Foundation

/// The requests of the shim protocol for streams and resources.
extension ReferencePeer {
    func carryOutChannels(_ request: JSONValue, _ session: PeerSession) throws -> [String: JSONValue]? {
        let number = request["stream"]?.int ?? request["resource"]?.int ?? -1
        switch request["op"]?.text {
        case "stream": return ["stream": .number(Double(try open(request, session, nil)))]
        case "resource":
            let path = request["path"]?.text ?? ""
            guard let file = FileHandle(forReadingAtPath: path) else {
                throw ProtocolError(.internal, "cannot read \(path)")
            }
            return ["resource": .number(Double(try open(request, session, file)))]
        case "write": try stream(number).write(bytes(request))
        case "finish": try stream(number).finish()
        case "abort", "drop":
            guard let channel = incoming[number] else {
                try stream(number).abort()
                break
            }
            channel.stop(.cancelled)
        case "hold":
            if number < 0 { session.application.isHolding = true }
            incoming[number]?.isHeld = true
        case "take":
            if number < 0 { session.application.isHolding = false }
            for (key, channel) in incoming where number < 0 || key == number {
                channel.isHeld = false
                channel.takeAll()
            }
        default: return nil
        }
        return [:]
    }

    private func stream(_ number: Int) throws(ProtocolError) -> PeerOutgoingChannel {
        guard let stream = outgoing[number] else { throw ProtocolError(.internal, "no stream \(number)") }
        return stream
    }

    private func open(_ request: JSONValue, _ session: PeerSession, _ file: FileHandle?) throws -> Int {
        let to = try uid(request, "to")
        guard let link = session.links[to] else { throw ProtocolError(.unknownPeer, "not connected") }
        numbers += 1
        let size = try file.map { file in
            let end = try file.seekToEnd()
            try file.seek(toOffset: 0)
            return Int(end)
        }
        let name = Array((request["name"]?.text ?? "file").utf8)
        let channel = PeerOutgoingChannel(
            session, numbers, to: to, name: name, file: file, size: size ?? 0,
            isResumable: request["resumable"]?.isTrue ?? false)
        outgoing[numbers] = channel
        let number = numbers
        link.channels.add(channel)
        return number
    }
}
