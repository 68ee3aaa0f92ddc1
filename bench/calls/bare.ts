// The least that a handler of a worker can be.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"

let n = 0
const server = createServer((_request, response) => response.end(JSON.stringify({ n: ++n })))
server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
