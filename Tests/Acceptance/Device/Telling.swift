import MultipeerConnectivity

/// The fields of a line.
typealias Fields = [String: any Sendable]

/// Reports an event, with the time `t` of a clock that all processes of the machine share.
func tell(_ event: String, _ fields: Fields = [:]) {
    var object = fields as [String: Any]
    object["event"] = event
    object["t"] = DispatchTime.now().uptimeNanoseconds
    object["main"] = Thread.isMainThread
    guard var line = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys) else {
        FileHandle.standardError.write(Data("cannot report '\(event)': \(fields)\n".utf8))
        return
    }
    line.append(0x0a)
    FileHandle.standardOutput.write(line)
}

/// Returns what is reported of an error: its code in `MCErrorDomain`, if it is one of those.
func fields(of error: any Error) -> Fields {
    var fields: Fields = ["error": "\(error)", "domain": (error as NSError).domain]
    if let known = error as? MCError { fields["code"] = word(for: known.code) }
    return fields
}

private func word(for code: MCError.Code) -> String {
    switch code {
    case .unknown: "unknown"
    case .notConnected: "notConnected"
    case .invalidParameter: "invalidParameter"
    case .unsupported: "unsupported"
    case .timedOut: "timedOut"
    case .cancelled: "cancelled"
    case .unavailable: "unavailable"
    @unknown default: "\(code.rawValue)"
    }
}

extension MCSessionState {
    /// The word that is reported.
    var word: String {
        switch self {
        case .notConnected: "notConnected"
        case .connecting: "connecting"
        case .connected: "connected"
        @unknown default: "\(rawValue)"
        }
    }
}

extension MCPeerID {
    /// What identifies a peer in reports, in every process.
    var mark: String { String(UInt(bitPattern: hash), radix: 16) }
}

extension Data {
    /// The size and checksum.
    var told: Fields { ["bytes": count, "crc": Int(checksum)] }
}
