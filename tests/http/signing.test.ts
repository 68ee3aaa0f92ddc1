// Tokens between workers: each counts for one request, a short time, and once.
import { describe, expect, it } from "vitest"
import { BadToken, SIGNED_FOR, Signing } from "../../src/http/signing.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"

const secret = "a-secret-of-one-fleet"
const asked = { audience: "http://a.test", subject: "POST /_leasehold/call", body: '{"n":1}' }

const pair = () => {
  const time = new VirtualTime()
  return { time, sender: new Signing(secret, time), worker: new Signing(secret, time) }
}
const problem = async (accepted: Promise<string>): Promise<string> =>
  accepted.then(
    () => "none",
    (error: unknown) => (error instanceof BadToken ? error.message : `no BadToken: ${String(error)}`),
  )

describe("a signed request", () => {
  it("is accepted once, and its answer is known by its id", async () => {
    const { sender, worker } = pair()
    const { token, id } = await sender.request(asked)
    expect(await worker.accept(token, asked)).toBe(id)
    expect(await problem(worker.accept(token, asked))).toMatch(/used before/)
    const proof = await worker.answer(id, "yes")
    expect(await sender.isAnswer(proof, id, "yes")).toBe(true)
    expect(await sender.isAnswer(proof, id, "no")).toBe(false)
    expect(await sender.isAnswer(proof, "another", "yes")).toBe(false)
    expect(await sender.isAnswer("", id, "yes")).toBe(false)
  })

  // Tests calls: A request of a process without the secret, a replayed, altered, redirected or old one, is refused.
  it.each([
    [
      "of another secret",
      /another secret/,
      async () => new Signing("another-secret-of-another", pair().time).request(asked),
    ],
    [
      "for another address",
      /another address/,
      async () => pair().sender.request({ ...asked, audience: "http://b.test" }),
    ],
    ["with another body", /another request/, async () => pair().sender.request({ ...asked, body: "{}" })],
    ["for another path", /another request/, async () => pair().sender.request({ ...asked, subject: "POST /x" })],
    ["that is none", /signature is none/, async () => ({ token: "a.b.c" })],
    ["that is empty", /signature is none/, async () => ({ token: "" })],
  ])("%s is refused", async (_, why, made) => {
    const { worker } = pair()
    expect(await problem(worker.accept((await made()).token, asked))).toMatch(why)
  })

  it("without an algorithm, as anybody can make it, is refused", async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
    const token = `${part({ alg: "none" })}.${part({ aud: asked.audience, sub: asked.subject, jti: "x", at: 0 })}.`
    expect(await problem(pair().worker.accept(token, asked))).toMatch(/none/)
  })

  it.each([-1, 1])("of a clock that is ten minutes off is refused, and says by how much", async (sign) => {
    const { time, worker } = pair()
    const wrong = new VirtualTime({ wall: time.read().wall + sign * 600_000 })
    const { token } = await new Signing(secret, wrong).request(asked)
    expect(await problem(worker.accept(token, asked))).toMatch(/600 s old by the clock here/)
  })

  it("counts for as long as clocks may differ, and is remembered until it counts no more", async () => {
    const { time, sender, worker } = pair()
    const { token } = await sender.request(asked)
    await time.advance(SIGNED_FOR)
    await worker.accept(token, asked)
    await time.advance(1)
    expect(await problem(worker.accept(token, asked))).toMatch(/old by the clock/)
  })
})
