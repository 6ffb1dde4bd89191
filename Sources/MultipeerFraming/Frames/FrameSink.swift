/// Takes whole frames out of a `FrameDecoder`.
@usableFromInline
package protocol FrameSink: ~Copyable {
    /// The longest payload that may come next, in bytes. Asked before every frame, so it may change with the
    /// phase.
    var frameLimit: Int { get }
    /// Which kinds may come next; nil when the sink judges that itself. Asked as often as the limit.
    var frameContext: FrameContext? { get }
    /// False pauses the decoder after the current frame: the bytes behind it stay with the caller.
    var wantsFrames: Bool { get }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>)
    /// The same for a frame that came in pieces and was joined: the bytes are the sink's to keep.
    mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8])
}

extension FrameSink where Self: ~Copyable {
    @inlinable package var frameContext: FrameContext? { nil }

    @inlinable
    package mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        receive(header, payload.span)
    }
}
