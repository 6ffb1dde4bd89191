import Foundation
import Multipeer

// MARK: files

extension Shim {
    func sendResource(_ request: inout ShimRequest) throws(ShimFault) {
        let subject = try subject(of: &request)
        let peer = try request.required("to", try request.peer("to"))
        let path = try request.required("path", try request.text("path"))
        let label = try request.text("name")
        let metadata = try request.bytes("metadata")
        let digest = try request.flag("digest") ?? true
        try request.end()
        let id = number()
        later(request, in: "resource \(id)") { () async throws(ShimFault) in
            let sending = try await ShimFault.translating { () async throws(MultipeerError) in
                try await subject.session.send(
                    file: URL(fileURLWithPath: path), to: peer, name: label, metadata: metadata,
                    digest: digest)
            }
            subject.things.withLock { $0.sent[id] = sending }
            subject.keep(Task { await self.watch(sending, id, of: subject) })
            return ["resource": .integer(id)]
        }
    }

    private func watch(_ sending: OutgoingResource, _ id: Int, of subject: ShimSubject) async {
        for await progress in sending.progress { await report(progress, id, of: subject) }
        var fields: [String: ShimValue?] = [:]
        do throws(MultipeerError) {
            try await sending.completion()
        } catch {
            fields = ShimReason(error).fields
        }
        subject.things.withLock { $0.sent[id] = nil }
        fields["resource"] = .integer(id)
        fields["to"] = .hex(sending.peer.uid.bytes)
        await tell("sent", of: subject, fields)
    }

    private func report(_ progress: TransferProgress, _ id: Int, of subject: ShimSubject) async {
        await tell(
            "resource-progress", of: subject,
            [
                "resource": .integer(id), "completed": .size(progress.completed),
                "fraction": progress.fraction.map { .number($0) },
            ])
    }

    /// Receives a file, and tells how far it is and how it ends.
    func store(_ resource: IncomingResource, _ id: Int, of subject: ShimSubject) {
        let watching = Task {
            for await progress in resource.progress { await self.report(progress, id, of: subject) }
        }
        subject.keep(
            Task {
                var fields: [String: ShimValue?]
                do throws(MultipeerError) {
                    let file = try await resource.receive(into: subject.options.folder)
                    fields = [
                        "size": .size(file.size), "path": .text(file.path), "sha256": .hex(file.digest),
                        "verified": .flag(file.isVerified),
                    ]
                } catch {
                    fields = ShimReason(error).fields
                }
                await watching.value
                subject.things.withLock { $0.offered[id] = nil }
                fields["resource"] = .integer(id)
                await self.tell("resource-end", of: subject, fields)
            })
    }

    private func offered(
        _ request: inout ShimRequest
    ) throws(ShimFault) -> (id: Int, subject: ShimSubject, resource: IncomingResource) {
        let subject = try subject(of: &request)
        let id = try request.required("resource", try request.count("resource"))
        try request.end()
        guard let resource = subject.things.withLock({ $0.offered[id] }) else {
            throw .invalid("there is no incoming resource \(id)")
        }
        return (id, subject, resource)
    }

    func receive(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let (id, subject, resource) = try offered(&request)
        store(resource, id, of: subject)
        return [:]
    }

    func decline(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let (id, subject, resource) = try offered(&request)
        resource.decline()
        subject.things.withLock { $0.offered[id] = nil }
        return [:]
    }

    /// Either end of a resource calls it off.
    func drop(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let id = try request.required("resource", try request.count("resource"))
        try request.end()
        let (outgoing, incoming) = subject.things.withLock { ($0.sent[id], $0.offered[id]) }
        guard outgoing != nil || incoming != nil else { throw .invalid("there is no resource \(id)") }
        outgoing?.cancel()
        incoming?.cancel()
        return [:]
    }
}
