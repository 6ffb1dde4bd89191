// mode: Swift 6, strict memory safety
// flags: -swift-version 6 -strict-memory-safety

@unsafe @preconcurrency import MultipeerConnectivity

// Strict memory safety, for which a @preconcurrency import is unsafe.

// idiom: an import and bytes that are marked unsafe

final class StrictSender: Sendable {
    let session = MCSession(peer: MCPeerID(displayName: "strict"))

    func send(_ position: SIMD3<Float>) throws {
        let data = unsafe withUnsafeBytes(of: position) { unsafe Data($0) }
        try session.send(data, toPeers: session.connectedPeers, with: .unreliable)
    }
}

// idiom: a stream read through a buffer that is marked unsafe

func firstByte(of stream: InputStream) -> UInt8? {
    var buffer: [UInt8] = [0]
    let count = unsafe buffer.withUnsafeMutableBufferPointer { bytes in
        unsafe bytes.baseAddress.map { unsafe stream.read($0, maxLength: 1) } ?? 0
    }
    return count == 1 ? buffer[0] : nil
}
