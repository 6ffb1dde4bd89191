import Foundation
import MultipeerConnectivity
import MultipeerCore
import MultipeerDiscovery

extension FuzzBody {
    /// What applications pass to the classes with Apple's names: display names, service types and discovery info, and the
    /// bytes that an archive holds for a peer. Four lengths, then that many bytes for each.
    package static let facadeArguments = FuzzBody("facade-arguments") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let lengths = (0..<4).map { _ in Int(input.byte()) }
        let texts = lengths.map { String(decoding: input.bytes($0), as: UTF8.self) }
        let archived = input.rest()
        let someone = try examinePeer(texts[0], archived)
        // Nothing ends the process, valid or not.
        let info = [texts[2]: texts[3]]
        let advertiser = MCNearbyServiceAdvertiser(
            peer: someone, discoveryInfo: info, serviceType: texts[1])
        try promise(
            advertiser.serviceType == texts[1] && advertiser.discoveryInfo == info,
            "arguments are returned unchanged")
        let browser = MCNearbyServiceBrowser(peer: someone, serviceType: texts[1])
        try promise(browser.serviceType == texts[1], "a browser returns its service type unchanged")
        let attributes = ["~0": texts[2], "~1": texts[3]].merging([texts[2]: texts[3]]) { $1 }
        _ = DiscoveredPeer(peer: someone.native, info: attributes).applicationInfo
        do {
            try MCNearbyServiceBrowser.validate(serviceType: texts[1])
            let others = ["n": "", "~": ""].merging([texts[2]: texts[3]]) { $1 }
            try MCNearbyServiceAdvertiser.validate(serviceType: texts[1], discoveryInfo: others)
        } catch {
            return try promise(
                (error as? MCError)?.code == .invalidParameter, "a refusal names the argument: \(error)")
        }
    }
}

/// Checks a peer of that name if the name is valid, and the archived one if it can be read.
private func examinePeer(_ name: String, _ archived: [UInt8]) throws(BrokenPromise) -> MCPeerID {
    let given = MCPeerID(displayName: name)
    try promise(name.isEmpty || given.displayName == name, "a name is returned unchanged, valid or not")
    try promise(
        (1...63).contains(given.native.displayName.utf8.count), "other peers see a valid name")
    var someone = given
    if let named = try? MCPeerID(validating: name) {
        try promise(named.displayName == name, "a name is returned unchanged")
        someone = named
    }
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(NSData(data: Data(archived)), forKey: "id")
    archiver.finishEncoding()
    guard let reader = try? NSKeyedUnarchiver(forReadingFrom: archiver.encodedData),
        let read = MCPeerID(coder: reader)
    else { return someone }
    try promise(
        (1...63).contains(read.native.displayName.utf8.count), "a peer that was read has a valid name")
    let again = try? NSKeyedArchiver.archivedData(withRootObject: read, requiringSecureCoding: true)
    let copy = again.flatMap { try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: $0) }
    try promise(copy == read && copy?.hash == read.hash, "a peer that was written is read unchanged")
    return read
}
