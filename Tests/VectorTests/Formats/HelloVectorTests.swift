import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

struct HelloForm: VectorBody {
    static let type = "hello"
    let hex: Hex
    let fields: Fields?

    struct Fields: Decodable, Equatable {
        let versions: [UInt16]
        let version: UInt16?
        let sender: Hex
        let receiver: Hex
        let myDataReference: Hex
        let yourDataReference: Hex
        let nonce: Hex
        let limits: Limits
        let members: [Hex]
        let agent: String?
    }

    struct Limits: Decodable, Equatable {
        let maxMessage: UInt64
        let maxChannels: UInt32
        let channelCredit: UInt32
        let messageCredit: UInt32
    }
}

extension HelloForm.Fields {
    init(_ hello: Hello) {
        versions = hello.versions
        version = hello.version
        sender = Hex(hello.sender.bytes)
        receiver = Hex(hello.receiver.bytes)
        myDataReference = Hex(hello.myDataReference)
        yourDataReference = Hex(hello.yourDataReference)
        nonce = Hex(hello.nonce)
        limits = HelloForm.Limits(
            maxMessage: hello.limits.maxMessage, maxChannels: hello.limits.maxChannels,
            channelCredit: hello.limits.channelCredit, messageCredit: hello.limits.messageCredit)
        members = hello.members.map { Hex($0.bytes) }
        agent = hello.agent
    }
}

struct HelloAtReceiver: VectorBody {
    static let type = "hello-receiver"
    let hex: Hex
    let receiver: Receiver

    struct Receiver: Decodable {
        let endpoint: Hex
        let channel: String
        let certificate: Hex?
        let awaited: [Awaited]
        let keyedUid: Hex?
        let component: [Hex]?
        let cap: Int?
        /// Whether it dialled; then its own HELLO named `myDataReference`.
        let dialled: Bool?
        let preference: String?
    }

    struct Awaited: Decodable {
        let endpoint: Hex
        let myDataReference: Hex
        /// Of the version before.
        let myFormerReference: Hex?
        let theirDataReference: Hex
        let fingerprint: Hex?
        let outcome: String
        let expired: Bool
        let myMesh: Bool?
        let theirMesh: Bool?
        let preference: String?
    }
}

@Suite("6.2 Vectors of HELLO", .computing)
struct HelloVectorTests {
    @Test(
        "a valid HELLO gives its fields, an invalid one the check that fails [hello.first] [hello.complete] [hello.version]",
        arguments: try VectorFiles.all(HelloForm.self))
    func form(_ vector: Vector<HelloForm>) throws {
        let payload = vector.body.hex.bytes
        let (fault, hello) = read(payload)
        #expect(fault == vector.fault)
        if let fields = vector.body.fields { #expect(hello.map(HelloForm.Fields.init) == fields) }
        guard let fault, fault.check != "1" else { return }
        // The same answer where an unauthenticated peer sends it.
        var machine = try LinkEstablishment(stranger(UID(high: 1, low: 1)), seed: 1)
        let id = machine.accepted(at: .start)
        machine.secured(id, .plain, nonce: [UInt8](repeating: 0, count: 32), at: .start)
        machine.receive(id, FrameHeader(.hello, length: payload.count), payload.span, at: .start)
        #expect(machine.takeActions().compactMap(\.closeName) == [fault.code])
    }

    /// The checks 1 to 4 one by one.
    private func read(_ payload: [UInt8]) -> (Fault?, Hello?) {
        let header = FrameHeader(.hello, length: payload.count)
        var sink = Gate()
        var decoder = FrameDecoder()
        var bytes = ByteBuffer()
        bytes.appendHeader(header)
        do throws(FramingError) {
            _ = try decoder.decode(bytes.takeAll().span, into: &sink)
        } catch {
            return (Fault("1", error.closeCode.name), nil)
        }
        var reader = TLVReader(TLVSchema(known: Array(Hello.Field.versions...Hello.Field.agent)))
        do throws(FramingError) {
            while try reader.next(in: payload.span) != nil {}
        } catch {
            return (Fault("2", error.closeCode.name), nil)
        }
        do throws(FramingError) {
            let hello = try Hello(payload.span)
            return (hello.version == nil ? Fault("4", "VERSION") : nil, hello)
        } catch {
            return (Fault("3", error.closeCode.name), nil)
        }
    }

    private struct Gate: FrameSink {
        var frameLimit: Int { Limits.frameBeforeSelect }
        var frameContext: FrameContext? { .beforeSelected }
        var wantsFrames: Bool { true }
        mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {}
    }

    /// A reference in a vector is that of unknown connection data, so data is issued here, and its references replace
    /// those.
    @Test(
        "a HELLO must have the expected sender, receiver, references and connection [hello.sender] [hello.receiver] [hello.refs] [hello.same-data] [hello.mode] [hello.key] [mesh.plain] [data.expiry] [uid.proof]",
        arguments: try VectorFiles.all(HelloAtReceiver.self))
    func receiver(_ vector: Vector<HelloAtReceiver>) throws {
        let here = vector.body.receiver
        let own = try #require(Endpoint(here.endpoint.bytes))
        var machine = try LinkEstablishment(
            stranger(
                own.uid, instance: own.instance,
                preference: here.preference.flatMap(EncryptionPreference.init(name:)) ?? .optional),
            maximumLinks: (here.cap ?? Limits.peers) - 1, seed: 1)
        machine.meshSnapshot.members = try (here.component ?? []).map { try #require(Endpoint($0.bytes)) }
        let lifetime = Int(HandshakeTiming.lifetime.components.seconds) * 1_000
        var references: [Hex: Hex] = [:]
        for awaited in here.awaited.prefix(here.dialled == true ? 1 : here.awaited.count) {
            let endpoint = try #require(Endpoint(awaited.endpoint.bytes))
            var peer = try LinkEstablishment(
                stranger(
                    endpoint.uid, instance: endpoint.instance,
                    preference: awaited.outcome == "tls" ? .optional : .none,
                    fingerprint: awaited.fingerprint.flatMap { Fingerprint($0.bytes) }), seed: 2)
            if let former = awaited.myFormerReference {
                let address = try #require(Candidate(address: [192, 0, 2, 9], port: 49_152))
                let data = try machine.connectionData(
                    for: endpoint.uid, candidates: [address],
                    token: [UInt8](repeating: 7, count: 32), at: .after(lifetime - 1_000))
                references[former] = Hex(data.reference)
            }
            let issued = try machine.issue(
                for: endpoint.uid, flags: awaited.myMesh == true ? .mesh : [],
                at: awaited.expired ? .start : .after(lifetime - 1_000))
            let held = try peer.issue(
                for: own.uid, flags: awaited.theirMesh == true ? .mesh : [], at: .start)
            references[awaited.myDataReference] = Hex(issued.reference)
            references[awaited.theirDataReference] = Hex(held.reference)
            #expect(try machine.connect(with: held, zones: [], at: .after(lifetime - 1_000)))
        }
        _ = machine.takeActions()

        let now = Moment.after(lifetime)
        let id = try here.dialled == true ? dial(&machine, at: now) : machine.accepted(at: now)
        let key = here.certificate.flatMap { Fingerprint($0.bytes) }
        let channel =
            key.map {
                SecuredChannel.encrypted(
                    $0, keyedUID: here.keyedUid.flatMap { UID($0.bytes) },
                    binding: [UInt8](repeating: 7, count: 32))
            } ?? .plain
        #expect(channel.isEncrypted == (here.channel == "tls"))
        machine.secured(id, channel, nonce: [UInt8](repeating: 9, count: 32), at: now)
        _ = machine.takeActions()
        let payload = replaced(vector.body.hex.bytes, references)
        machine.receive(id, FrameHeader(.hello, length: payload.count), payload.span, at: now)
        let actions = machine.takeActions()
        #expect(actions.compactMap(\.closeName) == (vector.fault.map { [$0.code] } ?? []))
        #expect((machine.phase(of: id) == .deciding(confirmed: false)) == vector.isValid)
    }

    /// Dials the first of the expected peers.
    private func dial(_ machine: inout LinkEstablishment, at now: Moment) throws -> ConnectionID {
        machine.advance(to: now)
        for case .dial(let id, _, _) in machine.takeActions() { return id }
        return try #require(nil)
    }

    private func replaced(_ bytes: [UInt8], _ references: [Hex: Hex]) -> [UInt8] {
        var (bytes, index) = (bytes, 0)
        while index + 32 <= bytes.count {
            if let reference = references[Hex(Array(bytes[index..<(index + 32)]))] {
                bytes.replaceSubrange(index..<(index + 32), with: reference.bytes)
            }
            index += 1
        }
        return bytes
    }
}

extension LinkEstablishment.Action {
    /// The code with which a connection is closed.
    var closeName: String? {
        if case .close(_, let code) = self { code.name } else { nil }
    }
}
