import Testing

/// A row of one of the machines of `Spec/states.json` that have no roles.
struct ChannelRow: Decodable, Sendable, CustomTestStringConvertible {
    let state: String
    let event: String
    let next: String
    let actions: [String]
    let code: String?

    var testDescription: String { "\(state), \(event)" }

    static func all(of machine: (Machines) -> Machine) throws -> [ChannelRow] {
        struct File: Decodable { let machines: Machines }
        return try machine(VectorFiles.decode(File.self, "states.json").machines).rows
    }

    struct Machine: Decodable { let rows: [ChannelRow] }

    struct Machines: Decodable {
        let opener: Machine
        let receiver: Machine
        let datagrams: Machine
        let inviter: Machine
        let invitee: Machine
        let codeInviter: Machine
        let codeInvitee: Machine
    }
}
