import { type Budget, giveWay, runInTurns, runNow, type Steps, UNLIMITED } from "../budget.ts";
import type { Codec } from "../codec.ts";
import { corrupt, missing, overLimit } from "../error.ts";
import { BLOB, KIND_CODES, kindOf } from "../object/kind.ts";
import { formatOid, type Oid, OID_BYTES } from "../oid.ts";
import type {
  ByteSource,
  EntryRange,
  Gauge,
  OutsideObjects,
  Scratch,
  StoredChain,
} from "../store.ts";
import { readDeltaHeader } from "./delta.ts";
import { DeltaApplier } from "./delta-applier.ts";
import { EntryReader } from "./entry-reader.ts";
import { LargeContents } from "./large-contents.ts";
import type { InflatedTotal } from "./inflated-total.ts";
import type { PackLimits } from "./limits.ts";
import { LiveContents } from "./live-contents.ts";
import { findOid, sortByOid } from "./oid-order.ts";
import type { PackKernel } from "./pack-kernel.ts";
import { NO_ENTRY, type PackTable } from "./pack-table.ts";

/**
 * Receives each object that was stored as a delta, with its base. The contents are valid only
 * during the call, and until the work that it returns is done. `baseEntry` is `NO_ENTRY` for a base
 * outside of the pack.
 */
type ResolvedListener = (
  entry: number,
  kind: number,
  content: Uint8Array,
  baseEntry: number,
  baseContent: Uint8Array,
) => Steps | void;

export interface ResolveOptions {
  readonly source: ByteSource;
  readonly codec: Codec;
  /** Resolves the usual deltas, if given; the result is the same. */
  readonly kernel?: PackKernel | undefined;
  readonly limits: PackLimits;
  /** Adds the bases that are read again from scratch to the sizes of the first pass. */
  readonly inflated?: InflatedTotal | undefined;
  readonly scratch: Scratch;
  /**
   * Memory for contents that wait to be used as bases, in bytes: `LIVE_BYTES_MAX` except in tests.
   */
  readonly budgetBytes: number;
  /** Reads the bases of a thin pack. */
  readonly bases: OutsideObjects;
  readonly listen: ResolvedListener;
  readonly gauge?: Gauge | undefined;
  /** Receives the number of resolved deltas and of all deltas of the pack. */
  readonly onDelta?: ((done: number, total: number) => void) | undefined;
  /** Lets others have a turn between parts of the work. */
  readonly budget?: Budget | undefined;
}

/** Statistics of resolving, for logs and tests. */
export interface ResolveReport {
  /**
   * Bases that the pack refers to and does not contain. `table.bases` numbers them after the last
   * entry, as if they were appended to the pack: see `ThinPackCompletion`.
   */
  readonly externalOids: readonly Oid[];
  /** Peak size of the contents held, in bytes. */
  readonly peakBytes: number;
  readonly spilledBytes: number;
  readonly sweeps: number;
}

/**
 * Maximum number of passes over the pack before it is refused. One suffices for the packs that git
 * sends. A base that comes after its delta costs another pass, and only a pack built to be slow
 * needs many.
 */
const SWEEPS_MAX = 64;

/**
 * Steps to resolve a delta: for itself, and for each byte of its base, of the delta and of its
 * object.
 */
const STEPS = { delta: 300, byte: 0.4 } as const;

/** Bytes that the kernel takes for a delta at most; what is larger yields while it is made. */
const KERNEL_BYTES_MAX = 512 * 1024;

/** Entries that a pass over the table looks at before others may have a turn. */
const PART_ENTRIES = 16_384;

/** Contents larger than this are reported to the gauge one by one, in bytes. */
const LARGE_BYTES = 64 * 1024;

/**
 * The second pass over a pack: resolves its deltas in pack order.
 *
 * A content is held from the time it is resolved until its last delta is resolved. Contents beyond
 * the budget are spilled to scratch. Entries are always read in pack order.
 *
 * @throws GitError `corrupt` for a delta that does not fit its base, `missing` for a base that
 * cannot be found, `limit` for chains and sizes beyond the limits.
 */
export async function resolveDeltas(
  table: PackTable,
  options: ResolveOptions,
): Promise<ResolveReport> {
  const resolver = new DeltaResolver(table, options);
  return resolver.run();
}

/** A base outside of the pack. */
interface External {
  readonly oid: Oid;
  readonly kind: number;
  /** The stored chain of a large object. */
  readonly chain: StoredChain | undefined;
}

class DeltaResolver {
  private readonly table: PackTable;
  private readonly options: ResolveOptions;
  private readonly reader: EntryReader;
  private readonly applier: DeltaApplier;
  private readonly contents: LiveContents;
  private readonly large: LargeContents;

  /**
   * Number of unresolved deltas of each node. Nodes are the entries, followed by the external
   * bases.
   */
  private waiting = new Int32Array(0);
  /** Deltas by base, ascending: the deltas of entry i start at `childStarts[i]`. */
  private childStarts = new Uint32Array(0);
  private children = new Uint32Array(0);
  /** Deltas of nodes whose id became known later: external bases and resolved deltas. */
  private readonly lateChildren = new Map<number, number[]>();
  /** Deltas with an unknown base, by the id of the base. */
  private readonly orphans = new Map<Oid, number[]>();
  private readonly externals: External[] = [];
  private unresolved = 0;
  private deltaCount = 0;
  /** True if this sweep resolved a delta or read a base that a delta waits for. */
  private hasProgressed = false;

  /** Bytes read from scratch so far. */
  private readBytes = 0;
  private readonly budget: Budget;
  private sweep = 0;
  private position = 0;
  private delta = new Uint8Array(64 * 1024);

  constructor(table: PackTable, options: ResolveOptions) {
    this.table = table;
    this.options = options;
    this.reader = new EntryReader(options.source, table.offset(table.count), options.kernel);
    this.applier = new DeltaApplier(options.codec, options.kernel);
    this.contents = new LiveContents(options.scratch, options.budgetBytes, (node) =>
      this.nextUse(node),
    );
    this.budget = options.budget ?? UNLIMITED;
    this.large = new LargeContents(options.scratch, options.codec, this.budget);
  }

  /** Reports the memory held, including `bytes` of temporary buffers. */
  private measure(bytes: number): void {
    const { waiting, childStarts, children, reader, contents, delta, applier } = this;
    const links = waiting.byteLength + childStarts.byteLength + children.byteLength;
    const buffers = reader.heldBytes + delta.length + applier.heldBytes;
    this.options.gauge?.(links + buffers + contents.heldBytes + bytes);
  }

  async run(): Promise<ResolveReport> {
    await runInTurns(this.linkKnownBases(), this.budget);
    this.deltaCount = this.unresolved;
    await this.linkExternalBases();
    while (this.unresolved > 0) {
      this.hasProgressed = false;
      if (this.sweep >= SWEEPS_MAX) throw overLimit("pack: bases too far behind their deltas");
      await this.runSweep();
      this.sweep++;
      if (!this.hasProgressed) this.refuseOrphans();
    }
    this.table.deltas.clear();
    return {
      externalOids: this.externals.map(({ oid }) => oid),
      peakBytes: this.contents.peakBytes + this.large.peakBytes,
      spilledBytes: this.contents.spilledBytes + this.large.spilledBytes,
      sweeps: this.sweep,
    };
  }

  private refuseOrphans(): never {
    const [oid] = this.orphans.keys();
    throw oid === undefined ? corrupt("pack: deltas in a circle") : missing(`base ${oid}`);
  }

  /** Finds the bases that the pack stores whole, and groups deltas by base. */
  private *linkKnownBases(): Steps {
    const { table } = this;
    const { count, bases, kinds } = table;
    // Most packs have no such bases.
    const order = yield* sortByOid(table.oids, table.refBases.size === 0 ? 0 : count);
    let looked = 0;
    for (const [entry, oid] of table.refBases) {
      if (++looked % PART_ENTRIES === 0) yield STEPS.delta * PART_ENTRIES;
      const base = findOid(table.oids, order, oid);
      if (base >= 0 && kinds[base] !== 0) bases[entry] = base;
      else addTo(this.orphans, formatOid(oid), entry);
    }
    this.waiting = new Int32Array(count);
    this.childStarts = new Uint32Array(count + 1);
    for (let entry = 0; entry < count; entry++) {
      if (entry % PART_ENTRIES === 0) yield PART_ENTRIES;
      if (!table.isDelta(entry)) continue;
      this.unresolved++;
      const base = bases[entry] as number;
      if (base === NO_ENTRY) continue;
      (this.waiting[base] as number)++;
      (this.childStarts[base + 1] as number)++;
    }
    for (let entry = 0; entry < count; entry++) {
      (this.childStarts[entry + 1] as number) += this.childStarts[entry] as number;
    }
    const next = this.childStarts.slice();
    this.children = new Uint32Array(this.childStarts[count] as number);
    this.measure(next.byteLength + order.byteLength);
    for (let entry = 0; entry < count; entry++) {
      if (entry % PART_ENTRIES === 0) yield PART_ENTRIES;
      const base = bases[entry] as number;
      if (base !== NO_ENTRY) this.children[(next[base] as number)++] = entry;
    }
  }

  /**
   * Looks up the bases that the pack does not store whole. A base that is not found may be a delta
   * of the pack.
   */
  private async linkExternalBases(): Promise<void> {
    const { count } = this.table;
    for (const [oid, orphans] of this.orphans) {
      await giveWay(this.budget, STEPS.delta);
      if ((await this.options.bases.find(oid)) === undefined) continue;
      const chain = await this.options.bases.findLarge?.(oid);
      const found = chain ?? (await this.options.bases.readObject(oid));
      if (!found) continue;
      const node = count + this.externals.length;
      this.externals.push({ oid, kind: KIND_CODES[found.kind], chain });
      if ("content" in found && !this.contents.isOverBudget) {
        this.contents.keep(node, found.content);
        this.measure(found.content.length);
      }
      this.lateChildren.set(node, orphans);
      this.orphans.delete(oid);
    }
    const waiting = new Int32Array(count + this.externals.length);
    waiting.set(this.waiting);
    for (const [node, orphans] of this.lateChildren) {
      waiting[node] = orphans.length;
      for (const entry of orphans) this.table.bases[entry] = node;
    }
    this.waiting = waiting;
  }

  private async runSweep(): Promise<void> {
    const { table, reader, contents } = this;
    for (let entry = 0; entry < table.count; entry++) {
      this.position = entry;
      if (entry % PART_ENTRIES === 0) await giveWay(this.budget, PART_ENTRIES);
      const isUnresolved = table.kind(entry) === 0;
      if (isUnresolved ? !this.isBaseReady(entry) : !this.isNeeded(entry)) continue;
      const start = table.offset(entry);
      const end = table.end(entry);
      if (isUnresolved ? this.isLargeDelta(entry) : this.isLargeWhole(entry)) {
        if (isUnresolved) await this.resolveLarge(entry);
        else await this.keepLarge(entry);
        continue;
      }
      const isRead = isUnresolved && table.deltas.has(entry);
      if (!isRead && !reader.has(start, end)) {
        await reader.seek(start, end);
        this.measure(0);
      }
      let work: Steps;
      if (!isUnresolved) {
        work = this.keepWhole(entry, start, end);
      } else {
        const base = table.bases[entry] as number;
        const content = contents.get(base) ?? (await this.fetchBase(base));
        work = this.resolve(entry, start, end, base, content);
      }
      for (const steps of work) {
        const turn = giveWay(this.budget, steps);
        if (turn) await turn;
      }
      if (contents.isOverBudget) {
        await contents.spill((bytes) => this.measure(bytes));
        this.measure(0);
      }
    }
  }

  /** True for an object stored whole that deltas wait for and that is not held. */
  private isNeeded(entry: number): boolean {
    return (this.waiting[entry] as number) > 0 && !this.isHeld(entry);
  }

  private isHeld(node: number): boolean {
    return this.contents.has(node) || this.large.has(node);
  }

  private isLargeWhole(entry: number): boolean {
    return (this.table.sizes[entry] as number) > this.options.limits.deltaObjectBytesMax;
  }

  /** True for a delta that is resolved in scratch because it, its result or its base is large. */
  private isLargeDelta(entry: number): boolean {
    const base = this.table.bases[entry] as number;
    if (this.table.largeDeltas.has(entry) || this.large.has(base)) return true;
    return this.externalOf(base)?.chain !== undefined;
  }

  /**
   * The base of a number behind the entries. A negative index of an array would be looked up as the
   * name of a property.
   */
  private externalOf(base: number): External | undefined {
    return base < this.table.count ? undefined : this.externals[base - this.table.count];
  }

  private async keepLarge(entry: number): Promise<void> {
    await this.large.keepWhole(entry, this.rangeOf(entry));
    this.hasProgressed = true;
  }

  private rangeOf(entry: number): EntryRange {
    const { table, options } = this;
    return { source: options.source, start: table.offset(entry), end: table.end(entry) };
  }

  /**
   * Resolves a delta in scratch.
   *
   * Its object is a blob, which needs no inspection: larger objects of other kinds are refused.
   */
  private async resolveLarge(entry: number): Promise<void> {
    const { table, options, large } = this;
    const base = table.bases[entry] as number;
    const external = this.externalOf(base);
    const kind = external ? external.kind : table.kind(base);
    if (kind !== BLOB) {
      const { structureBytesMax } = options.limits;
      throw overLimit(`a ${kindOf(kind)} may have ${structureBytesMax} bytes at most`);
    }
    const depth = external ? 1 : (table.depths[base] as number) + 1;
    if (depth > options.limits.deltaDepthMax) throw overLimit("pack: chain of deltas too long");
    if (!large.has(base)) {
      if (external?.chain) await large.keepChain(base, external.chain);
      else {
        const content = this.contents.get(base) ?? (await this.fetchBase(base));
        await large.keepContent(base, content);
      }
    }
    const hasOrphans = this.orphans.size > 0;
    const isBase = (this.waiting[entry] as number) > 0 || hasOrphans;
    const range = this.rangeOf(entry);
    const at = entry * OID_BYTES;
    const name = kindOf(kind);
    table.sizes[entry] = await large.resolve(entry, base, range, isBase, name, table.oids, at);
    this.countRead();
    table.kinds[entry] = kind;
    table.depths[entry] = depth;
    this.unresolved--;
    this.hasProgressed = true;
    options.onDelta?.(this.deltaCount - this.unresolved, this.deltaCount);
    if (hasOrphans) this.adopt(entry);
    if ((this.waiting[entry] as number) === 0) large.drop(entry);
    if (--(this.waiting[base] as number) === 0) {
      large.drop(base);
      this.contents.drop(base);
    }
  }

  private isBaseReady(entry: number): boolean {
    const base = this.table.bases[entry] as number;
    return base !== NO_ENTRY && (base >= this.table.count || this.isHeld(base));
  }

  private async fetchBase(base: number): Promise<Uint8Array> {
    if (this.contents.has(base)) {
      const content = await this.contents.restore(base);
      this.countRead();
      return content;
    }
    const external = this.externalOf(base);
    const found = external && (await this.options.bases.readObject(external.oid));
    if (!found) throw missing(`base ${external?.oid}`);
    this.contents.keep(base, found.content);
    return found.content;
  }

  /**
   * SECURITY: a delta of some bytes can need a base of megabytes that is not in memory any more,
   * and so can the next one.
   */
  private countRead(): void {
    const readBytes = this.contents.restoredBytes + this.large.loadedBytes;
    this.options.inflated?.add(readBytes - this.readBytes);
    this.readBytes = readBytes;
  }

  private *keepWhole(entry: number, start: number, end: number): Steps {
    const header = this.reader.header(start);
    const content = yield* this.reader.inflateOwn(start, end, header, this.options.codec);
    yield STEPS.byte * content.length;
    this.contents.keep(entry, content);
    this.hasProgressed = true;
  }

  private *resolve(
    entry: number,
    start: number,
    end: number,
    base: number,
    baseContent: Uint8Array,
  ): Steps {
    const { applier, table, options } = this;
    const isExternal = base >= table.count;
    const kind = isExternal
      ? (this.externals[base - table.count] as External).kind
      : table.kind(base);
    const depth = isExternal ? 1 : (table.depths[base] as number) + 1;
    if (depth > options.limits.deltaDepthMax) throw overLimit("pack: chain of deltas too long");

    const delta = table.deltas.get(entry) ?? (yield* this.inflateDelta(start, end));
    const deltaHeader = readDeltaHeader(delta);
    if (!deltaHeader) throw corrupt("delta: cut off");
    const { resultBytes } = deltaHeader;
    if (resultBytes > options.limits.deltaObjectBytesMax) throw overLimit("pack: object too large");
    const hasOrphans = this.orphans.size > 0;
    const isBase = (this.waiting[entry] as number) > 0 || hasOrphans;
    const { oids } = table;
    const oidAt = entry * OID_BYTES;
    const usedBytes = baseContent.length + delta.length + resultBytes;
    yield STEPS.delta + STEPS.byte * Math.min(usedBytes, KERNEL_BYTES_MAX);
    const content = yield* applier.apply(
      baseContent,
      delta,
      deltaHeader,
      kind,
      isBase,
      oids,
      oidAt,
    );
    if (resultBytes > LARGE_BYTES) this.measure(isBase ? resultBytes : 0);
    table.kinds[entry] = kind;
    table.sizes[entry] = resultBytes;
    table.depths[entry] = depth;
    this.unresolved--;
    this.hasProgressed = true;
    const work = options.listen(entry, kind, content, isExternal ? NO_ENTRY : base, baseContent);
    if (work && applier.isShared(content)) runNow(work);
    else if (work) yield* work;
    options.onDelta?.(this.deltaCount - this.unresolved, this.deltaCount);

    if (hasOrphans) this.adopt(entry);
    if ((this.waiting[entry] as number) > 0) this.contents.keep(entry, content);
    else if (isBase) applier.release(content);
    if (--(this.waiting[base] as number) === 0) {
      this.contents.drop(base);
      if (!isExternal) applier.release(baseContent);
      this.large.drop(base);
    }
  }

  /** Inflates a delta in the window. The result is valid until the next one. */
  private *inflateDelta(start: number, end: number): Steps<Uint8Array> {
    const header = this.reader.header(start);
    if (header.sizeBytes > this.delta.length) this.delta = new Uint8Array(header.sizeBytes);
    const delta = this.delta.subarray(0, header.sizeBytes);
    yield* this.reader.inflate(start, end, header, delta);
    return delta;
  }

  /** Assigns this object as the base of the deltas that waited for its id. */
  private adopt(entry: number): void {
    const oid = formatOid(this.table.oids, entry * OID_BYTES);
    const children = this.orphans.get(oid);
    if (!children) return;
    this.orphans.delete(oid);
    this.lateChildren.set(entry, children);
    (this.waiting[entry] as number) += children.length;
    for (const child of children) this.table.bases[child] = entry;
  }

  /** Returns when a node is needed next: the index of a delta, in this sweep or the next. */
  private nextUse(node: number): number {
    const { count, kinds } = this.table;
    let later = Number.POSITIVE_INFINITY;
    let soon = Number.POSITIVE_INFINITY;
    const consider = (child: number): void => {
      if (kinds[child] !== 0) return;
      if (child > this.position) soon = Math.min(soon, child);
      else later = Math.min(later, count + child);
    };
    if (node < count) {
      const end = this.childStarts[node + 1] as number;
      for (let at = this.childStarts[node] as number; at < end; at++) {
        consider(this.children[at] as number);
        // Children ascend, so the first one ahead is the next use.
        if (soon !== Number.POSITIVE_INFINITY) break;
      }
    }
    for (const child of this.lateChildren.get(node) ?? []) consider(child);
    return Math.min(soon, later);
  }
}

function addTo(map: Map<Oid, number[]>, oid: Oid, entry: number): void {
  const list = map.get(oid);
  if (list) list.push(entry);
  else map.set(oid, [entry]);
}
