#if canImport(UIKit)
    import SwiftUI

    @main struct GameApp: App {
        var body: some Scene {
            WindowGroup { GameView() }
        }
    }

    /// The field: a circle for each player, and the points below it.
    struct GameView: View {
        @State private var game = GameModel(name: UIDevice.current.name)

        var body: some View {
            VStack {
                Canvas { context, size in
                    for player in [game.me] + game.others.values {
                        let place = CGPoint(
                            x: CGFloat(player.state.x) * size.width, y: CGFloat(player.state.y) * size.height)
                        context.draw(Text("●"), at: place)
                        context.draw(Text(player.name), at: CGPoint(x: place.x, y: place.y + 20))
                    }
                }
                ForEach(game.others.values.sorted { $0.name < $1.name }, id: \.name) { player in
                    Text("\(player.name): \(player.points)")
                }
                Button("Score") { game.score() }
            }
            .onAppear { game.start() }
            .onDisappear { game.stop() }
        }
    }
#endif
