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
import { isSubmoduleMode, isTreeMode, visitTree } from "../object/tree.ts";
import { formatOid, type Oid, OID_BYTES } from "../oid.ts";
import { NO_ENTRY, type PackTable } from "../pack/pack-table.ts";
import type { ObjectReader } from "../store.ts";
import { CommitLinks } from "./commit-links.ts";
import { OidPool } from "./oid-pool.ts";
import { TreeLinks } from "./tree-links.ts";

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
  /** In order of the first occurrence. One for each id, since a pack may cause millions of findings. */
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
  readonly onWhole = (entry: number, kind: number, content: Uint8Array): void => {
    this.inspect(entry, kind, content, (isSound) => {
      this.trees.add(this.idOf(entry), content, isSound);
      this.expectChildren(content);
    });
  };

  /** Listener of the second pass: receives each object that is stored as a delta. */
  readonly onResolved = (
    entry: number,
    kind: number,
    content: Uint8Array,
    baseEntry: number,
    baseContent: Uint8Array,
  ): void => {
    const { trees } = this;
    const baseId = kind === TREE && baseEntry !== NO_ENTRY ? this.idOf(baseEntry) : -1;
    const expect = (mode: number, oidOffset: number): void => {
      this.expectChild(mode, content, oidOffset);
    };
    if (baseId >= 0 && trees.isSound(baseId)) {
      const edits = findEdits(baseContent, content);
      if (edits && isSoundEdit(content, edits)) {
        trees.addEdit(this.idOf(entry), content, baseId, baseContent, edits, expect);
        return;
      }
    }
    this.inspect(entry, kind, content, (isSound) => {
      const id = this.idOf(entry);
      // The children of a base outside of the pack are not recorded here.
      if (baseId < 0 || !trees.has(baseId)) {
        trees.add(id, content, isSound);
        this.expectChildren(content);
        return;
      }
      trees.addDifference(id, content, baseId, baseContent, isSound, expect);
    });
  };

  /**
   * @param linkTree Called for a tree without errors; `isSound` is true if the tree has no findings
   * at all.
   */
  private inspect(
    entry: number,
    kind: number,
    content: Uint8Array,
    linkTree: (isSound: boolean) => void,
  ): void {
    if (kind === BLOB) return;
    if (kind === COMMIT && this.plainCommit.read(content)) {
      this.addPlainCommit(entry, content);
      return;
    }
    const name = kindOf(kind);
    const findings = checkObject(name, content, this.severities, this.special);
    this.report(entry, findings);
    if (findings.some((finding) => finding.severity === "error")) return;
    if (kind === TREE) linkTree(findings.length === 0);
    if (kind === COMMIT) {
      const commit = parseCommit(content);
      this.commits.add(
        entry,
        this.expect(this.pool.addOid(commit.treeOid), TREE),
        commit.parentOids.map((oid) => this.expect(this.pool.addOid(oid), COMMIT)),
        commit.committer.timeSeconds,
      );
    }
    if (kind === TAG) {
      const tag = parseTag(content);
      const targetId = this.expect(this.pool.addOid(tag.targetOid), KIND_CODES[tag.targetKind]);
      this.tags.push({ entry, targetId });
    }
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

  private expectChildren(content: Uint8Array): void {
    visitTree(content, (mode, _nameStart, _nameEnd, oidOffset) => {
      this.expectChild(mode, content, oidOffset);
    });
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
   * Lists the objects that the pack refers to and does not contain. The caller must check that the repository's
   * refs reach all of them.
   *
   * @throws GitError `corrupt` if a link requires another kind than its object has, or links to one
   * object require two kinds.
   */
  listOutsideLinks(): OutsideLink[] {
    const { pool, table } = this;
    const kinds = new Uint8Array(pool.count + table.count);
    for (let entry = 0; entry < table.count; entry++) kinds[this.idOf(entry)] = table.kind(entry);
    const outside: OutsideLink[] = [];
    for (let id = 0; id < Math.min(this.expected.length, pool.count); id++) {
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
   * SECURITY: a directory or a submodule of such a name is a finding too: what git reads there is not
   * what was checked.
   *
   * @param objects Reads objects of this pack and of the repository.
   */
  async checkSpecialBlobs(objects: ObjectReader): Promise<void> {
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
        this.summarize(findings, kind, () => oid);
      }
    }
  }
}
