package import MultipeerFraming

/// The initial configuration of one link.
package struct LinkConfiguration: Sendable {
    /// The limits in our HELLO.
    package var local: LinkLimits
    /// The limits in the peer's HELLO.
    package var remote: LinkLimits
    package var timing: Liveness.Timing
    /// A kind without meaning, sent once. [frame.grease]
    package var greaseKind: FrameKind?
    /// Whether the link carries membership entries of the mesh. Spec 11.1.
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
