import Foundation
import Multipeer
import MultipeerActors

/// A program that shares the search of a sky for stars among all processes nearby: distributed actors, found by their
/// type, and called like any other.
@main struct Sky {
    static func main() async {
        Terminal.reserve()
        do {
            guard let options = try Options.parse(Array(CommandLine.arguments.dropFirst())) else {
                Terminal.write("\(Options.usage)\n")
                exit(0)
            }
            exit(try await run(options))
        } catch let error as Options.Wrong {
            Terminal.complain("\(error.text) (try --help)")
            exit(2)
        } catch let error as Campaign.Failure {
            Terminal.complain(error.text)
        } catch {
            Terminal.complain("\(error)")
        }
        exit(1)
    }

    private static func run(_ options: Options) async throws -> Int32 {
        switch options.part {
        case .waits: try await wait(options)
        case .engages: try await engage(options, options.service ?? "sky", isLocal: false) { _ in Crew() }
        case .engagesWorkers(let count):
            // Only this program's own workers take part.
            try await engage(
                options, options.service ?? "sky-\(Int.random(in: 0..<1_000_000_000))", isLocal: true
            ) {
                try Crew(count, service: $0, slowness: options.slowness)
            }
        }
    }

    /// Scans for any caller, until the input ends.
    private static func wait(_ options: Options) async throws -> Int32 {
        let station = try await Station(
            name: options.name, service: options.service ?? "sky", isLocal: false,
            slowness: .milliseconds(options.ownSlowness)
        ) { Terminal.write("tile \($0.tile): \($0.stars.count) stars\n") }
        Terminal.write("\(station.session.peer.name) is waiting for tiles, until its input ends\n")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await station.receive() }
            group.addTask { await Keyboard.end() }
            try await group.next()
            group.cancelAll()
        }
        await station.close()
        return 0
    }

    private static func engage(
        _ options: Options, _ service: String, isLocal: Bool, starting start: (String) throws -> Crew
    ) async throws -> Int32 {
        let station = try await Station(
            name: options.name, service: service, isLocal: isLocal,
            slowness: .milliseconds(options.ownSlowness))
        let crew = try start(service)
        let campaign = Campaign(options.plan, station, crew)
        do {
            let (survey, time) = try await campaign.run()
            for line in survey.summary(after: time) { Terminal.write("\(line)\n") }
            await leave(station, crew, lost: campaign.lost)
            return survey.givenUp.isEmpty ? 0 : 1
        } catch {
            await leave(station, crew, lost: campaign.lost)
            throw error
        }
    }

    private static func leave(_ station: Station, _ crew: Crew, lost: Set<String>) async {
        await station.close()
        await crew.dismiss(lost: lost)
    }
}
