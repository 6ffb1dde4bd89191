import MultipeerConnectivity

/// Foundation and Dispatch come with the module, as they do on Apple's platforms.
package struct Greeting: Codable, Equatable {
    package var id = UUID()
    package var text: String
    package var sent: Date

    package init(text: String, sent: Date) {
        self.text = text
        self.sent = sent
    }
}

package func throughFoundation(_ peer: MCPeerID) throws -> (MCPeerID?, Greeting) {
    let archive = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    let name = "greeting-\(ProcessInfo.processInfo.processIdentifier)"
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    let greeting = Greeting(text: peer.displayName, sent: Date(timeIntervalSince1970: 0))
    try JSONEncoder().encode(greeting).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let queue = DispatchQueue(label: "greeting")
    let read = try queue.sync { try JSONDecoder().decode(Greeting.self, from: Data(contentsOf: url)) }
    return (try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive), read)
}
