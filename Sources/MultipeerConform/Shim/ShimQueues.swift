/// Requests that have to wait for others: they go on while the next ones are done, and what is in one lane keeps its order.
@ShimActor
final class ShimQueues {
    private let pipe: ShimPipe
    private var lanes: [String: Task<Void, Never>] = [:]

    init(_ pipe: ShimPipe) { self.pipe = pipe }

    /// Does something behind what is in the same lane, and answers the request when that is done.
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

    /// Forgets a lane that nobody is going to use any more.
    func remove(_ lane: String) { lanes[lane] = nil }

    /// Waits for all that goes on.
    func finish() async {
        for lane in lanes.values { await lane.value }
    }
}
