// The types of a destination's settings.
@_exported public import struct BeaconSupport.RetryPolicy
@_exported public import struct BeaconSupport.Secret
