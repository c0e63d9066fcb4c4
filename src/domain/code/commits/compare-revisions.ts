import { type Budget, finishInTurns, withoutLimit } from "../../../git/budget.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { walkByTime } from "../../../git/walk/log.ts";
import { divergenceInTurns, latestOf } from "../../../git/walk/merge-bases.ts";
import { notFound } from "../../../lib/failure.ts";
import type { ChangedFileEntry } from "../../../shapes/git/changed-file.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findRevision, type Revision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { Slice } from "../../slice.ts";
import { countSides, findChanges } from "./find-changes.ts";

/** Maximum total size of the contents that a comparison diffs line by line, in bytes. */
const COMPARED_BYTES_MAX = 64 * 1024 * 1024;

/** A parsed comparison expression. */
export interface ComparisonText {
  /** Undefined for the default branch. */
  readonly base: string | undefined;
  readonly head: string;
  /**
   * With two dots: files are compared between the two commits themselves, not with their merge
   * base.
   */
  readonly isDirect: boolean;
  /** The owner of the head repository, and optionally its name, if the expression contains them. */
  readonly headOwner: string | undefined;
  readonly headRepo: string | undefined;
}

/**
 * Parses `base...head` or `base..head`. A single `head` is compared with the default branch. A head
 * in another repository is prefixed with its owner, or its owner and name: `owner:branch`,
 * `owner/name:branch`.
 */
export function parseComparison(text: string): ComparisonText {
  const dots = ["...", ".."].find((each) => text.includes(each));
  const at = dots === undefined ? -1 : text.indexOf(dots);
  const after = dots === undefined ? text : text.slice(at + dots.length);
  // Ref names can't contain a colon.
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
 * Chooses the repository of the head: the nearest of `relatives`, the matching repositories of the
 * same fork network. Forks of the base repository precede its parent, which precedes the parent's
 * other forks.
 *
 * @throws Failure `not_found` if no matching repository is visible to the caller.
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

/** The two revisions of a comparison. */
export interface Revisions {
  readonly base: Revision;
  readonly head: Revision;
}

/**
 * @throws Failure `not_found` if either revision does not resolve to a commit of its repository.
 */
export async function findRevisions(
  baseSnapshot: RepositorySnapshot,
  headSnapshot: RepositorySnapshot,
  { row }: RepositoryContext,
  text: ComparisonText,
): Promise<Revisions> {
  const base = await findRevision(baseSnapshot, text.base ?? `refs/heads/${row.defaultBranch}`);
  const head = await findRevision(headSnapshot, text.head);
  if (!base) throw noSuchRef(baseSnapshot);
  if (!head) throw noSuchRef(headSnapshot);
  return { base, head };
}

/** The differences between two histories. */
export interface Comparison {
  /** A page of the listed commits, latest first. */
  readonly nodes: readonly Node[];
  /**
   * The number of listed commits: of those reachable from the head only, as `git log base..head`
   * lists them. As in Gitea, none for unrelated histories, unless they are compared directly.
   */
  readonly commitCount: number;
  readonly aheadCount: number;
  readonly behindCount: number;
  /** The merge base, the latest if there are several; undefined for unrelated histories. */
  readonly mergeBase: Node | undefined;
}

/**
 * Compares two histories.
 *
 * Cost: walks the commits back to the common history. Reads no object.
 *
 * @param isDirect Whether the base itself is compared, not the merge base: with two dots.
 */
export async function compareHistories(
  { graph, objects }: Pick<OpenRepository, "graph" | "objects">,
  { base, head }: Revisions,
  { size, offset }: Slice,
  isDirect: boolean,
): Promise<Comparison> {
  const { left, right, bases } = await finishInTurns(
    divergenceInTurns(graph, base.node, head.node),
    withoutLimit(objects.budget),
  );
  const mergeBase = latestOf(graph, bases);
  const commitCount = mergeBase === undefined && !isDirect ? 0 : right.length;
  const isAhead = new Uint8Array(graph.count);
  for (const node of right) isAhead[node] = 1;
  const nodes: Node[] = [];
  let passed = 0;
  if (offset < commitCount) {
    for (const node of walkByTime(graph, [head.node], (each) => isAhead[each] === 1)) {
      if (passed++ >= offset) nodes.push(node);
      if (nodes.length === size) break;
    }
  }
  return { nodes, commitCount, aheadCount: right.length, behindCount: left.length, mergeBase };
}

/**
 * Lists the files that differ between two trees, as `git diff --numstat -M` does. Within the budget
 * of a result, a file whose comparison takes too much counts as replaced whole, and the lines of
 * files for which nothing is left are not counted.
 *
 * @param oldTreeOid Undefined for the empty tree.
 * @param whitespace Files that differ in nothing else than white space that does not count are left
 *   out.
 * @returns Undefined for more than 3000 changed files or more than 64 MB to diff.
 */
export async function findChangedFiles(
  repository: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid = EMPTY_TREE_OID,
  whitespace: Whitespace = "show-all",
): Promise<ChangedFileEntry[] | undefined> {
  const cached = await repository.results.getOrCompute(
    ["files", oldTreeOid ?? null, newTreeOid, ...(whitespace === "show-all" ? [] : [whitespace])],
    async (budget) =>
      (await computeDifferences(repository, oldTreeOid, newTreeOid, whitespace, budget)) ?? null,
  );
  return cached ?? undefined;
}

async function computeDifferences(
  { catalog, objects }: OpenRepository,
  oldTreeOid: Oid | undefined,
  newTreeOid: Oid,
  whitespace: Whitespace,
  budget: Budget,
): Promise<ChangedFileEntry[] | undefined> {
  const counted = objects.within(budget);
  const changes = await findChanges(counted, oldTreeOid, newTreeOid);
  if (!changes) return undefined;
  let bytes = 0;
  for (const change of changes) {
    const oldOid = change.kind === "added" ? undefined : change.old.oid;
    const newOid = change.kind === "deleted" ? undefined : change.new.oid;
    for (const oid of [oldOid, newOid]) {
      if (oid !== undefined) bytes += (await catalog.findSized(oid))?.sizeBytes ?? 0;
    }
  }
  if (bytes > COMPARED_BYTES_MAX) return undefined;
  const differences: ChangedFileEntry[] = [];
  for (const change of await findRenames(counted, changes, budget)) {
    const stat = await countSides(counted, change, budget, whitespace);
    if (whitespace === "show-all" || !isUnchanged({ change, stat })) {
      differences.push({ change, stat });
    }
  }
  return differences;
}

/** True for a text of which no line differs, with the same path and mode. */
function isUnchanged({ change, stat }: ChangedFileEntry): boolean {
  if (change.kind !== "modified" || change.old.mode !== change.new.mode) return false;
  return stat?.added === 0 && stat.removed === 0;
}
