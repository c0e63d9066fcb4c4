import type { ObjectReader, OutsideObjects } from "../../../src/git/store.ts";

/** A repository in which packs may refer to all objects. */
export const outsideOf = (objects: ObjectReader): OutsideObjects => ({
  readObject: (oid) => objects.readObject(oid),
  findLarge: (oid) => objects.findLarge?.(oid),
  find: async (oid) => ((await objects.findLarge?.(oid)) ?? (await objects.readObject(oid)))?.kind,
});
