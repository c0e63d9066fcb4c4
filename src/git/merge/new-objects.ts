import { overLimit } from "../error.ts";
import { hashObject } from "../object/hash-object.ts";
import type { ObjectKind } from "../object/kind.ts";
import { parseTree } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader, StoredObject } from "../store.ts";

/** Takes an object that is to be stored: `PackBuilder.add`. */
export type ObjectSink = (kind: ObjectKind, content: Uint8Array) => void;

/** Objects made while merging, in front of those that are stored. */
export class NewObjects implements ObjectReader {
  private readonly made = new Map<Oid, StoredObject>();
  private readonly stored: ObjectReader;
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(stored: ObjectReader, bytesMax: number) {
    this.stored = stored;
    this.bytesMax = bytesMax;
  }

  async readObject(oid: Oid): Promise<StoredObject | undefined> {
    return this.made.get(oid) ?? this.stored.readObject(oid);
  }

  /**
   * @param known Ids of stored objects that it may be after all.
   * @throws GitError `limit` for more bytes together than allowed.
   */
  add(kind: ObjectKind, content: Uint8Array, known: readonly (Oid | undefined)[] = []): Oid {
    const oid = hashObject(kind, content);
    if (this.made.has(oid) || known.includes(oid)) return oid;
    this.bytes += content.length;
    if (this.bytes > this.bytesMax) throw overLimit("merge makes too much");
    this.made.set(oid, { kind, content });
    return oid;
  }

  /** Hands on what was made of a tree and all below it, the tree itself last. */
  give(treeOid: Oid, write: ObjectSink): void {
    const given = new Set<Oid>();
    const giveOne = (oid: Oid): void => {
      const object = this.made.get(oid);
      if (!object || given.has(oid)) return;
      given.add(oid);
      if (object.kind === "tree") for (const entry of parseTree(object.content)) giveOne(entry.oid);
      write(object.kind, object.content);
    };
    giveOne(treeOid);
  }
}
