import { findRenames } from "../../git/diff/renames.ts";
import { EMPTY_TREE_OID, type Oid } from "../../git/oid.ts";
import type { CommitGraph, Node } from "../../git/walk/commit-graph.ts";
import { walkByTime } from "../../git/walk/log.ts";
import { findDivergence } from "../../git/walk/merge-bases.ts";
import { notFound } from "../../lib/failure.ts";
import type { ChangedFileEntry } from "../../shapes/git/changed-file.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { Slice } from "../slice.ts";
import { countSides, findChanges } from "./find-changes.ts";

/** Contents of a comparison that are compared line by line, all files together, in bytes. */
const COMPARED_BYTES_MAX = 64 * 1024 * 1024;

/** What a text asks to be compared. */
export interface ComparisonText {
  /** Undefined for the default branch. */
  readonly base: string | undefined;
  readonly head: string;
  /** With two dots: the files are those that differ between the two commits themselves. */
  readonly isDirect: boolean;
  /** The repository of the head, where it is named: by its owner, or by both names. */
  readonly headOwner: string | undefined;
  readonly headRepo: string | undefined;
}

/**
 * Reads `base...head` or `base..head`; `head` alone is compared with the default branch. A head in
 * another repository carries its owner, or its owner and name: `owner:branch`, `owner/name:branch`.
 */
export function parseComparison(text: string): ComparisonText {
  const dots = ["...", ".."].find((each) => text.includes(each));
  const at = dots === undefined ? -1 : text.indexOf(dots);
  const after = dots === undefined ? text : text.slice(at + dots.length);
  // No name of a ref holds a colon.
  const [, headOwner, headRepo, branch] = /^([^:/]*)(?:\/([^:/]*))?:(.*)$/s.exec(after) ?? [];
  return {
    base: at < 0 ? undefined : text.slice(0, at),
    head: branch ?? after,
    isDirect: dots === "..",
    headOwner,
    headRepo,
  };
}

/**
 * The repository that holds the head: of those of the same network that `relatives` are, the
 * nearest. A fork of the repository comes before what it was forked from, and that before its other
 * forks.
 *
 * @throws Failure `not_found` if there is none that the caller may see.
 */
export function chooseHeadRepository(
  base: RepositoryContext,
  relatives: readonly RepositoryContext[],
  { headOwner }: ComparisonText,
): RepositoryContext {
  if (headOwner === undefined) return base;
  const distance = ({ row }: RepositoryContext): number => {
    if (row.id === base.row.id) return 0;
    if (row.parentId === base.row.id) return 1;
    if (row.id === base.row.parentId) return 2;
    return row.parentId !== null && row.parentId === base.row.parentId ? 3 : 4;
  };
  const [nearest] = relatives.toSorted((a, b) => distance(a) - distance(b) || a.row.id - b.row.id);
  if (!nearest) throw notFound();
  return nearest;
}

/** Two commits that are compared. */
export interface Revisions {
  readonly base: Revision;
  readonly head: Revision;
}

/** @throws Failure `not_found` if one of them is no commit of its repository. */
export function findRevisions(
  baseSnapshot: RepositorySnapshot,
  headSnapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  text: ComparisonText,
): Revisions {
  const base = findRevision(baseSnapshot, text.base ?? row.defaultBranch);
  const head = findRevision(headSnapshot, text.head);
  if (!base || !head) throw notFound();
  return { base, head };
}

/** How two histories differ. */
export interface Comparison {
  /** A page of the commits that only the head reaches, latest first, as `git log base..head`. */
  readonly nodes: readonly Node[];
  readonly aheadCount: number;
  readonly behindCount: number;
  /** The best common ancestor, the latest of several; undefined for histories without one. */
  readonly mergeBase: Node | undefined;
}

/** Cost: the commits between the two and what they have in common. No object is read. */
export function compareHistories(
  graph: CommitGraph,
  { base, head }: Revisions,
  { size, offset }: Slice,
): Comparison {
  const { left, right, bases } = findDivergence(graph, base.node, head.node);
  const isAhead = new Uint8Array(graph.count);
  for (const node of right) isAhead[node] = 1;
  const nodes: Node[] = [];
  let passed = 0;
  if (offset < right.length) {
    for (const node of walkByTime(graph, [head.node], (each) => isAhead[each] === 1)) {
      if (passed++ >= offset) nodes.push(node);
      if (nodes.length === size) break;
    }
  }
  const timeOf = (node: Node): number => graph.times[node] as number;
  const [mergeBase] = bases.toSorted((a, b) => timeOf(b) - timeOf(a));
  return { nodes, aheadCount: right.length, behindCount: left.length, mergeBase };
}

/**
 * The files that differ, as `git diff --numstat -M` tells them.
 *
 * @param oldTreeOid Undefined for nothing.
 * @returns Undefined where there are more than 3000, or more than 64 MB of them to be compared.
 */
export async function findChangedFiles(
  repository: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid = EMPTY_TREE_OID,
): Promise<ChangedFileEntry[] | undefined> {
  const about = ["files", oldTreeOid ?? null, newTreeOid];
  const known = await repository.results.getOrCompute(
    about,
    async () => (await workOutDifferences(repository, oldTreeOid, newTreeOid)) ?? null,
  );
  return known ?? undefined;
}

async function workOutDifferences(
  { catalog, objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
): Promise<ChangedFileEntry[] | undefined> {
  const changes = await findChanges(objects, oldTreeOid, newTreeOid);
  if (!changes) return undefined;
  let bytes = 0;
  for (const change of changes) {
    const oldOid = change.kind === "added" ? undefined : change.old.oid;
    const newOid = change.kind === "deleted" ? undefined : change.new.oid;
    for (const oid of [oldOid, newOid]) {
      const location = oid && catalog.find(oid);
      bytes += location ? catalog.sizeBytes(location) : 0;
    }
  }
  if (bytes > COMPARED_BYTES_MAX) return undefined;
  const differences: ChangedFileEntry[] = [];
  for (const change of await findRenames(objects, changes)) {
    differences.push({ change, stat: await countSides(objects, change) });
  }
  return differences;
}
