/**
 * The client's side of the proxy: plain TCP in front of its HTTP server, so that a partition is one. While the wire is
 * cut not a byte goes either way, connections stay open and new ones are taken, and what was sent meanwhile arrives
 * when the wire is mended, also from a client that has gone.
 *
 * Not promised: that of a client that left by a reset; the system drops what such a one had sent.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net"

/** `near` leads to the client, `far` to the HTTP server. */
interface Link {
  readonly near: Socket
  readonly far: Socket
  /** Something was sent that the HTTP server isn't done with. It would drop it on hearing that the client has gone. */
  open: boolean
}

export class Wire {
  readonly #server: Server
  readonly #links = new Set<Link>()
  #cut = false

  /** `port`: where the HTTP server listens, on the loopback interface. */
  constructor(port: number) {
    this.#server = createServer((near) => this.#join(near, connect(port, "127.0.0.1")))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Rejects where the port is taken. */
  listen(port: number): Promise<void> {
    return new Promise((settle, fail) => {
      this.#server.once("error", fail).listen(port, "127.0.0.1", settle)
    })
  }

  cut(): void {
    this.#cut = true
    for (const { near, far } of this.#links) {
      near.unpipe(far).pause()
      far.unpipe(near).pause()
    }
  }

  mend(): void {
    if (!this.#cut) return
    this.#cut = false
    for (const link of this.#links) run(link)
  }

  /** Resets the client's connection behind a socket that the HTTP server has. */
  reset(inner: Socket): void {
    this.#behind(inner)?.near.resetAndDestroy()
  }

  /** The HTTP server is done with what came on its socket: if the client has gone, so may the rest. */
  served(inner: Socket): void {
    const link = this.#behind(inner)
    if (link === undefined) return
    link.open = false
    if (link.near.closed) link.far.destroy()
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((settle) => void this.#server.close(() => settle()))
    for (const { near, far } of this.#links) {
      near.destroy()
      far.destroy()
    }
    await closed
  }

  #behind(inner: Socket): Link | undefined {
    return [...this.#links].find(({ far }) => far.localPort === inner.remotePort)
  }

  #join(near: Socket, far: Socket): void {
    const link = { near, far, open: false }
    this.#links.add(link)
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      socket.on("error", () => {}) // `close` follows, and says all that is needed
    }
    near.on("data", () => (link.open = true))
    near.on("close", (failed: boolean) => {
      if (failed) far.destroy()
      else if (!link.open) far.end()
    })
    far.on("close", () => {
      this.#links.delete(link)
      near.destroy()
    })
    if (this.#cut) near.pause()
    else run(link)
  }
}

function run({ near, far }: Link): void {
  near.pipe(far, { end: false })
  far.pipe(near)
}
