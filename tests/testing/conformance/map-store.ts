// --- example: a store in a Map
// A store of one's own: objects in a Map. All store objects that are given the same Map share them.
import { ABSENT, type ObjectStore, StoreMisconfiguredError } from "leasehold"

export type Objects = Map<string, { readonly generation: string; readonly body: Uint8Array }>

const notStarted = new StoreMisconfiguredError({ message: "The store isn't started", next: "Await its start() first" })

export function mapStore(objects: Objects): ObjectStore {
  let ready = false
  return {
    name: "map",
    capabilities: { clock: "none", sameClock: false, deletes: true, cheapReads: true, writeSpacing: 0 },
    start: async () => void (ready = true),
    close: async () => {},
    read: async ({ area, name }, { known, limit }) => {
      if (!ready) return { kind: "failed", error: notStarted }
      const object = objects.get(`${area}/${name}`)
      if (object === undefined) return { kind: "absent" }
      const { generation, body } = object
      if (generation === known) return { kind: "unchanged", generation }
      return body.length > limit ? { kind: "tooLarge", generation } : { kind: "found", generation, body: body.slice() }
    },
    put: async ({ area, name }, expected, body) => {
      if (!ready) return { kind: "unknown", error: notStarted }
      if ((objects.get(`${area}/${name}`)?.generation ?? ABSENT) !== expected) return { kind: "refused" }
      const generation = crypto.randomUUID()
      objects.set(`${area}/${name}`, { generation, body: body.slice() })
      return { kind: "applied", generation }
    },
    remove: async ({ area, name }, expected) => {
      if (!ready) return { kind: "unknown", error: notStarted }
      if (objects.get(`${area}/${name}`)?.generation !== expected) return { kind: "refused" }
      objects.delete(`${area}/${name}`)
      return { kind: "applied", generation: expected }
    },
    list: async (area, { prefix }) => {
      if (!ready) throw notStarted
      const all = [...objects].map(([key, { generation }]) => ({ key, generation }))
      const found = all.filter(({ key }) => key.startsWith(`${area}/${prefix}`))
      return { items: found.map(({ key, generation }) => ({ name: key.slice(area.length + 1), generation })) }
    },
  }
}
// --- end
