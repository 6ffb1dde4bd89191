/// How an end notices that its process or computer was suspended, and how long its links then have. Spec 14.2 `[live.resume]`;
/// `Spec/registries.json` holds the same numbers.
package enum Suspension {
    /// A deadline that is noticed later than this means that the process was suspended.
    package static let clockGap = Duration.seconds(5)
    /// How long a peer has to respond after a suspension.
    package static let resumeGrace = Duration.seconds(3)
}
