// The front door of `leasehold`: what users import from the main entry.
import "./runtime/least-node.ts"

export type { Budget, BudgetOrigin, BudgetText } from "./runtime/input/budget.ts"
export type { Duration } from "./runtime/input/duration.ts"
export type { Clock, Reading, Timer, TimerOptions } from "./runtime/time/clock.ts"
export type { OnError } from "./runtime/report.ts"
export {
  onShutdown,
  type ShutdownHandler,
  type ShutdownOptions,
  type ShutdownSignal,
  type SignalPort,
} from "./runtime/machine/signals.ts"

export * from "./locks/api/errors.ts"
export * from "./actors/api/call-errors.ts"
export type {
  AcquiredHow,
  AcquireError,
  AcquireOptions,
  Incarnation,
  Lease,
  LeaseView,
  Lock,
  LockEvent,
  LockFactory,
  ReleaseResult,
  ReleaseOptions,
  RenewOptions,
  TimeoutSource,
} from "./locks/api/lock.ts"
export { logWaits, type LogWaitsOptions } from "./locks/waits/log.ts"
export { terminalWaits, type TerminalStream, type TerminalWaitsOptions } from "./locks/waits/terminal.ts"
export {
  LockWaitEvents,
  type LockWaitEvent,
  type LockWaitEventOf,
  type LockWaitEventsOptions,
  type LockWaitObserver,
  type WaitingFor,
} from "./locks/api/wait-observer.ts"
export { type BudgetSource, waitBudget, type WaitBudget, type WaitBudgetOptions } from "./locks/waits/budget.ts"
export type { LockCounts } from "./locks/api/counts.ts"
export type { HeldLock, HeldLocks, LockProvider, ProviderOptions, Section, SectionClock } from "./locks/api/provider.ts"
export { memoryLockProvider, type MemoryLockProviderOptions } from "./locks/providers/memory-provider.ts"
export { noLockProvider, type NoLockProviderOptions } from "./locks/providers/none-provider.ts"
export { storeLockProvider, type StoreLockProviderOptions } from "./locks/providers/store-provider.ts"
export type { LockOptions } from "./locks/engine/options.ts"
export { StoreLock } from "./locks/lock/store-lock.ts"
export { memoryStore, type MemoryStoreOptions } from "./locks/stores/memory-store.ts"
// The port, for those who write a store of their own.
export { ABSENT } from "./locks/stores/port.ts"
export type { HostHalf } from "./locks/record.ts"
export type {
  Area,
  CheckpointStore,
  Generation,
  LeaseStore,
  ListOptions,
  ObjectRef,
  ObjectStore,
  Page,
  PromptRequests,
  ReadAnswer,
  ReadOptions,
  RequestOptions,
  StartOptions,
  StoreCapabilities,
  Liveness,
  ProcessOracle,
  WriteAnswer,
} from "./locks/stores/port.ts"

export { bytes, type Codec, type CodecContext, unchecked } from "./actors/checkpoints/content/codec.ts"
export { defineSandbox } from "./actors/api/definition.ts"
export type {
  AnyDefinition,
  AnySchema,
  BackOffSchedule,
  Callable,
  CallKind,
  CallMemoryOptions,
  CheckpointContext,
  CheckpointReason,
  CloseContext,
  HookContext,
  RestoredBy,
  RunContext,
  Sandbox,
  SandboxClock,
  SandboxDefinition,
  SandboxEnding,
  SandboxHooks,
  SandboxView,
  SavedBy,
  UseOptions,
} from "./actors/api/sandbox.ts"
export type {
  AnswerTo,
  AnyCallSchema,
  CallArguments,
  CallContext,
  CallDefinition,
  CallDefinitions,
  CallMessage,
  CallOptions,
  CallWaitOptions,
  CheckedCalls,
  HandledInput,
  KnownCall,
  MessagesOf,
  NewCall,
} from "./actors/api/calls.ts"
export type { DrainOptions, ManagerUseOptions, RestoreOptions } from "./actors/api/call-options.ts"
export { SandboxManager } from "./actors/manager/manager.ts"
export type { DrainResult, Whereabouts } from "./actors/api/manager.ts"
export type { ManagerOptions, ManagerStores } from "./actors/registry/options.ts"
export type { InspectedState } from "./actors/api/inspected.ts"
export type { TraceOptions, TraceSink } from "./trace/live/options.ts"
export type * from "./trace/trace.ts"
export { drainOnSignals, type DrainOnSignalsOptions, type Drainable } from "./actors/manager/drain-on-signals.ts"
export type { AnsweringServer, NodeServer } from "./runtime/machine/answers.ts"
export { sandboxChart } from "./actors/chart/chart.ts"
export type {
  ChartCommand,
  ChartContext,
  ChartEvent,
  ChartFailure,
  ChartGuard,
  ChartInput,
  ChartLimits,
  EndReason,
  LeaseHealth,
  LeaveReason,
  Refusal,
  SandboxActor,
  SandboxSnapshot,
  SandboxStateValue,
} from "./actors/chart/types.ts"
