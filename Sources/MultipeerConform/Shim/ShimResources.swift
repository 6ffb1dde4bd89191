import Foundation
import Multipeer

/// The files that a session of a shim sends and receives.
@ShimActor
final class ShimResources {
    private let context: ShimContext
    private var sent: [Int: OutgoingResource] = [:]
    private var offered: [Int: IncomingResource] = [:]

    init(_ context: ShimContext) { self.context = context }
}

// MARK: outgoing files

extension ShimResources {
    func send(_ request: inout ShimRequest) throws(ShimFault) {
        let peer = try request.required("to", try request.peer("to"))
        let path = try request.required("path", try request.text("path"))
        let label = try request.text("name")
        let metadata = try request.bytes("metadata")
        let digest = try request.flag("digest") ?? true
        let resumable = try request.flag("resumable") ?? false
        try request.end()
        let id = context.pipe.number()
        context.lanes.later(request, in: "resource \(id)") { [context] () async throws(ShimFault) in
            let sending = try await ShimFault.translating { () async throws(MultipeerError) in
                try await context.session.send(
                    file: URL(fileURLWithPath: path), to: peer, name: label, metadata: metadata,
                    digest: digest, resumable: resumable)
            }
            self.sent[id] = sending
            context.keep(Task { await self.watch(sending, id) })
            return ["resource": .integer(id)]
        }
    }

    private func watch(_ sending: OutgoingResource, _ id: Int) async {
        for await progress in sending.progress { await report(progress, id) }
        var fields: [String: ShimValue?] = [:]
        do throws(MultipeerError) {
            try await sending.waitUntilReceived()
        } catch {
            fields = ShimReason(error).fields
        }
        sent[id] = nil
        fields["resource"] = .integer(id)
        fields["to"] = .hex(sending.peer.uid.bytes)
        await context.pipe.tell("sent", of: context.name, fields)
    }

    private func report(_ progress: TransferProgress, _ id: Int) async {
        await context.pipe.tell(
            "resource-progress", of: context.name,
            [
                "resource": .integer(id), "completed": .size(progress.completedBytes),
                "fraction": progress.fractionCompleted.map { .number($0) },
            ])
    }
}

// MARK: incoming files

extension ShimResources {
    func hear(_ resource: IncomingResource) async {
        let id = context.pipe.number()
        offered[id] = resource
        await context.pipe.tell(
            "resource-start", of: context.name,
            [
                "from": .hex(resource.peer.uid.bytes), "resource": .integer(id), "name": .text(resource.name),
                "size": resource.size.map { .size($0) }, "metadata": resource.metadata.map { .hex($0) },
            ])
        switch context.options.resources {
        case .take: store(resource, id)
        case .hold: break
        case .refuse: resource.decline()
        }
    }

    /// Receives a file, and reports its progress and its end.
    private func store(_ resource: IncomingResource, _ id: Int) {
        let watching = Task {
            for await progress in resource.progress { await self.report(progress, id) }
        }
        context.keep(
            Task {
                var fields: [String: ShimValue?]
                do throws(MultipeerError) {
                    let file = try await resource.receive(
                        into: context.options.folder, resuming: context.options.resumes ? .standard : nil)
                    fields = [
                        "size": .size(file.size), "path": .text(file.path),
                        "sha256": file.digest.map { .hex($0) }, "verified": .flag(file.isVerified),
                    ]
                } catch {
                    fields = ShimReason(error).fields
                }
                await watching.value
                self.offered[id] = nil
                fields["resource"] = .integer(id)
                await context.pipe.tell("resource-end", of: context.name, fields)
            })
    }

    private func offered(
        _ request: inout ShimRequest
    ) throws(ShimFault) -> (id: Int, resource: IncomingResource) {
        let id = try request.required("resource", try request.count("resource"))
        try request.end()
        guard let resource = offered[id] else {
            throw .invalid("no incoming resource \(id)")
        }
        return (id, resource)
    }

    func receive(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let (id, resource) = try offered(&request)
        store(resource, id)
        return [:]
    }

    func decline(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let (id, resource) = try offered(&request)
        resource.decline()
        offered[id] = nil
        return [:]
    }
}

// MARK: both directions

extension ShimResources {
    /// Cancels a resource, from either end.
    func drop(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let id = try request.required("resource", try request.count("resource"))
        try request.end()
        let (outgoing, incoming) = (sent[id], offered[id])
        guard outgoing != nil || incoming != nil else { throw .invalid("no resource \(id)") }
        outgoing?.cancel()
        incoming?.cancel()
        return [:]
    }
}
