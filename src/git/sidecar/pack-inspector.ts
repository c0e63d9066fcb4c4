import { type Budget, giveWay, type Steps, UNLIMITED } from "../budget.ts";
import { findEdits } from "../object/compare-trees.ts";
import { corrupt } from "../error.ts";
import { checkGitattributes, checkGitmodules } from "../object/check-config-blob.ts";
import { checkObject } from "../object/check-object.ts";
import { isSoundEdit, type SpecialBlobs } from "../object/check-tree.ts";
import { parseCommit } from "../object/commit.ts";
import {
  type Finding,
  FINDING_RULES,
  type FindingId,
  type FindingSeverities,
} from "../object/finding.ts";
import { BLOB, COMMIT, KIND_CODES, kindOf, type ObjectKind, TAG, TREE } from "../object/kind.ts";
import { PlainCommit } from "../object/plain-commit.ts";
import { parseTag } from "../object/tag.ts";
import { isSubmoduleMode, isTreeMode, visitTreeInParts } from "../object/tree.ts";
import { formatOid, type Oid, OID_BYTES } from "../oid.ts";
import { NO_ENTRY, type PackTable } from "../pack/pack-table.ts";
import type { ObjectReader } from "../store.ts";
import { CommitLinks } from "./commit-links.ts";
import { OidPool } from "./oid-pool.ts";
import { TreeLinks } from "./tree-links.ts";

/** Steps to record a changed entry of a tree. */
const STEPS_PER_EDIT = 20;
/** Steps to check a byte of a configuration file. */
const STEPS_PER_CONFIG_BYTE = 2;
/** Objects after which a pass over the links yields. */
const PART_OBJECTS = 8192;

/** An annotated tag of the pack. */
export interface TagLinks {
  readonly entry: number;
  readonly targetId: number;
}

/** All findings of one id in a pack. */
export interface FindingSummary extends Finding {
  /** Number of objects with the finding. */
  count: number;
  /** The first of these objects. */
  readonly oid: Oid;
  readonly kind: ObjectKind;
}

/** An object that the pack refers to and does not contain. */
export interface OutsideLink {
  readonly oid: Oid;
  /** The number of the id in the pool. */
  readonly id: number;
  /** The kind that the link requires. */
  readonly kind: ObjectKind;
}

/**
 * Checks the objects of a pack while it is indexed, and collects the links between them.
 *
 * `onWhole` and `onResolved` are the listeners of the two passes. The inspector stores numbers and
 * no contents.
 */
export class PackInspector {
  pool = new OidPool();
  trees = new TreeLinks(this.pool);
  commits = new CommitLinks();
  tags: TagLinks[] = [];
  /**
   * In order of the first occurrence. One for each id, since a pack may cause millions of findings.
   */
  readonly findings = new Map<FindingId, FindingSummary>();
  private readonly special: SpecialBlobs = {
    gitmodulesOids: new Set(),
    gitattributesOids: new Set(),
  };
  /** The kinds required by links to each pool id, as one bit per kind. */
  private expected = new Uint8Array(1024);
  private readonly table: PackTable;
  private readonly severities: FindingSeverities;
  private readonly plainCommit = new PlainCommit();

  constructor(table: PackTable, severities: FindingSeverities) {
    this.table = table;
    this.severities = severities;
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    const { pool, trees, expected, commits } = this;
    return pool.heldBytes + trees.heldBytes + expected.length + commits.heldBytes;
  }

  /** Listener of the first pass: receives each object that is stored whole. */
  readonly onWhole = (entry: number, kind: number, content: Uint8Array): Steps | undefined => {
    if (kind === BLOB || this.takePlainCommit(entry, kind, content)) return undefined;
    return this.inspectWhole(entry, kind, content);
  };

  /** Listener of the second pass: receives each object that is stored as a delta. */
  readonly onResolved = (
    entry: number,
    kind: number,
    content: Uint8Array,
    baseEntry: number,
    baseContent: Uint8Array,
  ): Steps | undefined => {
    if (kind === BLOB || this.takePlainCommit(entry, kind, content)) return undefined;
    // The children of a base outside of the pack are not recorded here.
    const baseId = kind === TREE && baseEntry !== NO_ENTRY ? this.idOf(baseEntry) : -1;
    if (baseId < 0 || !this.trees.has(baseId)) return this.inspectWhole(entry, kind, content);
    return this.inspectTree(entry, content, baseId, baseContent);
  };

  private *inspectWhole(entry: number, kind: number, content: Uint8Array): Steps {
    const findings = yield* this.check(entry, kind, content);
    if (findings.some(({ severity }) => severity === "error")) return;
    if (kind === TREE) {
      yield* this.trees.add(this.idOf(entry), content, findings.length === 0);
      yield* visitTreeInParts(content, (mode, _nameStart, _nameEnd, oidOffset) => {
        this.expectChild(mode, content, oidOffset);
      });
    }
    if (kind === COMMIT) this.addCommit(entry, content);
    if (kind === TAG) {
      const tag = parseTag(content);
      const targetId = this.expect(this.pool.addOid(tag.targetOid), KIND_CODES[tag.targetKind]);
      this.tags.push({ entry, targetId });
    }
  }

  /** Inspects a tree whose base was recorded. */
  private *inspectTree(
    entry: number,
    content: Uint8Array,
    baseId: number,
    baseContent: Uint8Array,
  ): Steps {
    const { trees } = this;
    const expect = (mode: number, oidOffset: number): void => {
      this.expectChild(mode, content, oidOffset);
    };
    if (trees.isSound(baseId)) {
      const edits = yield* findEdits(baseContent, content);
      if (edits && isSoundEdit(content, edits)) {
        trees.addEdit(this.idOf(entry), content, baseId, baseContent, edits, expect);
        yield STEPS_PER_EDIT * edits.length;
        return;
      }
    }
    const findings = yield* this.check(entry, TREE, content);
    if (findings.some(({ severity }) => severity === "error")) return;
    const isSound = findings.length === 0;
    const id = this.idOf(entry);
    yield* trees.addDifference(id, content, baseId, baseContent, isSound, expect);
  }

  private *check(entry: number, kind: number, content: Uint8Array): Steps<readonly Finding[]> {
    const findings = yield* checkObject(kindOf(kind), content, this.severities, this.special);
    this.report(entry, findings);
    return findings;
  }

  private takePlainCommit(entry: number, kind: number, content: Uint8Array): boolean {
    if (kind !== COMMIT || !this.plainCommit.read(content)) return false;
    this.addPlainCommit(entry, content);
    return true;
  }

  private addCommit(entry: number, content: Uint8Array): void {
    const commit = parseCommit(content);
    this.commits.add(
      entry,
      this.expect(this.pool.addOid(commit.treeOid), TREE),
      commit.parentOids.map((oid) => this.expect(this.pool.addOid(oid), COMMIT)),
      commit.committer.timeSeconds,
    );
  }

  /** Adds the commit that was read last. */
  private addPlainCommit(entry: number, content: Uint8Array): void {
    const { commits, plainCommit, pool } = this;
    const { treeOffset, parentOffsets, timeSeconds } = plainCommit;
    commits.add(
      entry,
      this.expect(pool.addHex(content, treeOffset), TREE),
      parentOffsets.map((offset) => this.expect(pool.addHex(content, offset), COMMIT)),
      timeSeconds,
    );
  }

  private report(entry: number, findings: readonly Finding[]): void {
    if (findings.length === 0) return;
    const kind = kindOf(this.table.kind(entry));
    this.summarize(findings, kind, () => formatOid(this.table.oids, entry * OID_BYTES));
  }

  /** Adds the findings of one object to the summaries. */
  private summarize(findings: readonly Finding[], kind: ObjectKind, oid: () => Oid): void {
    for (const finding of new Map(findings.map((each) => [each.id, each])).values()) {
      const summary = this.findings.get(finding.id);
      if (summary) summary.count++;
      else this.findings.set(finding.id, { ...finding, count: 1, oid: oid(), kind });
    }
  }

  private idOf(entry: number): number {
    return this.pool.add(this.table.oids, entry * OID_BYTES);
  }

  private expectChild(mode: number, content: Uint8Array, oidOffset: number): void {
    if (isSubmoduleMode(mode)) return;
    this.expect(this.pool.add(content, oidOffset), isTreeMode(mode) ? TREE : BLOB);
  }

  private expect(id: number, kind: number): number {
    if (id >= this.expected.length) {
      const larger = new Uint8Array(Math.max(id + 1, this.expected.length * 2));
      larger.set(this.expected);
      this.expected = larger;
    }
    (this.expected[id] as number) |= 1 << kind;
    return id;
  }

  /**
   * Refuses the pack if an object has an error. Call it after both passes.
   *
   * @throws GitError `corrupt`, with git's id of the first error.
   */
  refuseErrors(): void {
    for (const { severity, kind, oid, id } of this.findings.values()) {
      if (severity === "error") throw corrupt(`${kind} ${oid}: ${id}: ${FINDING_RULES[id].text}`);
    }
  }

  /**
   * Lists the objects that the pack refers to and does not contain. The caller must check that the
   * repository's refs reach all of them.
   *
   * @throws GitError `corrupt` if a link requires another kind than its object has, or links to one
   * object require two kinds.
   */
  *listOutsideLinks(): Steps<OutsideLink[]> {
    const { pool, table } = this;
    const kinds = new Uint8Array(pool.count + table.count);
    for (let entry = 0; entry < table.count; entry++) {
      if (entry % PART_OBJECTS === 0) yield 5 * PART_OBJECTS;
      kinds[this.idOf(entry)] = table.kind(entry);
    }
    const outside: OutsideLink[] = [];
    for (let id = 0; id < Math.min(this.expected.length, pool.count); id++) {
      if (id % PART_OBJECTS === 0) yield 5 * PART_OBJECTS;
      const bits = this.expected[id] as number;
      if (bits === 0) continue;
      const kind = 31 - Math.clz32(bits);
      if (bits !== 1 << kind || (kinds[id] !== 0 && kinds[id] !== kind)) {
        throw corrupt(`object ${pool.oid(id)} is linked as another kind than it is`);
      }
      if (kinds[id] === 0) outside.push({ oid: pool.oid(id), id, kind: kindOf(kind) });
    }
    return outside;
  }

  /** Releases the memory of the links. Findings and the ids of special blobs stay. */
  releaseLinks(): void {
    this.pool = new OidPool();
    this.trees = new TreeLinks(this.pool);
    this.commits = new CommitLinks();
    this.tags = [];
    this.expected = new Uint8Array(0);
  }

  /**
   * Checks what trees name as configuration files. These are few, and are read one by one.
   *
   * SECURITY: a directory or a submodule of such a name is a finding too: what git reads there is
   * not what was checked.
   *
   * @param objects Reads objects of this pack and of the repository.
   */
  async checkSpecialBlobs(objects: ObjectReader, budget: Budget = UNLIMITED): Promise<void> {
    const { severities, special } = this;
    const lists = [
      ["gitmodules", special.gitmodulesOids, checkGitmodules],
      ["gitattributes", special.gitattributesOids, checkGitattributes],
    ] as const;
    for (const [name, oids, check] of lists) {
      for (const oid of oids) {
        const only = (id: FindingId): Finding[] => [{ id, severity: severities[id] }];
        const large = await objects.findLarge?.(oid);
        const object = large ? undefined : await objects.readObject(oid);
        const kind = large?.kind ?? object?.kind ?? "blob";
        let findings: readonly Finding[];
        if (kind !== "blob") findings = only(`${name}Blob`);
        else if (large) findings = only(`${name}Large`);
        else if (!object) findings = only(`${name}Missing`);
        else findings = check(object.content, severities);
        await giveWay(budget, STEPS_PER_CONFIG_BYTE * (object?.content.length ?? 0));
        this.summarize(findings, kind, () => oid);
      }
    }
  }
}
