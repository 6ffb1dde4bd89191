/// The tester's end of multicast DNS, in the namespace of a case. Spec 12.2 to 12.6.
final class DNSTester {
    /// A message of the subject.
    struct Heard {
        let message: DNSMessage
        let port: UInt16
        let time: ContinuousClock.Instant
    }

    let caseRun: CaseRun
    private let socket: DNSSocket
    /// What it has sent itself, which the group returns to it.
    private var own: [[UInt8]] = []
    /// The messages of the subject, in order.
    private(set) var heard: [Heard] = []
    /// What could not be read.
    private(set) var malformed: [String] = []

    init(_ caseRun: CaseRun, isUsual: Bool = true) throws {
        self.caseRun = caseRun
        socket = try DNSSocket(isUsual: isUsual)
        caseRun.loop.add(socket)
        socket.onPacket = { [unowned self] in take($0) }
    }

    deinit { caseRun.loop.remove(socket) }

    private func take(_ packet: DNSSocket.Packet) {
        if let place = own.firstIndex(of: packet.bytes) {
            own.remove(at: place)
            return
        }
        caseRun.log.add(.note, "multicast DNS: \(packet.bytes.count) bytes from port \(packet.port)")
        do throws(Malformed) {
            heard.append(Heard(message: try DNSMessage(packet.bytes), port: packet.port, time: packet.time))
        } catch { malformed.append("\(error)") }
    }

    func send(_ bytes: [UInt8]) {
        own.append(bytes)
        socket.send(bytes)
    }

    func send(_ message: DNSMessage) { send(message.bytes) }

    func ask(_ name: [[UInt8]], _ type: UInt16) { send(.asking(name, type)) }

    func respond(_ records: [DNSMessage.Record]) {
        var message = DNSMessage(flags: DNSMessage.response)
        message.answers = records
        send(message)
    }

    /// Forgets what was received so far.
    func forget() {
        caseRun.loop.wait(.milliseconds(1))
        heard = []
    }

    /// Waits for a message that fits, and returns it; those before it are kept.
    func message(within duration: Duration, where fits: (Heard) -> Bool) -> Heard? {
        caseRun.loop.wait(duration) { heard.contains(where: fits) }
        return heard.first(where: fits)
    }

    /// Waits for a response with such a record, and returns the record.
    func record(within duration: Duration = .seconds(3), where fits: (DNSMessage.Record) -> Bool)
        -> DNSMessage.Record?
    {
        let found = message(within: duration) {
            $0.message.isResponse && $0.message.records.contains(where: fits)
        }
        return found?.message.records.first(where: fits)
    }
}

/// A service that the subject advertises.
struct AdvertisedService {
    let session: SubjectSession
    let port: UInt16
    let type: [[UInt8]]
    /// The names of the instance and of its host, as announced.
    let instance: [[UInt8]]
    let host: [[UInt8]]
    /// The records of the first announcement.
    let records: [DNSMessage.Record]

    func record(_ type: UInt16) -> DNSMessage.Record? { records.first { $0.type == type } }
}

extension CaseRun {
    /// Lets a session of the subject advertise by multicast.
    func advertise(
        _ session: SubjectSession, _ type: String = "conform", info: [String: String] = [:],
        code: String? = nil
    ) throws -> UInt16 {
        var fields: [String: JSONValue] = [
            "type": .string(type), "discovery": "multicast",
            "info": .object(info.mapValues { .string($0) }),
        ]
        fields["code"] = code.map { .string($0) }
        let answer = try session.call("advertise", fields)
        guard let port = answer["port"]?.int.flatMap(UInt16.init(exactly:)) else {
            throw Skip("the shim does not state its port for invitations")
        }
        return port
    }

    /// Lets a new session advertise, and waits for what it announces.
    func advertised(_ dns: DNSTester, info: [String: String] = [:], name: String? = nil, code: String? = nil)
        throws
        -> AdvertisedService
    {
        let session = try session(.init(), name)
        let port = try advertise(session, info: info, code: code)
        let type = ServiceNames.type("conform")
        let isWhole = { (heard: DNSTester.Heard) in
            let kinds = Set(heard.message.records.map(\.type))
            return heard.message.isResponse
                && kinds.isSuperset(of: [DNSMessage.Kind.srv, DNSMessage.Kind.txt])
        }
        guard let announcement = dns.message(within: .seconds(5), where: isWhole) else {
            throw CaseFailure("no announcement with SRV and TXT is received \(dns.malformed.first ?? "")")
        }
        let records = announcement.message.records
        guard let service = records.first(where: { $0.type == DNSMessage.Kind.srv }),
            let host = service.target
        else { throw CaseFailure("SRV is malformed") }
        return AdvertisedService(
            session: session, port: port, type: type, instance: service.name, host: host, records: records)
    }
}
