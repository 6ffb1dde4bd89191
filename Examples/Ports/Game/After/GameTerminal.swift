import Foundation
import Observation

/// What the view was, at a terminal: `port-game NAME [TYPE]`. A line of input is a point; the others are shown as they change.
@main @MainActor final class GameTerminal {
    private let game: GameModel
    /// The number of the state in which each player was last shown, and its points.
    private var shown: [String: (number: UInt32, points: Int)] = [:]

    private init(_ arguments: [String]) {
        let name = arguments.first ?? ProcessInfo.processInfo.hostName
        game = arguments.count > 1 ? GameModel(name: name, serviceType: arguments[1]) : GameModel(name: name)
    }

    static func main() {
        let terminal = GameTerminal(Array(CommandLine.arguments.dropFirst()))
        terminal.game.start()
        terminal.draw()
        // Reading blocks, and the main queue must run: browsers and advertisers call their delegates there.
        Thread.detachNewThread {
            while readLine() != nil { Task { @MainActor in terminal.game.score() } }
            Task { @MainActor in
                terminal.game.stop()
                exit(0)
            }
        }
        RunLoop.main.run()
    }

    /// Shows what has changed, and is called again when the model changes, as a view is.
    private func draw() {
        withObservationTracking {
            for player in game.others.values { show(player) }
        } onChange: { [weak self] in
            Task { @MainActor in self?.draw() }
        }
    }

    /// A terminal has no field to draw on: a line for each second of a player, and one for each of its points.
    private func show(_ player: GameModel.Player) {
        let (number, points) = (player.state.number, player.points)
        let last = shown[player.name] ?? (0, 0)
        guard points > last.points || number >= last.number + 30 || number < last.number else { return }
        shown[player.name] = (number, points)
        let line = "\(player.name) is at state \(number), with points: \(points)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
