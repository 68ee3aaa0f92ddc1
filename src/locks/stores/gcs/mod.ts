// The entry `leasehold/gcs`: the store and the lock on Google Cloud Storage.
export {}
