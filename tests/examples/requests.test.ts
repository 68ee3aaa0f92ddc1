import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ask } from "../../examples/sqlite-workers/requests.ts"

const { signal } = new AbortController()
let server: Server
let statuses: number[]
let asked: string[]

/** A worker that answers with these statuses, one after the other; 0 resets the connection. */
beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const status = statuses.shift() ?? 200
    if (status === 0) return request.socket.resetAndDestroy()
    response.writeHead(status, { "retry-after": "0" }).end('{"answeredBy":"T-1","token":1}')
    return undefined
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
})
afterEach(() => {
  server.close()
  server.closeAllConnections()
})

const asking = (): ReturnType<typeof ask> => {
  const { port } = server.address() as AddressInfo
  return ask({ url: `http://127.0.0.1:${port}`, key: "a/b", signal, sql: "select 1" })
}

describe("what the driver asks", () => {
  it("is asked again after a 503, which says that it did not run", async () => {
    statuses = [503, 503]
    expect(await asking()).toEqual({ answeredBy: "T-1", token: 1 })
    expect(asked).toEqual(Array.from({ length: 3 }, () => "POST /sandboxes/a%2Fb/query"))
  })

  it("is asked five times at most", async () => {
    statuses = [503, 503, 503, 503, 503, 503]
    await expect(asking()).rejects.toThrow("select 1: 503")
    expect(asked).toHaveLength(5)
  })

  it.each([[0], [500], [400]])(
    "is asked once where nobody can tell whether it ran, or it can't: %d",
    async (status) => {
      statuses = [status]
      await expect(asking()).rejects.toThrow(status === 0 ? "" : `select 1: ${status}`)
      expect(asked).toHaveLength(1)
    },
  )
})
