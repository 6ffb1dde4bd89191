import MultipeerCommandLine

/// The pipe to the test driver: answers and events, a line each, and the numbers by which both sides refer to objects without
/// a name.
@ShimActor
final class ShimPipe {
    private let output = Worker("output")
    private var lastNumber = 0

    func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Reports an event of a session.
    func tell(_ event: String, of session: String, _ fields: [String: ShimValue?]) async {
        await put(fields.merging(["event": .text(event), "session": .text(session)]) { $1 })
    }

    func answer(_ id: ShimValue?, _ fields: [String: ShimValue?]) async {
        await put(fields.merging(["re": id ?? .null, "ok": .flag(true)]) { $1 })
    }

    func refuse(_ id: ShimValue?, _ fault: ShimFault) async {
        var fields: [String: ShimValue?]
        switch fault {
        case .unimplemented(let name):
            fields = ["unimplemented": .flag(true), "parameter": name.map { .text($0) }]
        case .failed(let reason): fields = reason.fields
        }
        fields["re"] = id ?? .null
        await put(fields)
    }

    /// Waits until the line is written. Errors are ignored, since there is no place to report them.
    private func put(_ fields: [String: ShimValue?]) async {
        let value = ShimValue.object(with: fields)
        try? await output.run { () throws(CommandError) in
            try Terminal.put(JSON.encode(value, isPretty: false))
        }
    }
}
