// Tokens between workers: each counts for one request, a short time, and once.
import { describe, expect, it } from "vitest"
import { BadToken, PROOF, SIGNED_FOR, Signing } from "../../src/http/signing.ts"
import { VirtualTime } from "../../src/runtime/time/virtual-time.ts"

const secret = "a-secret-of-one-fleet"
const asked = { to: "life-1", address: "http://a.test", subject: "POST /_leasehold/call", body: '{"n":1}' }

const signingOf = (of: string, time: VirtualTime): Signing => new Signing(of, time, () => time.read().wall)

const pair = () => {
  const time = new VirtualTime()
  return { time, sender: signingOf(secret, time), worker: signingOf(secret, time) }
}
/** The token of a request, and whether a proof is of its answer. */
const signed = async (by: Signing, request: typeof asked) => {
  const { headers, isAnswer } = await by.sign(request)
  const token = headers["authorization"]!.replace(/^Bearer /, "")
  return { token, isAnswer: (proof: string, body: string) => isAnswer!(200, new Headers({ [PROOF]: proof }), body) }
}
const problem = async (accepted: Promise<unknown>): Promise<string> =>
  accepted.then(
    () => "none",
    (error: unknown) => (error instanceof BadToken ? error.message : `no BadToken: ${String(error)}`),
  )

describe("a signed request", () => {
  it("is accepted once, and its answer is known by its id", async () => {
    const { sender, worker } = pair()
    const [one, other] = [await signed(sender, asked), await signed(sender, asked)]
    const { id } = await worker.accept(one.token, asked)
    expect(await problem(worker.accept(one.token, asked))).toMatch(/used before/)
    const proof = await worker.answer(id, 200, "yes")
    expect(await one.isAnswer(proof, "yes")).toBe(true)
    expect(await one.isAnswer(proof, "no")).toBe(false)
    expect(await other.isAnswer(proof, "yes")).toBe(false)
    expect(await one.isAnswer("", "yes")).toBe(false)
  })

  // Tests calls: A request of a process without the secret, a replayed, altered, redirected or old one, is refused.
  it.each([
    [
      "of another secret",
      /another secret/,
      async () => signed(signingOf("another-secret-of-another", pair().time), asked),
    ],
    [
      "for another address",
      /another address/,
      async () => signed(pair().sender, { ...asked, address: "http://b.test" }),
    ],
    ["for another path", /another path/, async () => signed(pair().sender, { ...asked, subject: "POST /x" })],
    ["for another life", /earlier life/, async () => signed(pair().sender, { ...asked, to: "life-0" })],
    ["that is none", /signature is none/, async () => ({ token: "a.b.c" })],
    ["that is empty", /signature is none/, async () => ({ token: "" })],
  ])("%s is refused", async (_, why, made) => {
    const { worker } = pair()
    expect(await problem(worker.accept((await made()).token, asked))).toMatch(why)
  })

  it("without an algorithm, as anybody can make it, is refused", async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
    const token = `${part({ alg: "none" })}.${part({ aud: asked.address, sub: asked.subject, jti: "x", at: 0 })}.`
    expect(await problem(pair().worker.accept(token, asked))).toMatch(/none/)
  })

  it.each([-1, 1])("of a clock that is ten minutes off is refused, and says by how much", async (sign) => {
    const { time, worker } = pair()
    const wrong = new VirtualTime({ wall: time.read().wall + sign * 600_000 })
    const { token } = await signed(signingOf(secret, wrong), asked)
    expect(await problem(worker.accept(token, asked))).toMatch(/600 s old by the time here/)
  })

  it("counts for as long as clocks may differ, and is remembered until it counts no more", async () => {
    const { time, sender, worker } = pair()
    const { token } = await signed(sender, asked)
    await time.advance(SIGNED_FOR)
    await worker.accept(token, asked)
    await time.advance(1)
    expect(await problem(worker.accept(token, asked))).toMatch(/old by the time/)
  })
})
