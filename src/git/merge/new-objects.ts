import type { Budget } from "../budget.ts";
import { overLimit } from "../error.ts";
import { hashObject } from "../object/hash-object.ts";
import type { ObjectKind } from "../object/kind.ts";
import { parseTree } from "../object/tree.ts";
import type { Oid } from "../oid.ts";
import type { ObjectReader, StoredObject } from "../store.ts";

/** Receives an object to store, such as `PackBuilder.add`. */
export type ObjectSink = (kind: ObjectKind, content: Uint8Array) => void;

/** The objects created by a merge, and a reader over them and the stored objects. */
export class NewObjects implements ObjectReader {
  private readonly added = new Map<Oid, StoredObject>();
  private readonly stored: ObjectReader;
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(stored: ObjectReader, bytesMax: number) {
    this.stored = stored;
    this.bytesMax = bytesMax;
  }

  get budget(): Budget | undefined {
    return this.stored.budget;
  }

  async readObject(oid: Oid): Promise<StoredObject | undefined> {
    return this.added.get(oid) ?? this.stored.readObject(oid);
  }

  /**
   * Adds an object, unless it is already present.
   *
   * @param known Ids of stored objects that the new object may be equal to.
   * @throws GitError `limit` if all new objects together exceed `bytesMax`.
   */
  add(kind: ObjectKind, content: Uint8Array, known: readonly (Oid | undefined)[] = []): Oid {
    const oid = hashObject(kind, content);
    if (this.added.has(oid) || known.includes(oid)) return oid;
    this.bytes += content.length;
    if (this.bytes > this.bytesMax) throw overLimit("merge makes too much");
    this.added.set(oid, { kind, content });
    return oid;
  }

  /**
   * Passes the new objects of a tree to `write`: everything below it first, the tree itself last.
   */
  give(treeOid: Oid, write: ObjectSink): void {
    const written = new Set<Oid>();
    const writeOne = (oid: Oid): void => {
      const object = this.added.get(oid);
      if (!object || written.has(oid)) return;
      written.add(oid);
      if (object.kind === "tree")
        for (const entry of parseTree(object.content)) writeOne(entry.oid);
      write(object.kind, object.content);
    };
    writeOne(treeOid);
  }
}
