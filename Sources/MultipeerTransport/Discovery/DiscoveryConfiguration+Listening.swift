extension DiscoveryConfiguration {
    /// The addresses at which a session should listen to be reachable by peers that find it with this configuration: for
    /// `Session.Configuration.listenAddresses`.
    ///
    /// 127.0.0.1 when discovery is limited to the loopback interface, by its configuration or by the environment; otherwise
    /// empty, which stands for every interface. A session that listens on every interface does not announce loopback addresses to
    /// others, and dials none.
    ///
    /// ```swift
    /// var configuration = Session.Configuration()
    /// configuration.listenAddresses = DiscoveryConfiguration.standard.listenAddresses
    /// ```
    public var listenAddresses: [SocketAddress] {
        host == nil && (try? settings)?.interfaces == .loopback ? [.loopback] : []
    }
}
