import TestSupport

/// Tries a body that ends by a timeout, with a longer one each time: on a busy machine nothing may have happened in the
/// shortest. The body returns whether it got to the point.
func eventually(_ body: (Duration) async throws -> Bool) async throws {
    for timeLimit in [Duration.milliseconds(1_500), .seconds(6), .seconds(20)] where try await body(timeLimit)
    {
        return
    }
    throw Overdue()
}
