/// Everything that a case sent, received and requested, and all events, each with its time.
final class TrafficLog {
    /// The direction of a line.
    enum LineDirection: String, Sendable {
        case sent = "T -> S"
        case received = "S -> T"
        case asked = "shim <"
        case told = "shim >"
        case note = "     --"
        /// What is done from here on: the case itself, or what comes after it.
        case stage = "     =="
        /// The moment at which the case was decided, and why.
        case verdict = "     **"
    }

    struct Line: Sendable {
        let seconds: Double
        let way: LineDirection
        let text: String
        /// The frame that was sent or received, if it is one.
        var frame: LoggedFrame?
    }

    /// The number of lines that are kept from the beginning, and as many from the end.
    static let kept = 1_500
    /// The number of characters of a line that are kept.
    private static let longest = 2_500
    /// The number of bytes of a payload that are shown.
    private static let shown = 64

    private let start = ContinuousClock.now
    private var first: [Line] = []
    private var last: [Line] = []
    private var dropped = 0

    func add(_ way: LineDirection, _ text: String, _ frame: LoggedFrame? = nil) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        // A hostile subject may print or send anything, and there may be thousands of lines.
        let text =
            text.utf8.count <= TrafficLog.longest ? text : String(text.prefix(TrafficLog.longest)) + "…"
        let line = Line(seconds: seconds, way: way, text: text, frame: frame)
        if first.count < TrafficLog.kept { return first.append(line) }
        last.append(line)
        guard last.count > 2 * TrafficLog.kept else { return }
        dropped += last.count - TrafficLog.kept
        last.removeFirst(last.count - TrafficLog.kept)
    }

    func add(_ way: LineDirection, _ link: String, _ frame: Frame) {
        var text = "\(link): \(frame.kind), \(frame.payload.count) bytes"
        if frame.channel != 0 { text += ", channel \(frame.channel)" }
        if let code = frame.code { text += " \(code)" }
        if let limit = frame.limit { text += " limit \(limit)" }
        if !frame.payload.isEmpty { text += "  " + TrafficLog.excerpt(frame.payload) }
        add(way, text, LoggedFrame(frame, on: link))
    }

    static func excerpt(_ bytes: [UInt8]) -> String {
        bytes.count <= shown ? bytes.hex : Array(bytes.prefix(shown)).hex + "…"
    }

    var lines: [Line] {
        guard dropped > 0 else { return first + last }
        let gap = Line(seconds: last.first?.seconds ?? 0, way: .note, text: "… \(dropped) lines left out …")
        return first + [gap] + last
    }
}
