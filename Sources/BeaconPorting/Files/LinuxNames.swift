internal import DelegateCheck

/// The types that exist on Linux.
///
/// In a file that imports a framework, this decides which unknown types belong to the framework: the many names of the
/// frameworks need no table.
enum LinuxNames {
    /// Returns whether a name is that of a type, or of a constant such as `kCCSuccess`, but of none of Linux.
    static func isMissing(_ name: String) -> Bool {
        guard isOfFramework(name), !types.contains(name) else { return false }
        return !prefixes.contains { name.hasPrefix($0) && name.dropFirst($0.count).first?.isUppercase ?? false }
    }

    /// Returns whether a name has the form of a framework's types and constants.
    static func isOfFramework(_ name: String) -> Bool {
        (name.first == "k" ? name.dropFirst() : name[...]).first?.isUppercase ?? false && name.count > 1
    }

    /// Modules whose types are here. The types of other packages are not known.
    static let modules = LinuxModules.shared.union([
        "Combine", "FoundationNetworking", "Glibc", "KumulosSDK", "Testing", "XCTest",
    ])

    /// Prefixes of the names of Core Location, Core Bluetooth, Core Foundation, Dispatch, and parts of Foundation.
    private static let prefixes = [
        "CB", "CF", "CL", "Dispatch", "ExpressibleBy", "SIMD", "URL", "Unsafe", "kCB", "kCL",
    ]

    /// The types of OpenCombine that code needs an import for.
    static let combine: Set<String> = [
        "AnyCancellable", "AnyPublisher", "AnySubscriber", "CurrentValueSubject", "ObservableObject",
        "ObservableObjectPublisher", "PassthroughSubject", "Published",
    ]

    private static let types = combine.union(
        """
        Actor AdditiveArithmetic AffineTransform Any AnyActor AnyBidirectionalCollection AnyClass AnyCollection
        AnyHashable AnyIterator AnyKeyPath AnyObject AnyRandomAccessCollection AnyRegexOutput AnySequence Array
        ArraySlice AsyncIteratorProtocol AsyncSequence AsyncStream AsyncThrowingStream AttributedString
        BidirectionalCollection BinaryFloatingPoint BinaryInteger BitwiseCopyable BlockOperation Bool
        BooleanLiteralType Bundle ByteCountFormatter CChar CDouble CFloat CGFloat CGPoint CGRect CGRectEdge CGSize
        CInt CShort CSignedChar CUnsignedChar CUnsignedInt CUnsignedLong CUnsignedLongLong CUnsignedShort
        CVaListPointer CVarArg CWideChar CachedURLResponse Calendar CancellationError CaseIterable Character
        CharacterSet CheckedContinuation Clock ClosedRange CocoaError Codable CodableConfiguration CodingKey
        CodingKeyRepresentable CodingKeys CodingUserInfoKey Collection CollectionDifference CollectionOfOne
        CommandLine Comparable ComparableComparator Comparator ComparisonResult ContiguousArray ContiguousBytes
        ContinuousClock Copyable CustomDebugStringConvertible CustomNSError CustomReflectable CustomStringConvertible
        DIR Data DataProtocol Date DateComponents DateFormatter DateInterval DateIntervalFormatter Decimal Decodable
        Decoder DecodingError DefaultStringInterpolation Dictionary Dimension DiscardingTaskGroup DiscreteFormatStyle
        Double Duration DurationProtocol Element EmptyCollection Encodable Encoder EncodingError EnergyFormatter
        Equatable Error Escapable Executor ExecutorJob Expression ExtendedGraphemeClusterType FILE Failure FileHandle
        FileManager FileManagerDelegate FileProtectionType FixedWidthInteger Float Float16 Float32 Float64 Float80
        FloatingPoint FormatStyle Formatter GlobalActor HTTPCookie HTTPCookiePropertyKey HTTPCookieStorage
        HTTPURLResponse Hashable Hasher Host IBAction IBDesignable IBInspectable IBOutlet IBSegueAction
        ISO8601DateFormatter Identifiable Index IndexPath IndexSet InlineArray InputStream InstantProtocol Int Int128
        Int16 Int32 Int64 Int8 IntegerLiteralType Iterator IteratorProtocol IteratorSequence JSONDecoder JSONEncoder
        JSONSerialization Job JobPriority KSConfig KSConfigBuilder Key KeyPath KeyValuePairs KeyedDecodingContainer
        KeyedDecodingContainerProtocol KeyedEncodingContainer KeyedEncodingContainerProtocol Kumulos KumulosInApp
        KumulosInstance LazySequence LengthFormatter Locale LocalizedError LosslessStringConvertible MainActor
        ManagedBuffer ManagedBufferPointer MassFormatter Measurement MemoryLayout MutableCollection
        MutableDataProtocol MutableSpan NSAffineTransform NSApplicationMain NSArray NSAttributedString NSCache
        NSCacheDelegate NSCalendar NSCharacterSet NSCoder NSCoding NSCondition NSConditionLock NSCopying NSCountedSet
        NSData NSDate NSDateComponents NSDateInterval NSDecimalNumber NSDictionary NSEdgeInsets NSEnumerationOptions
        NSEnumerator NSError NSErrorDomain NSExceptionName NSHashTable NSIndexPath NSIndexSet NSKeyedArchiver
        NSKeyedArchiverDelegate NSKeyedUnarchiver NSKeyedUnarchiverDelegate NSLocale NSLock NSLocking NSManaged
        NSMapTable NSMeasurement NSMutableArray NSMutableAttributedString NSMutableCharacterSet NSMutableCopying
        NSMutableData NSMutableDictionary NSMutableIndexSet NSMutableOrderedSet NSMutableSet NSMutableString
        NSMutableURLRequest NSNotification NSNull NSNumber NSObject NSObjectProtocol NSOrderedSet
        NSPersonNameComponents NSPoint NSPredicate NSRange NSRect NSRectEdge NSRecursiveLock NSRegularExpression
        NSSecureCoding NSSet NSSize NSSortDescriptor NSSortOptions NSString NSTextCheckingResult NSTimeZone NSURL
        NSURLComponents NSURLConnection NSURLQueryItem NSURLRequest NSUUID NSValue NSZone Never Notification
        NotificationCenter NotificationQueue NumberFormatter Numeric ObjCBool ObjectIdentifier Observable
        ObservationIgnored ObservationRegistrar ObservationTracked OpaquePointer OperatingSystemVersion Operation
        OperationQueue OptionSet Optional Output OutputSpan OutputStream POSIXError ParseStrategy
        ParseableFormatStyle PartialKeyPath PartialRangeFrom PersonNameComponents PersonNameComponentsFormatter Pipe
        Predicate Process ProcessInfo Progress ProgressKind ProgressReporting ProgressUserInfoKey PropertyListDecoder
        PropertyListEncoder PropertyListSerialization Protocol QualityOfService RandomAccessCollection
        RandomNumberGenerator Range RangeExpression RangeReplaceableCollection RangeSet RawRepresentable RawSpan
        RawValue RecoverableError ReferenceConvertible ReferenceWritableKeyPath Regex RegexComponent Result RunLoop
        Scanner Self Sendable SendableMetatype Sequence SerialExecutor Set SetAlgebra SignedInteger SignedNumeric
        SingleValueDecodingContainer SingleValueEncodingContainer Slice SortComparator SortOrder Span StaticBigInt
        StaticString Stream StreamDelegate String StringLiteralType StringProtocol StringTransform SubSequence
        Substring Suite SuspendingClock SystemRandomNumberGenerator Task TaskExecutor TaskGroup TaskLocal
        TaskPriority Test TextOutputStream TextOutputStreamable Thread ThrowingDiscardingTaskGroup ThrowingTaskGroup
        TimeInterval TimeZone Timer Type UIApplicationMain UInt UInt128 UInt16 UInt32 UInt64 UInt8 UTF16 UTF32 UTF8
        UTF8Span UUID Unicode UnicodeCodec UnicodeScalar Unit UnitAngle UnitArea UnitDuration UnitEnergy UnitLength
        UnitMass UnitPower UnitPressure UnitSpeed UnitTemperature UnitVolume UnkeyedDecodingContainer
        UnkeyedEncodingContainer Unmanaged UnsignedInteger UserDefaults Value Void Wrapped WritableKeyPath XCTestCase
        XCTestExpectation XMLDocument XMLElement XMLNode XMLParser XMLParserDelegate Zip2Sequence
        Cancellable ConnectablePublisher Deferred Empty Fail Future ImmediateScheduler Just Publisher Publishers Record
        Scheduler Subject Subscriber Subscribers Subscription Subscriptions TopLevelDecoder TopLevelEncoder
        """.split(whereSeparator: \.isWhitespace).map(String.init))
}
