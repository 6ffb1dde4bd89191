package import MultipeerFraming

/// What one link begins with.
package struct LinkConfiguration: Sendable {
    /// What our HELLO announced.
    package var local: LinkLimits
    /// What the peer's HELLO announced.
    package var remote: LinkLimits
    package var timing: Liveness.Timing
    /// A kind that means nothing, sent once. [frame.grease]
    package var greaseKind: FrameKind?
    /// Entries of the mesh travel on it. Spec 11.1.
    package var isMesh: Bool

    package init(
        local: LinkLimits = .standard, remote: LinkLimits = .standard, timing: Liveness.Timing = .init(),
        greaseKind: FrameKind? = nil, isMesh: Bool = false
    ) {
        self.local = local
        self.remote = remote
        self.timing = timing
        self.greaseKind = greaseKind
        self.isMesh = isMesh
    }
}
