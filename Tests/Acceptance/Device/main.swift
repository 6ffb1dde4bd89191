import MultipeerConnectivity

print("\(kMCSessionMaximumNumberOfPeers) peers at the most")
