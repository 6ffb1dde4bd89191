import MultipeerCore

/// The interface of a simulated machine, which never changes.
final class VirtualInterfaces: InterfaceTableMonitor {
    let table: InterfaceTable
    var descriptor: Int32? { nil }
    var deadline: Moment? { nil }

    init() { table = InterfaceTable() }
    init(_ host: VirtualHost) { table = host.interfaceTable }

    func read() -> Bool { false }
}
