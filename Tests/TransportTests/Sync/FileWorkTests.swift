import Glibc
import MultipeerTransport
import TestSupport
import Testing

@Suite("FileWork", .inTurns)
struct FileWorkTests {
    @Test("work that waits for a file system does not hold up its caller, and is done in order")
    func order() async throws {
        let (work, done) = (FileWork(), Notes<String>())
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        defer { ends.forEach { _ = Glibc.close($0) } }
        let end = ends[0]
        work.add {
            // Like a directory on a network that does not answer.
            var byte: UInt8 = 0
            let count = unsafe read(end, &byte, 1)
            done.append("slow \(count)")
        }
        for number in 1...3 { work.add { done.append("\(number)") } }
        // The caller goes on.
        done.append("caller")
        #expect(unsafe write(ends[1], [1], 1) == 1)
        await work.waitUntilDone()
        #expect(done.all == ["caller", "slow 1", "1", "2", "3"])
    }
}
