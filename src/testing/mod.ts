// The entry `leasehold/testing`: the public test kit.
export {}
