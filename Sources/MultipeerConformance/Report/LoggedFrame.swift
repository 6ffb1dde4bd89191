/// A frame in the wire log: its header, and as much of its payload as a reader needs to see what it says.
struct LoggedFrame: Sendable {
    let link: String
    let kind: FrameKind
    let channel: UInt32
    /// The number of bytes of its payload.
    let size: Int
    /// The beginning of its payload.
    let payload: [UInt8]

    /// The number of bytes of a payload that are kept.
    private static let kept = 256

    init(_ frame: Frame, on link: String) {
        self.link = link
        kind = frame.kind
        channel = frame.channel
        size = frame.payload.count
        payload = Array(frame.payload.prefix(LoggedFrame.kept))
    }

    /// The kind, and the code where the kind has one: CLOSE(GOODBYE).
    var title: String { Frame(kind, channel: channel, payload).words }

    /// The fields that matter to a reader, such as "channel 3, 1,000 bytes"; empty if there are none.
    var fields: String {
        ((channel == 0 ? [] : ["channel \(channel)"]) + content).joined(separator: ", ")
    }

    private var content: [String] {
        let frame = Frame(kind, channel: channel, payload)
        switch kind {
        case .select, .selected: return size == 0 ? [] : [length]
        case .hello: return [length] + ((try? Hello(payload: payload)).map(LoggedFrame.facts) ?? [])
        case .confirm: return [length, "mac \(short(payload))"]
        case .ping, .pong: return size == 8 ? [payload.hex] : [length, short(payload)]
        case .close: return size == 2 ? [] : [length, "reason '\(text(payload.dropFirst(2)))'"]
        case .reset, .stop, .done: return size == 2 ? [] : [length]
        case .credit: return [frame.limit.map { "limit \($0)" } ?? length]
        case .resume, .begin: return [frame.offset.map { "offset \($0)" } ?? length]
        case .open:
            guard size == payload.count, let open = try? OpenFrame(frame) else { return [length] }
            let size = open.size.map { ["size \($0)"] } ?? []
            return [open.kind == 1 ? "stream" : "resource", "'\(text(open.name[...]))'"] + size
        case .answer:
            guard let entries = try? [TLVEntry].read(payload, known: [1, 2, 3]),
                let code = entries.first(2), code.count == 2
            else { return [length] }
            return ["\(CloseCode(rawValue: UInt16(code[0]) << 8 | UInt16(code[1])))", length]
        default: return [length]
        }
    }

    private static func facts(_ hello: Hello) -> [String] {
        ["versions \(hello.versions.map { "\($0)" }.joined(separator: " "))"]
    }

    private var length: String { size == 1 ? "1 byte" : "\(size) bytes" }

    private func short(_ bytes: [UInt8]) -> String {
        bytes.count <= 8 ? bytes.hex : Array(bytes.prefix(6)).hex + "…"
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).plain(most: 40)
    }
}
