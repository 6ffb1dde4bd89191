import TestSupport
import Testing

@Suite("1 Vectors", .computing)
struct VectorFileTests {
    /// Each of these kinds is the argument of a test in this folder.
    private static let runners: [any VectorBody.Type] = [
        FieldList.self, ConnectionDataForm.self, ConnectionDataAtSession.self, Dialling.self, Outcome.self,
        CertificateFingerprint.self, Pin.self, HelloForm.self, HelloAtReceiver.self, Confirmation.self,
        CodeValue.self, CodeRun.self,
        FrameStream.self, LinkOverTime.self, MessageFrames.self, CreditOfReceiver.self, CreditOfSender.self,
        ChannelForm.self, ChannelSteps.self, Resource.self, ResourceName.self, Datagram.self,
        DatagramContent.self, DatagramWindow.self, DatagramKey.self, MembersForm.self, MeshTrace.self,
        InvitationTrace.self, Budget.self, CodeText.self, CodePassword.self, SPAKE2Run.self, SPAKE2Share.self,
        CodeTrace.self,
        DNSForm.self, InstanceForm.self, InviteForm.self, AnswerForm.self, CompleteForm.self,
        Naming.self, TurnSteps.self, SelectionSteps.self,
    ]

    @Test("every file has a runner, and every runner has vectors")
    func complete() throws {
        let counts = try VectorFiles.counts()
        #expect(Set(counts.keys) == Set(Self.runners.map { $0.type }))
        #expect(counts.values.allSatisfy { $0 > 0 })
    }

    @Test("every vector of every file reaches its runner")
    func loaded() throws {
        let counts = try VectorFiles.counts()
        for runner in Self.runners { #expect(try count(runner) == counts[runner.type], "\(runner.type)") }
    }

    private func count<Body: VectorBody>(_ kind: Body.Type) throws -> Int { try VectorFiles.all(kind).count }
}
