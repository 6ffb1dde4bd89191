import MultipeerCore
import TestSupport
import Testing

@Suite("Moments and durations", .computing)
struct MomentTests {
    @Test(
        "a duration has whole nanoseconds, rounded towards zero, and the longest are cut off",
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.seconds(3), 3_000_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999), 1),
            (Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999), -1),
            (.seconds(9), 9_000_000_000), (.seconds(10), 10_000_000_000), (.seconds(-10), -10_000_000_000),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func nanoseconds(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }
}
