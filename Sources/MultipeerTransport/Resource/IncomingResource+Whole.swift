import MultipeerFraming
import MultipeerSecurity

/// A resource that is received in memory.
extension IncomingResource {
    /// Gets all bytes, and whether the sender promised their digest.
    package typealias Saving =
        @Sendable (_ bytes: [UInt8], _ isVerified: Bool) async throws(ResourceFault) -> Void

    /// Calls `body` once all bytes are there and are what was promised, which from then on cannot be cancelled, and confirms them when
    /// it has returned.
    package func receiveWhole(
        atMost limit: Int, _ body: @escaping Saving, on worker: EventLoop
    ) async throws(ResourceFault) {
        try begin()
        let task = Task(executorPreference: worker.taskExecutor) { await self.run(limit, body) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            cancel()
        }
        try result.get()
    }

    private func run(
        _ limit: Int, _ body: Saving
    ) async -> Result<Void, ResourceFault> {
        var result: Result<Void, ResourceFault>
        do throws(ResourceFault) {
            let bytes = try await collect(limit)
            guard commit() else { throw .cancelled }
            try await body(bytes, receiver.digest != nil)
            result = .success(())
            receiver.done(.ok)  // [resource.done]
        } catch {
            result = .failure(give(up: error))
        }
        meter.end(hasSucceeded: result.isSuccess)
        return result
    }

    private func collect(_ limit: Int) async throws(ResourceFault) -> [UInt8] {
        // Of one that goes on, the first bytes would be missing.
        guard let size, size <= UInt64(clamping: limit), !isResumable else { throw .declined }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(size))
        while let pieces = try await next() {
            for piece in pieces {
                guard piece.count <= Int(size) - bytes.count else { throw .damaged }  // [resource.size]
                bytes += piece
            }
            meter.note(UInt64(bytes.count))
        }
        guard bytes.count == Int(size) else { throw .damaged }  // [resource.size]
        if let promised = receiver.digest, promised != SHA256.hash(bytes) {
            throw .damaged  // [resource.digest]
        }
        return bytes
    }
}
