extension Suite {
    static let dataCases: [Case] = []
}
