/// A finder of the conditions of a source, the beacon code they keep from Linux, and the tokens that Linux may see.
struct ConditionalSkimmer {
    /// A block that is open, and what is left for its further branches.
    private struct OpenBlock {
        var block: ConditionalBlock
        var left = PlatformTruth(.yes)
        var isLiveOutside: Bool
    }

    private(set) var blocks: [ConditionalBlock] = []
    private(set) var liveTokens: [Token] = []

    private let tokens: [Token]
    private let source: [UInt8]
    private var index = 0
    private var open: [OpenBlock] = []
    private var isLive = true

    /// A Boolean value that indicates whether the file advertises by Core Bluetooth: other frameworks have calls of the
    /// same name.
    private let usesPeripheralManager: Bool

    private init(_ tokens: [Token], _ source: [UInt8]) {
        usesPeripheralManager = tokens.contains { Self.managers.contains(source[$0.start..<$0.end]) }
        self.tokens = tokens
        self.source = source
        liveTokens.reserveCapacity(tokens.count)
    }

    /// Skims a source.
    static func skim(_ tokens: [Token], of source: [UInt8]) -> ConditionalSkimmer {
        var skimmer = ConditionalSkimmer(tokens, source)
        skimmer.run()
        return skimmer
    }

    private mutating func run() {
        while index < tokens.count {
            let token = tokens[index]
            if token.kind == .directive {
                readDirective(token)
                continue
            }
            if isLive { liveTokens.append(token) }
            if !open.isEmpty, token.kind == .word { note(token) }
            index += 1
        }
        while !open.isEmpty { close() }
    }

    // MARK: Directives

    private mutating func readDirective(_ token: Token) {
        index += 1
        switch text(token) {
        case "if":
            open.append(
                OpenBlock(block: ConditionalBlock(isReachable: isLive), isLiveOutside: isLive))
            openBranch(token, pieces: readCondition())
        case "elseif":
            let pieces = readCondition()
            if !open.isEmpty { openBranch(token, pieces: pieces) }
        case "else":
            if !open.isEmpty { openBranch(token, pieces: ["true"]) }
        default:
            close()
        }
    }

    private mutating func openBranch(_ token: Token, pieces: [String]) {
        let last = open.count - 1
        let truth = ConditionParser.truth(of: pieces)
        let combined = open[last].left && truth
        open[last].left = open[last].left && !truth
        if pieces.contains("Linux") || pieces.contains("Glibc") { open[last].block.namesLinux = true }
        open[last].block.branches.append(
            ConditionalBlock.Branch(truth: combined, text: spelled(token), start: token.start - 1))
        isLive = open[last].isLiveOutside && combined.linux != .no
    }

    private mutating func close() {
        guard let last = open.popLast() else { return }
        blocks.append(last.block)
        isLive = last.isLiveOutside
        guard let outer = open.indices.last else { return }
        // What is in a block is in the branch around it.
        let branch = open[outer].block.branches.count - 1
        if open[outer].block.branches[branch].beaconWord == nil {
            open[outer].block.branches[branch].beaconWord = last.block.branches.lazy.compactMap(\.beaconWord).first
        }
    }

    /// Reads the condition: the rest of the line, and further lines where an operator or a parenthesis asks for them.
    private mutating func readCondition() -> [String] {
        var pieces: [String] = []
        var depth = 0
        while index < tokens.count {
            let token = tokens[index]
            if token.kind == .directive { break }
            if token.startsLine, depth == 0 {
                let last = pieces.last
                let isOperator = token.mark == UInt8(ascii: "&") || token.mark == UInt8(ascii: "|")
                guard last == "&" || last == "|" || isOperator else { break }
            }
            if token.mark == UInt8(ascii: "(") { depth += 1 }
            if token.mark == UInt8(ascii: ")") { depth -= 1 }
            // A condition is short; what is long is a parenthesis that somebody forgot.
            if pieces.count > 1000 { break }
            pieces.append(text(token))
            index += 1
        }
        return pieces
    }

    // MARK: Words

    private mutating func note(_ token: Token) {
        let bytes = source[token.start..<token.end]
        let last = open.count - 1
        let branch = open[last].block.branches.count - 1
        if Self.typeKeywords.contains(bytes), index + 1 < tokens.count, tokens[index + 1].kind == .word {
            open[last].block.branches[branch].declared.append(text(tokens[index + 1]))
        }
        guard open[last].block.branches[branch].beaconWord == nil, isBeaconWord(bytes) else { return }
        open[last].block.branches[branch].beaconWord = (text(token), token.start)
    }

    private func isBeaconWord(_ bytes: ArraySlice<UInt8>) -> Bool {
        if Self.words.contains(bytes) { return true }
        guard index + 1 < tokens.count, tokens[index + 1].mark == UInt8(ascii: "(") else { return false }
        if Self.madeTypes.contains(bytes) { return true }
        if usesPeripheralManager, Self.advertisingCalls.contains(bytes) { return true }
        guard index + 3 < tokens.count, Self.regionCalls.contains(bytes) else { return false }
        return tokens[index + 3].mark == UInt8(ascii: ":") && text(tokens[index + 2]) == "for"
    }

    private func text(_ token: Token) -> String {
        String(decoding: source[token.start..<token.end], as: UTF8.self)
    }

    private func spelled(_ directive: Token) -> String {
        let end = index > 0 ? max(tokens[index - 1].end, directive.end) : directive.end
        let bytes = source[directive.start..<min(end, directive.start + 200)]
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return "#" + String(decoding: line, as: UTF8.self)
    }

    private static let typeKeywords = WordSet(["class", "struct", "enum", "actor", "protocol", "typealias"])

    /// The words that only code that works with beacons has. Types that a view would show, such as `CLBeacon`, are not
    /// among them: a view may well be for iOS alone.
    private static let words = WordSet([
        "startRangingBeacons", "stopRangingBeacons", "isRangingAvailable", "CBPeripheralManager",
        "CBPeripheralManagerDelegate", "didRangeBeacons", "didRange", "didFailRangingFor",
        "rangingBeaconsDidFailFor", "didEnterRegion", "didExitRegion", "didDetermineState", "didStartMonitoringFor",
        "monitoringDidFailFor", "peripheralManagerDidUpdateState", "peripheralManagerDidStartAdvertising",
        "BeaconIdentityCondition",
    ])

    /// Types whose making is work with beacons.
    private static let madeTypes = WordSet(["CLBeaconRegion", "CLBeaconIdentityConstraint", "CLMonitor"])

    /// Calls that are about regions where their label says so.
    private static let regionCalls = WordSet([
        "startMonitoring", "stopMonitoring", "requestState", "isMonitoringAvailable",
    ])

    private static let managers = WordSet(["CBPeripheralManager"])
    private static let advertisingCalls = WordSet(["startAdvertising", "peripheralData"])
}

/// The branches from an `#if` to its `#endif`.
struct ConditionalBlock {
    /// One of its parts.
    struct Branch {
        /// The truth of its condition, given that no earlier branch's holds.
        var truth: PlatformTruth

        /// The directive as it is written, and where.
        var text: String
        var start: Int

        /// The first word in it that does something with beacons, and where.
        var beaconWord: (text: String, start: Int)?

        /// The types that it declares.
        var declared: [String] = []
    }

    /// Its parts.
    var branches: [Branch] = []

    /// A Boolean value that indicates whether Linux may see it at all.
    var isReachable: Bool

    /// A Boolean value that indicates whether a condition names Linux, so that its author thought of it.
    var namesLinux = false
}
