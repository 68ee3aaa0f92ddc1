/**
 * Hears from the operating system that something happened to a path: one callback for each event, by the name that it
 * concerns. Never keeps the process alive. What is behind it differs (inotify, FSEvents, Deno's own watcher) and so
 * does what is heard.
 *
 * Not promised: that anything is heard. A network file system tells only of this machine's own changes, and the
 * system's watches may be used up.
 */
import { watch } from "node:fs"
import { basename } from "node:path"

/**
 * Called with the name, within the watched directory, that something happened to; empty where that isn't told, as at
 * its own end.
 */
export type Heard = (name: string) => void

/** A watch, until it is disposed. */
export interface PathWatch extends Disposable {
  /** The system tells of what happens, as far as is known: false once it has said that it no longer does. */
  readonly hears: boolean
}

/** What this needs of Deno, whose `node:fs` can't watch a file that has no name any more. */
interface DenoWatcher {
  next(): Promise<IteratorResult<{ readonly paths: readonly string[] }>>
  /** Of the `next` under way. */
  unref(): void
  close(): void
}

/** Undefined where the path can't be watched. */
export function watchPath(path: string, heard: Heard): PathWatch | undefined {
  const { Deno: deno } = globalThis as unknown as { Deno?: { watchFs(path: string, options: object): DenoWatcher } }
  try {
    return deno === undefined ? byNode(path, heard) : byDeno(deno.watchFs(path, { recursive: false }), heard)
  } catch {
    return undefined // missing, not permitted, or no watches left
  }
}

function byNode(path: string, heard: Heard): PathWatch {
  const watcher = watch(path, { persistent: false }, (_, name) => heard(name ?? ""))
  let hears = true
  const end = (): void => {
    hears = false
    watcher.close()
  }
  watcher.on("error", () => {
    end()
    heard("")
  })
  return {
    get hears() {
      return hears
    },
    [Symbol.dispose]: end,
  }
}

function byDeno(watcher: DenoWatcher, heard: Heard): PathWatch {
  let hears = true
  let closed = false
  const listen = async (): Promise<void> => {
    for (;;) {
      const next = watcher.next()
      watcher.unref()
      const { done, value } = await next
      if (done === true) return
      for (const path of value.paths) if (!closed) heard(basename(path))
    }
  }
  const ended = (): void => {
    hears = false
    if (!closed) heard("")
  }
  listen().then(ended, ended) // it ends when it is closed, and when the system ends it
  return {
    get hears() {
      return hears
    },
    [Symbol.dispose]: () => {
      hears = false
      if (!closed) watcher.close()
      closed = true
    },
  }
}
