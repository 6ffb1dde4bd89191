import MultipeerCore
import MultipeerDiscovery

/// The peers and services on the stage, and the names that follow from them. Every number is valid.
struct DNSFixture {
    private var types: [ServiceType] = []
    private var peers: [PeerID] = []

    init() throws(BrokenPromise) {
        do {
            types = [try ServiceType(parsing: "fuzz"), try ServiceType(parsing: "fuzz-2")]
            for number: UInt8 in 0..<8 {
                let uid = UID(high: UInt64(number), low: 0x0123_4567_89AB_CDEF)
                peers.append(try PeerID(validating: uid, displayName: "peer \(number)"))
            }
        } catch {
            throw BrokenPromise(description: "\(error)")
        }
    }

    func type(_ choice: UInt8) -> ServiceType { types[Int(choice & 1)] }

    func peer(_ choice: UInt8) -> PeerID { peers[Int(choice >> 1 & 7)] }

    func info(_ choice: UInt8) -> DiscoveryInfo {
        // The longest ones need packets of their own.
        let text = String(repeating: "x", count: choice >> 4 == 15 ? 240 : Int(choice >> 4))
        return choice & 0x10 == 0 ? .empty : (try? DiscoveryInfo(validating: ["key": text])) ?? .empty
    }

    func advert(_ choice: UInt8) -> Advert {
        Advert(peer: peer(choice), type: type(choice), port: 1_024 + UInt16(choice), info: info(choice))
    }

    /// Returns the name of a service, an instance, or a host.
    func name(_ choice: UInt8, host: DNSName) -> DNSName {
        switch choice >> 5 {
        case 0, 1: Binding.serviceName(type(choice))
        case 2...4:
            Binding.instanceName(peer(choice), type(choice), attempt: choice & 0x10 == 0 ? 0 : 1)
        case 5: "_services._dns-sd._udp.local"
        case 6: host
        default: "stranger.local"
        }
    }
}

/// A message about names that exist on the stage, composed as the input says.
struct DNSComposer {
    let cast: DNSFixture
    let host: DNSName

    func message(_ input: inout InputReader, id: UInt16) -> DNSMessage {
        var message = DNSMessage()
        let head = input.byte()
        message.isResponse = head & 1 == 1
        message.isTruncated = head & 2 == 2
        message.id = head & 4 == 4 ? id : 0
        for _ in 0..<Int(head >> 3 & 3) {
            let bits = input.byte()
            // The last one is CNAME, which no engine queries.
            let types: [DNSType] = [.ptr, .srv, .txt, .any, .a, .aaaa, .nsec, DNSType(rawValue: 5)]
            message.questions.append(
                DNSQuestion(
                    cast.name(input.byte(), host: host), types[Int(bits & 7)], wantsUnicast: bits & 8 == 8))
        }
        for _ in 0..<(1 + Int(head >> 5)) {
            let bits = input.byte()
            let record = record(bits, name: input.byte(), value: input.byte())
            switch bits >> 6 {
            case 0, 1: message.answers.append(record)
            case 2: message.authorities.append(record)
            default: message.additionals.append(record)
            }
        }
        return message
    }

    private func record(_ bits: UInt8, name: UInt8, value: UInt8) -> DNSRecord {
        let ttls: [UInt32] = [120, 4_500, 0, 1, 10, 60, 3_600, .max]
        return DNSRecord(
            cast.name(name, host: host), isCacheFlush: bits & 8 == 8, ttl: ttls[Int(value >> 5)],
            data(bits & 7, name: name, value))
    }

    private func data(_ kind: UInt8, name: UInt8, _ value: UInt8) -> DNSData {
        switch kind {
        case 0, 1: .ptr(cast.name(0x40 | value & 0x1F, host: host))
        case 2:
            .srv(
                priority: 0, weight: 0, port: UInt16(value),
                target: value & 1 == 0 ? host : cast.name(value, host: host))
        case 3: .txt(value & 0x10 == 0 ? Binding.txt(cast.peer(name), cast.info(value << 4)) : [value])
        case 4: .a([10, 0, 0, value])
        case 5: .aaaa([0xFE, 0x80] + [UInt8](repeating: value, count: 14))
        case 6: .nsec(next: cast.name(value, host: host), types: [UInt16(value)])
        default: .other(type: UInt16(value) | 0x100, [value])
        }
    }
}
