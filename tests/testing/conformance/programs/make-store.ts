/** The store of docs/testing.md, one for each place, for programs that run under other runners. */
import type { ObjectStore } from "leasehold"
import { mapStore, type Objects } from "../map-store.ts"

const places = new Map<string, Objects>()

/** A store object on the objects of a place. */
export function makeStore(place: string): ObjectStore {
  const objects: Objects = places.get(place) ?? new Map()
  places.set(place, objects)
  return mapStore(objects)
}
