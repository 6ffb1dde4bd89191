/// Which kinds of frame a connection carries, by what it is for and how far it has come. Spec 7.3.
@usableFromInline
package enum FrameContext: Equatable, Sendable {
    case beforeSelected
    case open
    case invitation

    /// Whether a frame of this kind, if it is a known one, may come now. Those to be ignored always may.
    @inlinable
    package func allows(_ kind: FrameKind) -> Bool {  // [frame.order]
        switch kind.rawValue {
        case 0x05, 0x80...: true
        case 0x06, 0x07: self != .invitation
        case 0x01...0x04: self == .beforeSelected
        case 0x40...0x42: self == .invitation
        default: self == .open
        }
    }
}
