import MultipeerCore

/// A day of the Gregorian calendar, in UTC. Its text is that of ISO 8601, for example 2026-11-22.
package struct CalendarDate: Hashable, Sendable, CustomStringConvertible {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Creates the day that contains this point in time. Times before the year 0 or after 9999 count as the nearest day in
    /// that range.
    package init(secondsSince1970 seconds: Int64) {
        let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        let clamped = min(max(seconds, range.lowerBound), range.upperBound)
        // Days since 1 March of the year -400: years that begin in March have the leap day as their last, and the calendar
        // repeats every 400 years, which have 146,097 days.
        let days = Int(clamped - range.lowerBound) / 86_400 - 60 + 146_097
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + (era - 1) * 400 + (month <= 2 ? 1 : 0)
    }

    /// Creates the day of a text like 2026-11-22; nil for any other text.
    package init?(_ text: String) {
        let parts = text.pieces(at: "-", keepingEmpty: true)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(part) : nil
        }
        guard parts.map(\.utf8.count) == [4, 2, 2], numbers.count == 3 else { return nil }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
        // The day has to exist: the 30th of February is the 1st or 2nd of March.
        guard 1...12 ~= month, 1...31 ~= day, CalendarDate(secondsSince1970: secondsSince1970) == self else {
            return nil
        }
    }

    /// The beginning of the day.
    package var secondsSince1970: Int64 {
        let (marchYear, marchMonth) = month > 2 ? (year + 400, month - 3) : (year + 399, month + 9)
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let days = 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        return Int64(days - 146_097 + 60) * 86_400 - 62_167_219_200
    }

    package var description: String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }
}
