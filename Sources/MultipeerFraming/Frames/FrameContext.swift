/// Which kinds of frame a connection may carry, by its purpose and its phase. Spec 7.3.
@usableFromInline
package enum FrameContext: Equatable, Sendable {
    case beforeSelected
    case open
    case invitation

    /// Returns whether a frame of this kind, if it is known, is allowed now. Ignorable kinds always are.
    @inlinable
    package func allows(_ kind: FrameKind) -> Bool {  // [frame.order]
        switch kind.rawValue {
        case 0x05, 0x80...: true
        case 0x06, 0x07: self != .invitation
        case 0x01...0x04: self == .beforeSelected
        case 0x40...0x44: self == .invitation
        default: self == .open
        }
    }
}
