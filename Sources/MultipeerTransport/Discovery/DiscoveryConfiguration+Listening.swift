extension DiscoveryConfiguration {
    /// Where a session should listen to be reached by those who find it like this: for `SessionConfiguration.listening`.
    ///
    /// 127.0.0.1 when discovery is on the loopback interface alone, by its configuration or by the environment; nothing,
    /// which stands for every interface, otherwise. A session that listens on every interface does not name loopback
    /// addresses to others, and dials none.
    ///
    /// ```swift
    /// var configuration = SessionConfiguration()
    /// configuration.listening = DiscoveryConfiguration.standard.listening
    /// ```
    public var listening: [SocketAddress] {
        host == nil && (try? settings)?.interfaces == .loopback ? [.loopback] : []
    }
}
