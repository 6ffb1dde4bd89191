import Multipeer

/// The streams that a session of a shim writes and reads.
@ShimActor
final class ShimStreams {
    private let context: ShimContext
    private var outgoing: [Int: OutgoingStream] = [:]
    private var incoming: [Int: (stream: IncomingStream, gate: ShimGate)] = [:]
    /// Whether new incoming streams are not read.
    private var holdsAll = false

    /// The number of bytes after which the total is reported.
    private static let step = 65_536

    init(_ context: ShimContext) { self.context = context }

    /// Opens all gates, so that no task waits.
    func openGates() {
        for (_, gate) in incoming.values { gate.open() }
    }
}

// MARK: outgoing streams

extension ShimStreams {
    func open(_ request: inout ShimRequest) throws(ShimFault) {
        let peer = try request.required("to", try request.peer("to"))
        let label = try request.required("name", try request.text("name"))
        let metadata = try request.bytes("metadata")
        try request.end()
        let id = context.pipe.number()
        context.lanes.later(request, in: "stream \(id)") { [context] () async throws(ShimFault) in
            let stream = try await ShimFault.translating { () async throws(MultipeerError) in
                try await context.session.openStream(to: peer, name: label, metadata: metadata)
            }
            self.outgoing[id] = stream
            context.keep(Task { await self.watch(stream, id) })
            return ["stream": .integer(id)]
        }
    }

    /// Reports when the stream ends early.
    private func watch(_ stream: OutgoingStream, _ id: Int) async {
        guard let error = await stream.failure(), !Task.isCancelled else { return }
        var fields = ShimReason(error).fields
        fields["stream"] = .integer(id)
        await context.pipe.tell("stream-end", of: context.name, fields)
    }

    private func outgoing(
        _ request: inout ShimRequest
    ) throws(ShimFault) -> (id: Int, stream: OutgoingStream) {
        let id = try request.required("stream", try request.count("stream"))
        guard let stream = outgoing[id] else {
            throw .invalid("no outgoing stream \(id)")
        }
        return (id, stream)
    }

    func write(_ request: inout ShimRequest) throws(ShimFault) {
        let (id, stream) = try outgoing(&request)
        let content = try ShimContent(&request)
        try request.end()
        context.lanes.later(request, in: "stream \(id)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in
                try await stream.write(content.bytes)
            }
            return [:]
        }
    }

    func finish(_ request: inout ShimRequest) throws(ShimFault) {
        let (id, stream) = try outgoing(&request)
        try request.end()
        context.lanes.later(request, in: "stream \(id)") { () async throws(ShimFault) in
            try await ShimFault.translating { () async throws(MultipeerError) in try await stream.finish() }
            return [:]
        }
    }
}

// MARK: incoming streams

extension ShimStreams {
    func hear(_ stream: IncomingStream) async {
        let (id, gate) = (context.pipe.number(), ShimGate())
        if holdsAll { gate.close() }
        incoming[id] = (stream, gate)
        await context.pipe.tell(
            "stream", of: context.name,
            [
                "from": .hex(stream.peer.uid.bytes), "stream": .integer(id), "name": .text(stream.name),
                "metadata": stream.metadata.map { .hex($0) },
            ])
        context.keep(Task { await self.read(stream, id, after: gate) })
    }

    private func read(
        _ stream: IncomingStream, _ id: Int, after gate: ShimGate
    ) async {
        var hasher = SHA256.Hasher()
        var (count, told) = (0, 0)
        var fields: [String: ShimValue?] = [:]
        do throws(MultipeerError) {
            var pieces = stream.makeAsyncIterator()
            await gate.passed()
            while let piece = try await pieces.next() {
                hasher.update(piece)
                count += piece.count
                if told == 0 || count - told >= ShimStreams.step {
                    told = count
                    await context.pipe.tell(
                        "stream-data", of: context.name, ["stream": .integer(id), "size": .integer(count)])
                }
                await gate.passed()
            }
        } catch {
            fields = ShimReason(error).fields
        }
        incoming[id] = nil
        fields["stream"] = .integer(id)
        fields["size"] = .integer(count)
        fields["sha256"] = .hex(hasher.finish())
        await context.pipe.tell("stream-end", of: context.name, fields)
    }
}

// MARK: both directions

extension ShimStreams {
    /// Aborts a stream, from either end.
    func abort(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let id = try request.required("stream", try request.count("stream"))
        let code = try request.code("code") ?? .cancelled
        try request.end()
        let (outgoing, incoming) = (outgoing[id], incoming[id])
        guard outgoing != nil || incoming != nil else { throw .invalid("no stream \(id)") }
        outgoing?.abort(code)
        incoming?.stream.abort(code)
        incoming?.gate.open()
        return [:]
    }

    /// Stops or resumes reading one incoming stream, or all future ones.
    func hold(_ request: inout ShimRequest, _ isHeld: Bool) throws(ShimFault) -> [String: ShimValue?] {
        let id = try request.count("stream")
        try request.end()
        guard let id else {
            holdsAll = isHeld
            return [:]
        }
        guard let gate = incoming[id]?.gate else {
            throw .invalid("no incoming stream \(id)")
        }
        if isHeld { gate.close() } else { gate.open() }
        return [:]
    }
}
