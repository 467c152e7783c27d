#if Combine || Gateway
    public import Foundation
    public import OpenCombine

    // Support for the operators `decode(type:decoder:)` and `encode(encoder:)`.

    extension JSONDecoder: @retroactive TopLevelDecoder {
        /// The type of encoded values.
        public typealias Input = Data
    }

    extension JSONEncoder: @retroactive TopLevelEncoder {
        /// The type of encoded values.
        public typealias Output = Data
    }

    extension PropertyListDecoder: @retroactive TopLevelDecoder {
        /// The type of encoded values.
        public typealias Input = Data
    }

    extension PropertyListEncoder: @retroactive TopLevelEncoder {
        /// The type of encoded values.
        public typealias Output = Data
    }
#endif
