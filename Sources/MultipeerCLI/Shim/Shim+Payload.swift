import Foundation
import Multipeer

// MARK: messages and streams

extension Shim {
    func send(_ request: inout ShimRequest) throws(ShimFault) {
        let session = try subject(of: &request).session
        let peers = try request.required("to", try request.peers("to"))
        let delivery =
            try request.word("mode", ["reliable": Delivery.reliable, "unreliable": .unreliable]) ?? .reliable
        let content = try ShimContent(&request)
        try request.end()
        let lane = peers.map { "\($0.uid)" }.joined(separator: " ")
        later(request, in: "send \(session.peer.uid) \(lane)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                if peers.count == 1 {
                    try await session.send(content.bytes, to: peers[0], delivery: delivery)
                } else {
                    try session.post(content.bytes, to: peers, delivery: delivery)
                }
            }
            return [:]
        }
    }

    func flush(_ request: inout ShimRequest) throws(ShimFault) {
        let session = try subject(of: &request).session
        let peer = try request.required("to", try request.peer("to"))
        try request.end()
        later(request, in: "send \(session.peer.uid) \(peer.uid)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                try await session.flush(to: peer)
            }
            return [:]
        }
    }

    /// The application takes nothing, or goes on.
    func pause(_ request: inout ShimRequest, _ isPause: Bool) throws(ShimFault) -> [String: ShimValue?] {
        let gate = try subject(of: &request).gate
        try request.end()
        if isPause { gate.close() } else { gate.open() }
        return [:]
    }

    func openStream(_ request: inout ShimRequest) throws(ShimFault) {
        let subject = try subject(of: &request)
        let peer = try request.required("to", try request.peer("to"))
        let label = try request.required("name", try request.text("name"))
        let metadata = try request.bytes("metadata")
        try request.end()
        let id = number()
        later(request, in: "stream \(id)") { () async throws(ShimFault) in
            let stream = try await ShimFault.translating { () async throws(MultipeerError) in
                try await subject.session.openStream(to: peer, name: label, metadata: metadata)
            }
            subject.things.withLock { $0.outgoing[id] = stream }
            subject.keep(Task { await self.watch(stream, id, of: subject) })
            return ["stream": .integer(id)]
        }
    }

    /// Tells when it ends before its time.
    private func watch(_ stream: OutgoingStream, _ id: Int, of subject: ShimSubject) async {
        guard let error = await stream.failure(), !Task.isCancelled else { return }
        var fields = ShimReason(error).fields
        fields["stream"] = .integer(id)
        await tell("stream-end", of: subject, fields)
    }

    private func outgoing(
        _ request: inout ShimRequest
    ) throws(ShimFault) -> (id: Int, stream: OutgoingStream) {
        let id = try request.required("stream", try request.count("stream"))
        guard let stream = try subject(of: &request).things.withLock({ $0.outgoing[id] }) else {
            throw .invalid("there is no outgoing stream \(id)")
        }
        return (id, stream)
    }

    func write(_ request: inout ShimRequest) throws(ShimFault) {
        let (id, stream) = try outgoing(&request)
        let content = try ShimContent(&request)
        try request.end()
        later(request, in: "stream \(id)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                try await stream.write(content.bytes)
            }
            return [:]
        }
    }

    func finish(_ request: inout ShimRequest) throws(ShimFault) {
        let (id, stream) = try outgoing(&request)
        try request.end()
        later(request, in: "stream \(id)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in try await stream.finish() }
            return [:]
        }
    }

    /// Either end of a stream gives it up.
    func abort(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let id = try request.required("stream", try request.count("stream"))
        let code = try request.code("code") ?? .cancelled
        try request.end()
        let (outgoing, incoming) = subject.things.withLock { ($0.outgoing[id], $0.incoming[id]) }
        guard outgoing != nil || incoming != nil else { throw .invalid("there is no stream \(id)") }
        outgoing?.abort(code)
        incoming?.stream.abort(code)
        incoming?.gate.open()
        return [:]
    }

    /// One stream that came, or all that will, are not read, or are again.
    func hold(_ request: inout ShimRequest, _ isHeld: Bool) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let id = try request.count("stream")
        try request.end()
        guard let id else {
            subject.things.withLock { $0.holdsStreams = isHeld }
            return [:]
        }
        guard let gate = subject.things.withLock({ $0.incoming[id]?.gate }) else {
            throw .invalid("there is no incoming stream \(id)")
        }
        if isHeld { gate.close() } else { gate.open() }
        return [:]
    }
}
