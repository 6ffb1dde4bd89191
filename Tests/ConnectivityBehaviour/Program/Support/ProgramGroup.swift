/// Programs about one subject: one table of the documentation.
struct ProgramGroup: Sendable {
    let title: String
    let programs: [Program]

    init(_ title: String, _ programs: [Program]) { (self.title, self.programs) = (title, programs) }
}

extension ProgramGroup {
    static let all = [
        ProgramGroup("Peers and their ids", Program.peers),
        ProgramGroup("Finding peers", Program.nearby),
        ProgramGroup("Names, discovery info and service types", Program.nearbyArguments),
        ProgramGroup("Invitations", Program.invitations),
        ProgramGroup("Invitations: what else happens", Program.invitationEnds),
        ProgramGroup("Assistants and browser controllers", Program.screens),
        ProgramGroup("Sessions of two", Program.sessions),
        ProgramGroup("Sessions of more", Program.meshes),
        ProgramGroup("Connecting by hand", Program.byHand),
        ProgramGroup("Encryption", Program.encryption),
        ProgramGroup("Certificates", Program.certificates),
        ProgramGroup("Delegates and queues", Program.delegates),
        ProgramGroup("Messages", Program.messages),
        ProgramGroup("What cannot be sent", Program.sendErrors),
        ProgramGroup("Resources", Program.resources),
        ProgramGroup("Progress", Program.progress),
        ProgramGroup("Resources that do not arrive", Program.resourceEnds),
        ProgramGroup("Streams", Program.streams),
        ProgramGroup("Events of streams", Program.streamEvents),
        ProgramGroup("How streams end", Program.streamEnds),
    ]
}
