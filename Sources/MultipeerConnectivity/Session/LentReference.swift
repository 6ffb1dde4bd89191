/// A reference that retains nothing, lent to a call: an object that is also referenced weakly takes several times as long to retain
/// and to release as any other, and for each small message that is most of the call.
///
/// Safe: its owner has a strong reference to the same object, and changes neither during a call.
@safe
struct LentReference<Object: AnyObject> {
    private let object: Unmanaged<Object>

    init(_ object: Object) { unsafe self.object = .passUnretained(object) }

    @inline(__always)
    func lend<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try unsafe object._withUnsafeGuaranteedRef { try body($0) }
    }
}
