// The least that can stand before a handler: each request is sent on, and its answer piped back.
import { Agent, createServer, request as send } from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"

const [behind = ""] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const server = createServer((request, response) => {
  const { method, headers, url = "/" } = request
  const sent = send(new URL(url, behind), { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  request.pipe(sent)
})
server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
