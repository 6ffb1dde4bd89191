/// Receives whole frames from a `FrameDecoder`.
@usableFromInline
package protocol FrameSink: ~Copyable {
    /// The maximum length of the next payload, in bytes. Read before every frame, so it may change with the
    /// phase.
    var frameLimit: Int { get }
    /// Which kinds may come next; nil when the sink checks that itself. Read as often as the limit.
    var frameContext: FrameContext? { get }
    /// False pauses the decoder after the current frame: the bytes after it stay with the caller.
    var wantsFrames: Bool { get }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>)
    /// Receives a frame that was reassembled from pieces; the sink takes ownership of the bytes.
    mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8])

    /// Returns the bytes after which the payload of a frame that arrives in pieces is to be stored, with room for it: a
    /// payload that continues another one need not be copied then. Usually none.
    mutating func storage(for header: FrameHeader) -> [UInt8]
    /// Receives a frame that was stored after `start` bytes of `storage`. Called if that returned any.
    mutating func receive(_ header: FrameHeader, stored bytes: consuming [UInt8], after start: Int)
}

extension FrameSink where Self: ~Copyable {
    @inlinable package var frameContext: FrameContext? { nil }

    @inlinable
    package mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        receive(header, payload.span)
    }

    @inlinable package mutating func storage(for header: FrameHeader) -> [UInt8] { [] }

    @inlinable
    package mutating func receive(_ header: FrameHeader, stored bytes: consuming [UInt8], after start: Int) {
        receive(header, bytes.span.extracting(start..<bytes.count))
    }
}
