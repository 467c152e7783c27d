// The types used in notifications and in destinations' settings.
@_exported public import enum BeaconModel.JSONValue
@_exported public import struct BeaconSupport.RetryPolicy
@_exported public import struct BeaconSupport.Secret

#if !Delivery && !Gateway
    #error("BeaconDelivery needs .package(…, traits: [\"Delivery\"]). In a checkout: swift build --traits Gateway")
#endif
