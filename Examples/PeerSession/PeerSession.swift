import Foundation
import MultipeerConnectivity

/// A small program around the lobby: it prints what a view would show, and answers as the command line specifies.
@main struct PeerSession {
    static func main() async {
        do throws(Options.Wrong) {
            guard let options = try Options.parse(Array(CommandLine.arguments.dropFirst())) else {
                write(Options.usage)
                exit(0)
            }
            exit(await Visit(options).run())
        } catch {
            FileHandle.standardError.write(Data("peer-session: \(error.text) (try --help)\n".utf8))
            exit(2)
        }
    }

    /// Writes a line to standard output, unbuffered.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// The user, and the view they look at.
@MainActor final class Visit {
    private let options: Options
    private let lobby: Lobby
    private var rounds: Rounds?
    private var isDone = false

    init(_ options: Options) {
        self.options = options
        lobby = Lobby(Station(name: options.name, service: options.service))
        rounds = options.people.map { Rounds(people: $0, count: options.rounds) }
    }

    /// Runs until all rounds are over, the input ends, or the time is up; returns the exit code.
    func run() async -> Int32 {
        let typing = Task { await type() }
        let clock = Task {
            guard rounds != nil else { return }
            try await Task.sleep(for: options.within)
            await lobby.leave()
        }
        await lobby.run(showing: show)
        typing.cancel()
        clock.cancel()
        return isDone ? 0 : 1
    }

    private func show(_ happening: Happening) async {
        switch happening {
        case .found(let person):
            PeerSession.write("\(person.name) is nearby")
            if options.invites { await lobby.invite(person) }
        case .lost(let person): PeerSession.write("\(person.name) is gone")
        case .changed(let person): PeerSession.write("\(person.name) is \(person.state.word)")
        case .said(let person, let text): PeerSession.write("\(person.name): \(text)")
        case .failed(let what): PeerSession.write(what)
        case .asked(let question): ask(question)
        }
        await proceed(happening)
    }

    /// Answers a question later: events in the meantime are shown as they happen.
    private func ask(_ question: Question) {
        PeerSession.write("\(question.person.name) invites you: y or n?")
        guard options.answer != .ask else { return }
        Task {
            try await Task.sleep(for: options.after)
            await answer(question, options.answer == .yes)
        }
    }

    private func answer(_ question: Question, _ isYes: Bool) async {
        do throws(AnsweredBefore) {
            try await lobby.answer(question, isYes)
            PeerSession.write("you \(isYes ? "accepted" : "declined") \(question.person.name)")
        } catch {
            PeerSession.write("you have already answered \(question.person.name)")
        }
    }

    private func proceed(_ happening: Happening) async {
        rounds?.note(happening)
        while let word = rounds?.nextWord() { await say(word) }
        guard let rounds, rounds.isOver, !isDone else { return }
        isDone = true
        await lobby.leave()
    }

    private func say(_ text: String) async {
        do {
            try await lobby.say(text)
        } catch {
            PeerSession.write("not sent: \(error.localizedDescription)")
        }
    }

    private func type() async {
        for await line in Keyboard.lines() {
            if let question = lobby.questions.first, ["y", "n"].contains(line) {
                await answer(question, line == "y")
            } else {
                await say(line)
            }
        }
        guard rounds == nil, !Task.isCancelled else { return }
        isDone = true
        await lobby.leave()
    }
}

/// The lines of standard input. Reading blocks, so it has a thread of its own.
enum Keyboard {
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}

extension MCSessionState {
    fileprivate var word: String {
        switch self {
        case .notConnected: "not connected"
        case .connecting: "connecting"
        case .connected: "connected"
        @unknown default: "in an unknown state"
        }
    }
}
