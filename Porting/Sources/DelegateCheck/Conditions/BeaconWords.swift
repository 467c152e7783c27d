package import SwiftSyntax

/// A finder of words that occur only in code that works with beacons.
package struct BeaconWords {
    /// A Boolean value that indicates whether the file advertises with Core Bluetooth, because other frameworks have
    /// calls of the same name.
    var usesPeripheralManager = false

    /// The tokens in conditional code, in order.
    var tokens: [TokenSyntax] = []

    /// Returns whether the code of a node works with beacons.
    ///
    /// - Parameter includingTypes: whether it is enough to make a region.
    package static func isUsed(in node: Syntax, includingTypes: Bool = true) -> Bool {
        var words = BeaconWords()
        SyntaxWalk.run(node, ()) { node, _ in
            guard let token = node.as(TokenSyntax.self) else { return () }
            words.tokens.append(token)
            if token.text == "CBPeripheralManager" { words.usesPeripheralManager = true }
            return nil
        }
        return words.found().contains { includingTypes || !madeTypes.contains($0.text) }
    }

    /// Returns the words and their start offsets, in order.
    func found() -> [(text: String, start: Int)] {
        tokens.indices.compactMap { index in
            guard case .identifier(let text) = tokens[index].tokenKind, isBeaconWord(text, at: index) else {
                return nil
            }
            return (text, tokens[index].trimmedOffsets.lowerBound)
        }
    }

    private func isBeaconWord(_ text: String, at index: Int) -> Bool {
        if Self.words.contains(text) {
            // Without an argument it is an own method of that name.
            let isOwn = index + 2 < tokens.count && tokens[index + 2].tokenKind == .rightParen
            return !isOwn || !text.hasSuffix("RangingBeacons")
        }
        guard index + 1 < tokens.count, tokens[index + 1].tokenKind == .leftParen else { return false }
        if Self.madeTypes.contains(text) { return true }
        if usesPeripheralManager, Self.advertisingCalls.contains(text) { return true }
        guard index + 3 < tokens.count, Self.regionCalls.contains(text) else { return false }
        return tokens[index + 3].tokenKind == .colon && tokens[index + 2].text == "for"
    }

    /// The words do not include types that a view would show, such as `CLBeacon`, because a view may be intended for
    /// iOS only.
    private static let words: Set<String> = [
        "startRangingBeacons", "stopRangingBeacons", "isRangingAvailable", "CBPeripheralManager",
        "CBPeripheralManagerDelegate", "didRangeBeacons", "didRange", "didFailRangingFor",
        "rangingBeaconsDidFailFor", "didEnterRegion", "didExitRegion", "didDetermineState", "didStartMonitoringFor",
        "monitoringDidFailFor", "peripheralManagerDidUpdateState", "peripheralManagerDidStartAdvertising",
        "BeaconIdentityCondition",
    ]

    /// Types whose creation is work with beacons.
    private static let madeTypes: Set<String> = ["CLBeaconRegion", "CLBeaconIdentityConstraint", "CLMonitor"]

    /// Calls that concern regions if their first label is `for`.
    private static let regionCalls: Set<String> = [
        "startMonitoring", "stopMonitoring", "requestState", "isMonitoringAvailable",
    ]

    private static let advertisingCalls: Set<String> = ["startAdvertising", "peripheralData"]
}
