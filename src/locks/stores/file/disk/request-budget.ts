/**
 * The budget of one request: the request settles by its deadline and soon after its abort, whatever the disk does.
 *
 * Not promised: that a file operation which hangs ends too. It goes on by itself, and no other follows it.
 */
import type { Clock } from "../../../../runtime/time/clock.ts"
import { StoreUnavailableError } from "../../../api/errors.ts"
import type { RequestOptions } from "../../port.ts"
import type { Files } from "./files.ts"

export class RequestBudget {
  readonly #clock: Clock
  readonly #options: RequestOptions
  readonly #directory: string
  #end: number | undefined

  constructor(clock: Clock, options: RequestOptions, directory: string) {
    this.#clock = clock
    this.#options = options
    this.#directory = directory
  }

  /** Throws once the budget is over. The first call begins it. */
  readonly check = (): void => {
    const now = this.#clock.mono()
    this.#end ??= now + this.#options.deadline
    if (this.#options.signal?.aborted === true || now >= this.#end) throw this.over()
  }

  /**
   * Settles as `work` does, or with StoreUnavailableError when the budget ends first. `work` has to use `guarded`
   * files.
   */
  async within<A>(work: () => Promise<A>): Promise<A> {
    this.check()
    const { promise, reject } = Promise.withResolvers<never>()
    const end = (): void => reject(this.over())
    const timer = this.#clock.after(this.#options.deadline, end)
    this.#options.signal?.addEventListener("abort", end)
    try {
      return await Promise.race([work(), promise])
    } finally {
      timer.cancel()
      this.#options.signal?.removeEventListener("abort", end)
    }
  }

  /** The same files. Once the budget is over no operation begins on them, except those that clean up. */
  guarded(files: Files): Files {
    const check = this.check
    return {
      names: (directory) => (check(), files.names(directory)),
      create: (path, body) => (check(), files.create(path, body)),
      read: (path, limit) => (check(), files.read(path, limit)),
      link: (path, second) => (check(), files.link(path, second)),
      makeDirectory: (path) => (check(), files.makeDirectory(path)),
      persist: (directory) => (check(), files.persist(directory)),
      exists: (path) => (check(), files.exists(path)),
      status: (path) => files.status(path),
      rename: (path, other) => files.rename(path, other),
      unlink: (path) => files.unlink(path),
      removeDirectory: (path) => files.removeDirectory(path),
    }
  }

  /** The error of a request whose budget is over. */
  over(): StoreUnavailableError {
    const aborted = this.#options.signal?.aborted === true
    return new StoreUnavailableError({
      message: `The directory ${this.#directory} didn't answer ${aborted ? "before the caller gave up" : `within ${Math.round(this.#options.deadline)} ms`}`,
      next: "Check that disk and its mount, then try again",
    })
  }
}
