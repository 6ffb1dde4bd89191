/// Requests that have to wait for others: they continue while the next ones are handled; the requests of a lane keep their
/// order.
@ShimActor
final class ShimQueues {
    private let pipe: ShimPipe
    private var lanes: [String: Task<Void, Never>] = [:]

    init(_ pipe: ShimPipe) { self.pipe = pipe }

    /// Runs `body` after the earlier requests of the same lane, and answers the request when that is done.
    func later(
        _ request: ShimRequest, in lane: String,
        _ body: @escaping @ShimActor () async throws(ShimFault) -> [String: ShimValue?]
    ) {
        let (before, id) = (lanes[lane], request.id)
        lanes[lane] = Task {
            await before?.value
            do throws(ShimFault) {
                await pipe.answer(id, try await body())
            } catch {
                await pipe.refuse(id, error)
            }
        }
    }

    /// Removes a lane that will not be used again.
    func remove(_ lane: String) { lanes[lane] = nil }

    /// Waits for all lanes.
    func finish() async {
        for lane in lanes.values { await lane.value }
    }
}
