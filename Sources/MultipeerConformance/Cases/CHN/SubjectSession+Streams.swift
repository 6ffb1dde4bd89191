/// Requests and expected events of a session for streams.
extension SubjectSession {
    /// Waits for a stream that a peer opened, and returns the number that the shim gives it.
    func expectStream(_ name: String? = nil, from peer: [UInt8], within duration: Duration = .seconds(10))
        throws -> Int
    {
        guard let event = event("stream", from: peer, within: duration), let number = event["stream"]?.int
        else {
            throw CaseFailure("no stream is reported within \(duration)")
        }
        if let name, event["name"]?.text != name {
            throw CaseFailure("a stream is called '\(event["name"]?.text ?? "")', not '\(name)'")
        }
        return number
    }

    /// Waits for the event that reports how a stream or a resource ended, and returns it.
    func expectEnd(
        _ kind: String, _ key: String, _ number: Int, within duration: Duration = .seconds(10)
    ) throws -> JSONValue {
        let found = subject.event(within: duration) {
            $0["session"]?.text == handle && $0["event"]?.text == kind && $0[key]?.int == number
        }
        guard let found else { throw CaseFailure("no '\(kind)' of \(key) \(number) within \(duration)") }
        return found
    }

    /// Waits for the end of a stream after its last byte, which must be the last of these.
    func expectStreamEnd(_ number: Int, _ bytes: [UInt8], within duration: Duration = .seconds(10)) throws {
        let end = try expectEnd("stream-end", "stream", number, within: duration)
        if let error = end["error"]?.text { throw CaseFailure("the stream ends with \(error)") }
        guard end["size"]?.int == bytes.count, end["sha256"]?.text == CaseRun.digest(bytes) else {
            throw CaseFailure("\(end["size"]?.int ?? -1) bytes arrived by the stream that are not those sent")
        }
    }

    /// Waits for a stream that ended early.
    @discardableResult
    func expectStreamError(_ number: Int, _ codes: [CloseCode] = [], within duration: Duration = .seconds(10))
        throws
        -> JSONValue
    {
        let end = try expectEnd("stream-end", "stream", number, within: duration)
        guard let error = end["error"]?.text else { throw CaseFailure("the stream is reported as complete") }
        if !codes.isEmpty, !codes.contains(where: { $0.description == error }) {
            throw CaseFailure("the stream ends with \(error), not \(codes.words)")
        }
        return end
    }

    /// Opens a stream, and returns the number that the shim gives it.
    func openStream(_ name: String, to peer: [UInt8]) throws -> Int {
        let answer = try call("stream", ["to": .string(peer.hex), "name": .string(name)])
        guard let number = answer["stream"]?.int else { throw CaseFailure("'stream' returns no number") }
        return number
    }
}
