import MultipeerDiscovery
import MultipeerTransport

extension MultipeerError {
    static func checking(_ service: String) throws(MultipeerError) -> ServiceType {
        do throws(InvalidServiceType) {
            return try ServiceType(service)
        } catch {
            throw MultipeerError(.invalidArgument, "\(error)")
        }
    }

    static func checking(_ info: [String: String]) throws(MultipeerError) -> DiscoveryInfo {
        do throws(InvalidDiscoveryInfo) {
            return try DiscoveryInfo(info)
        } catch {
            throw MultipeerError(.invalidArgument, "\(error)")
        }
    }
}
