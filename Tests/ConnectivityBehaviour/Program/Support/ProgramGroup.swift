/// Programs about one subject: one table of the documentation.
struct ProgramGroup: Sendable {
    let title: String
    let programs: [Program]

    init(_ title: String, _ programs: [Program]) { (self.title, self.programs) = (title, programs) }
}

extension ProgramGroup {
    static let all = [
        ProgramGroup("Peers and their ids", Program.peers)
    ]
}
