import MultipeerCore
import MultipeerDiscovery
import MultipeerSecurity
import MultipeerTransport

extension FuzzBody {
    /// Text from users, files and the environment: addresses, fingerprints, service types, names of interfaces, display
    /// names, codes of invitations. The first byte chooses which.
    package static let localText = FuzzBody("local-text") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let form = input.byte() % 7
        let text = String(decoding: input.rest(), as: UTF8.self)
        switch form {
        case 0:
            guard let address = SocketAddress(text) else { return }
            try promise(
                SocketAddress("\(address)") == address, "an address that was written is read unchanged")
            try promise(
                SocketAddress.Host("\(address.host)") == address.host, "and so is its host: \(address.host)")
        case 1:
            guard let host = SocketAddress.Host(text) else { return }
            try promise(
                SocketAddress.Host("\(host)") == host, "a host that was written is read unchanged: \(host)")
            try promise([4, 16].contains(host.bytes.count), "a host has 4 or 16 bytes")
        case 2:
            guard let fingerprint = Fingerprint(hex: text) else { return }
            try promise(
                Fingerprint(hex: "\(fingerprint)") == fingerprint,
                "a fingerprint that was written is read unchanged")
        case 3:
            let type: ServiceType
            do throws(InvalidServiceType) { type = try ServiceType(parsing: text) } catch {
                return try promise(!"\(error)".isEmpty, "a refusal has a description")
            }
            try promise("\(type)" == text && text.utf8.count <= 15, "a service type has 1 to 15 bytes")
        case 4:
            let interfaces = DiscoveryConfiguration.standard.interfaces(named: text)
            guard case .only(let names) = interfaces else { return }
            try promise(
                !names.isEmpty && names.allSatisfy { !$0.isEmpty && !$0.contains(",") },
                "a list of interfaces has names")
        case 5:
            guard let peer = try? PeerID(validating: UID(high: 1, low: 2), displayName: text) else { return }
            try promise((1...63).contains(peer.displayName.utf8.count), "a name has 1 to 63 bytes")
            try promise(isPrintable(peer.displayName), "a name has no control characters")
            let again = try? PeerID(parsing: peer.archived)
            try promise(
                again == peer && again?.displayName == text, "a peer that was written is read unchanged")
        default:
            let code: InvitationCode
            do throws(InvalidInvitationCode) { code = try InvitationCode(parsing: text) } catch {
                return try promise(!"\(error)".isEmpty, "a refusal has a description")
            }
            try promise(InvitationCode.numbers.contains(code.number), "a code has a number from 1 to 999")
            try promise(code.words.allSatisfy(CodeWords.all.contains), "every word is one of the list")
            try promise(
                (try? InvitationCode(parsing: "\(code)")) == code, "a code that was written is read unchanged"
            )
        }
    }
}
