// The types of a destination's settings.
@_exported public import struct BeaconSupport.RetryPolicy
@_exported public import struct BeaconSupport.Secret

#if !Delivery && !Gateway
    #error("BeaconDelivery, BeaconMQTT and KumulosSDK need a trait: .package(…, traits: [\"Delivery\"])")
#endif
