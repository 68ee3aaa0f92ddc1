/**
 * The entry `leasehold/testing`: what tests of code that uses leasehold need. Locks and time are simulated; the protocol
 * is the real one.
 *
 * @module
 */
export { VirtualTime, type VirtualTimeOptions } from "../runtime/virtual-time.ts"
export { FakeLock, type FakeLockOptions } from "./fake-lock.ts"
export { type FakeProcess, type FakeWorld, fakeWorld, type FakeWorldOptions } from "./fake-world.ts"
