/// How often a room's code is tried on peers that claim to be in the room. Each attempt gives an impostor one guess, and one
/// machine can announce any number of peers. Pure: the caller has the clock.
struct CodeAttempts: Sendable {
    private var running = 0
    private var quietUntil = Duration.zero

    private static let mostRunning = 64
    private static let shortPause = Duration.milliseconds(100)
    private static let pause = Duration.seconds(1)

    /// Returns how long to wait before the next attempt may be asked for again; nil when it has begun.
    mutating func begin(at time: Duration) -> Duration? {
        guard time >= quietUntil else { return quietUntil - time }
        guard running < CodeAttempts.mostRunning else { return CodeAttempts.shortPause }
        running += 1
        return nil
    }

    /// `isWrong`: the peer has guessed, and did not have the code. No other is tried for a second then. So there are at most 64
    /// guesses a second at four words, which is 270 years for an even chance; fewer attempts at a time would let silent impostors
    /// keep out those who have the code.
    mutating func end(isWrong: Bool, at time: Duration) {
        running -= 1
        if isWrong { quietUntil = max(quietUntil, time + CodeAttempts.pause) }
    }
}
