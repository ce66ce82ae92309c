//! A merged unit as the vehicle of the protocol.
