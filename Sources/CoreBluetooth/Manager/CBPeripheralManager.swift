internal import BeaconMonitoring
internal import BeaconRadio

/// A manager that advertises, so that the device becomes a beacon.
///
/// Callbacks are made on the queue that is passed to the initializer. Commands are accepted in
/// ``CBManagerState/poweredOn`` only. In other states they are dropped, and a line that begins with `API MISUSE` is
/// logged. Two things differ from Apple's systems, since examples in Apple's documentation rely on them:
///
/// - A start while the state is still ``CBManagerState/unknown``, as right after `init`, is held and carried out once
///   the state is ``CBManagerState/poweredOn``.
/// - The manager is kept alive while a start is held, and from a start until ``stopAdvertising()`` or the end of
///   advertising, so that an app need not store it. Its delegate is not kept alive.
///
/// Advertising pauses while the radio is in ``CBManagerState/resetting`` or ``CBManagerState/unknown``, and resumes
/// afterwards. In ``CBManagerState/poweredOff``, ``CBManagerState/unsupported`` and ``CBManagerState/unauthorized``, it
/// ends and must be started again. Otherwise it continues until it is stopped or the process ends: there is no
/// background mode in which a process would send less.
///
/// There is no attribute server: services can be created, but publishing them fails with an error.
open class CBPeripheralManager: CBManager {
    private let part: AppPart<Advertiser>
    private let delegates: DelegateBox<any CBPeripheralManagerDelegate>

    /// The object that receives events. The reference is weak, and any thread may set it.
    ///
    /// The first callback, for the state, waits until a delegate is set.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue.map { new in { [weak new] in new } }) else { return }
            answer { $0.delegates.delegateForHeldCallback()?.peripheralManagerDidUpdateState($0) }
        }
    }

    /// Creates a manager that makes callbacks on the main queue, without a delegate.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// Creates a manager that calls a delegate on a queue or, if that is nil, on the main queue.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager that calls a delegate.
    ///
    /// - Parameters:
    ///   - delegate: receives the state once it is known, and then every event.
    ///   - queue: the queue for callbacks; nil for the main queue.
    ///   - options: no effect here: no user is alerted, and nothing is restored.
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        part = AppPart(of: "a CBPeripheralManager") { Advertiser(ManagerCore(center: $0, queue: queue)) }
        delegates = DelegateBox(delegate.map { new in { [weak new] in new } })
        super.init(())
        let reference = WeakReference(self)
        part.begin { advertiser in
            advertiser.core.begin { [weak advertiser] state in
                if let advertiser { reference.object?.radioDidChange(to: state, in: advertiser) }
            }
        }
    }

    private var advertiser: Advertiser { part.current }

    override var core: ManagerCore { advertiser.core }

    private func radioDidChange(to state: RadioState, in advertiser: Advertiser) {
        if advertiser.radioDidChange(to: state) { BluetoothLog.misuse(of: self) }
        delegates.delegateOrHold()?.peripheralManagerDidUpdateState(self)
        // After the delegate, which may have stopped the held start or started again.
        advertiser.startHeld()
    }

    // MARK: - Authorization

    /// Returns the app's permission to share data.
    @available(*, deprecated, message: "Use CBManager.authorization.")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        authorization == .denied ? .denied : .authorized
    }

    // MARK: - Advertising

    /// A Boolean value indicating whether the device advertises: from a successful start until it is stopped, but not
    /// while it is paused.
    open var isAdvertising: Bool { advertiser.isSending }

    /// Starts to advertise. `peripheralManagerDidStartAdvertising(_:error:)` reports the result.
    ///
    /// It fails with ``CBError/alreadyAdvertising`` if this manager is already advertising, and with
    /// ``CBError/invalidParameters`` if the dictionary has nothing that can be sent. If the radio does not support it,
    /// the error is ``CBError/operationNotSupported``; for any other failure of the radio it is ``CBError/unknown``.
    /// Both contain the radio's message. If the radio cannot continue later, the same callback reports the error.
    ///
    /// - Parameter advertisementData: the dictionary from `CLBeaconRegion.peripheralData(withMeasuredPower:)`, a name
    ///   (``CBAdvertisementDataLocalNameKey``), services (``CBAdvertisementDataServiceUUIDsKey``), or any combination.
    ///   A beacon's name and services are in its scan response. Unknown keys are logged and ignored.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let advertisement = Advertisement(advertisementData ?? [:])
        let outcome = advertiser.start(advertisement.advert, for: self)
        if case .misuse = outcome { return BluetoothLog.misuse(of: self) }
        for remark in advertisement.remarks { BluetoothLog.warn(remark, about: self) }
        guard case .refused(let code) = outcome else { return }
        answer { $0.delegate?.peripheralManagerDidStartAdvertising($0, error: CBError(code)) }
    }

    /// Stops advertising, or drops a held start, and releases the manager.
    open func stopAdvertising() {
        if !advertiser.stop() { BluetoothLog.misuse(of: self) }
    }

    // MARK: - Attributes, which are not available

    /// Publishes a service; `peripheralManager(_:didAdd:error:)` follows with an error.
    open func add(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        // It is only passed on: the caller receives the same object in its callback context, as with Apple's class.
        let sent = UnsafeTransfer(service)
        answer { $0.delegate?.peripheralManager($0, didAdd: sent.value, error: Self.noServer) }
    }

    /// Removes a service. Does nothing, since none is published.
    open func remove(_ service: CBMutableService) { _ = acceptsCommands() }

    /// Removes all services. Does nothing, since none is published.
    open func removeAllServices() { _ = acceptsCommands() }

    /// Responds to a request. Does nothing, since none ever arrives.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { _ = acceptsCommands() }

    /// Sends a value to subscribed centrals. Does nothing, since no central ever subscribes.
    ///
    /// - Returns: false, since nothing is sent.
    @discardableResult
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        _ = acceptsCommands()
        return false
    }

    /// Sets the latency for a central. Does nothing, since no central ever connects.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        _ = acceptsCommands()
    }

    /// Publishes a channel; `peripheralManager(_:didPublishL2CAPChannel:error:)` follows with an error.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didPublishL2CAPChannel: 0, error: Self.noServer) }
    }

    /// Unpublishes a channel; `peripheralManager(_:didUnpublishL2CAPChannel:error:)` follows with an error.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didUnpublishL2CAPChannel: PSM, error: Self.noServer) }
    }

    private static var noServer: CBError {
        CBError(
            .operationNotSupported,
            userInfo: [NSLocalizedDescriptionKey: "Services and channels cannot be published here, only beacons."])
    }

    /// Makes a call in the callback context. The manager is kept alive until then.
    private func answer(_ call: @escaping @Sendable (CBPeripheralManager) -> Void) {
        // Reference counting is safe on any thread, and the callback uses the manager where its owner expects it.
        let sent = UnsafeTransfer(self)
        core.makeCallback { call(sent.value) }
    }
}

/// The state of a peripheral manager before iOS 10: a separate type with the cases of ``CBManagerState``.
@available(*, deprecated, message: "Use CBManagerState.")
public enum CBPeripheralManagerState: Int, Sendable, BitwiseCopyable {
    /// Not known yet: the state is reported soon after a manager is created.
    case unknown = 0

    /// The connection to the system was lost; a new state follows.
    case resetting = 1

    /// Bluetooth Low Energy is not available.
    case unsupported = 2

    /// The app may not use Bluetooth.
    case unauthorized = 3

    /// Bluetooth is off.
    case poweredOff = 4

    /// Bluetooth is on.
    case poweredOn = 5
}

/// The app's permission to share data in the background, before iOS 13.
@available(*, deprecated, message: "Use CBManagerAuthorization.")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable, BitwiseCopyable {
    /// Not decided yet.
    case notDetermined = 0

    /// Not allowed, and the user cannot change that.
    case restricted = 1

    /// Not allowed: the user, or on Linux the machine's administrator, refused.
    case denied = 2

    /// Allowed.
    case authorized = 3
}

/// The latency of responses to a connected central. Nothing connects here.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable, BitwiseCopyable {
    /// Fast, using more power.
    case low = 0

    /// A balance of speed and power.
    case medium = 1

    /// Slow, using less power.
    case high = 2
}
