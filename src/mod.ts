// The front door of `leasehold`: what users import from the main entry.
export {}
