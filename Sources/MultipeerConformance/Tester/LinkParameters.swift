/// The connection data of both ends, as a connection between them refers to it.
struct LinkParameters {
    /// The bytes of the tester's data, and its token.
    var mine: [UInt8]
    var myToken: [UInt8]
    /// The bytes of the subject's data, and their content.
    var theirs: [UInt8]
    var theirData: ConnectionData
    /// The endpoint that the tester claims to be.
    var me: Endpoint
    var limits = Limits()
    var members: [Endpoint] = []

    /// Whether the tester is the end that selects.
    var isControlling: Bool { me.uid.precedes(theirData.endpoint.uid) }
}
