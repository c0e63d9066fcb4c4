import type { Steps } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { ObjectHasher } from "../object/hash-object.ts";
import { kindOf } from "../object/kind.ts";
import { ContentPool } from "./content-pool.ts";
import { applyInParts, type DeltaHeader } from "./delta.ts";
import type { PackKernel } from "./pack-kernel.ts";

/** Makes and hashes the objects of deltas, by the kernel or by the engine's own code. */
export class DeltaApplier {
  private readonly kernel: PackKernel | undefined;
  private readonly hasher: ObjectHasher;
  private readonly pool = new ContentPool();
  private result = new Uint8Array(64 * 1024);

  constructor(codec: Codec, kernel: PackKernel | undefined) {
    this.kernel = kernel;
    this.hasher = new ObjectHasher(codec);
  }

  /** Memory held in bytes, apart from objects that were not released. */
  get heldBytes(): number {
    return this.pool.heldBytes + this.result.length;
  }

  /**
   * Applies a delta in parts and writes the raw id of the object to `oids` at `oidAt`.
   *
   * @param isKept Whether the object outlives the next call: until `release`.
   * @throws GitError `corrupt` for a delta that does not fit its base.
   */
  *apply(
    base: Uint8Array,
    delta: Uint8Array,
    header: DeltaHeader,
    kind: number,
    isKept: boolean,
    oids: Uint8Array,
    oidAt: number,
  ): Steps<Uint8Array> {
    const { hasher, kernel, pool } = this;
    const { resultBytes } = header;
    const view = kernel?.resolve(base, delta, header, kind);
    if (kernel && view) {
      if (kernel.hashes(resultBytes)) kernel.copyOid(oids, oidAt);
      else hasher.hashInto(kindOf(kind), view, oids, oidAt);
      if (!isKept) return view;
    }
    const content = isKept ? pool.take(resultBytes) : this.resultView(resultBytes);
    if (view) {
      content.set(view);
      return content;
    }
    yield* applyInParts(base, delta, header, content);
    yield* hasher.hashInParts(kindOf(kind), content, oids, oidAt);
    return content;
  }

  /** Whether the object is in memory that other pushes use, so that its user must not yield. */
  isShared(content: Uint8Array): boolean {
    return this.kernel?.owns(content) === true;
  }

  /** Ends the use of an object. Ignores one that is not from `apply`. */
  release(content: Uint8Array): void {
    this.pool.give(content);
  }

  private resultView(length: number): Uint8Array {
    if (length > this.result.length) this.result = new Uint8Array(length);
    return this.result.subarray(0, length);
  }
}
