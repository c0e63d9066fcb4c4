import { hashObject } from "../object/hash-object.ts";
import type { ObjectKind } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { StoredObject } from "../store.ts";

/** New objects, each once, in the order in which they are added first. */
export class CollectedObjects {
  private readonly byOid = new Map<Oid, StoredObject>();

  readonly add = (kind: ObjectKind, content: Uint8Array): Oid => {
    const oid = hashObject(kind, content);
    if (!this.byOid.has(oid)) this.byOid.set(oid, { kind, content });
    return oid;
  };

  list(): StoredObject[] {
    return [...this.byOid.values()];
  }
}
