import MultipeerConnectivity

/// A program of the corpus: what must happen between two applications of Apple's API, and the code of each of them.
package struct Program: Sendable {
    /// One side of a program. It ends normally when it has observed everything that must happen.
    typealias Body = @MainActor @Sendable (Application) async throws -> Void

    /// A name of two parts: the subject, and what happens to it.
    package let id: String
    /// What must happen, in one sentence.
    package let statement: String
    /// Where that is known from.
    package let source: Source
    /// The defect of this library because of which it does not happen yet; nil when it does.
    package let pending: Pending?
    let left: Body
    let right: Body

    init(
        _ id: String, _ statement: String, _ source: Source, pending: Pending? = nil,
        left: @escaping Body, right: @escaping Body
    ) {
        (self.id, self.statement, self.source, self.pending) = (id, statement, source, pending)
        (self.left, self.right) = (left, right)
    }
}

extension Program {
    /// All programs, in the order of the documentation's table.
    package static let all = ProgramGroup.all.flatMap(\.programs)

    /// Returns the program with an id; nil when there is none.
    package static func named(_ id: String) -> Program? { all.first { $0.id == id } }

    /// The table of all programs, as the documentation has it.
    package static var table: String {
        ProgramGroup.all.map { group in
            let rows = group.programs.map { program in
                let mark =
                    switch program.pending {
                    case nil: ""
                    case .always: " *Not yet.*"
                    case .sometimes: " *Not always yet.*"
                    }
                return "| `\(program.id)` | \(program.statement)\(mark) | \(program.source.link) |"
            }
            return
                (["### \(group.title)", "", "| program | what happens | source |", "|---|---|---|"] + rows)
                .joined(separator: "\n")
        }
        .joined(separator: "\n\n") + "\n"
    }
}

/// Which of the two applications of a program.
enum Role: String {
    case left, right

    var other: Role { self == .left ? .right : .left }
}
