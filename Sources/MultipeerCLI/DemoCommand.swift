import Multipeer
enum DemoCommand {
    static let usage = Usage(["demo"], "x")
    static func run(_ arguments: Arguments) async throws(Complaint) {}
}
enum DemoPeer {
    static let usage = Usage(["demo-peer"], "x")
    static func run(_ arguments: Arguments) async throws(Complaint) {}
}
