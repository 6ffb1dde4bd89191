/// A closure that wakes a loop, in a struct: returning it from a lock then allocates nothing.
struct Wake: Sendable {
    let call: @Sendable () -> Void
}
