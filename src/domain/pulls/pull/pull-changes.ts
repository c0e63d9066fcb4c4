import type { Ctx } from "../../../context.ts";
import type { Pull } from "../../../db/schema/index.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import type { LogRange } from "../../../git/walk/log.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { invalidField, tooLarge } from "../../../lib/failure.ts";
import type { StreamedText } from "../../../lib/streamed-text.ts";
import type { ChangedFileEntry } from "../../../shapes/git/changed-file.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { findChangedFiles } from "../../code/commits/compare-revisions.ts";
import { type BinaryFiles, streamDiff } from "../../code/commits/format-diff.ts";
import { streamPatches } from "../../code/commits/format-patches.ts";
import { type OpenPull, openPull } from "./open-pull.ts";

/**
 * Lists the files that a pull request changes since its merge base, in the order of their paths.
 *
 * @param skipTo The path at which the list begins.
 * @throws Failure `too_large` for more than 3000 files or 64 MB of contents, `invalid` if the file
 * at `skipTo` is not changed.
 */
export async function listChangedFiles(
  { snapshot: { repository }, head, mergeBase }: OpenPull,
  whitespace: Whitespace,
  skipTo: string | undefined,
): Promise<readonly ChangedFileEntry[]> {
  const { graph } = repository;
  const oldTreeOid = mergeBase === undefined ? undefined : await graph.loadRootOid(mergeBase);
  const newTreeOid = await graph.loadRootOid(head);
  const files = await findChangedFiles(repository, oldTreeOid, newTreeOid, whitespace);
  if (!files) throw tooLarge("the pull request changes too many files");
  if (skipTo === undefined) return files;
  const path = encodeText(skipTo);
  const at = files.findIndex(({ change }) => {
    return (change.kind === "deleted" ? change.old : change.new).path === path;
  });
  if (at < 0) throw invalidField("skip-to", "must be the path of a changed file");
  return files.slice(at);
}

/**
 * The commits that a pull request brings: those of its head that the base did not have, for a
 * merged one before it was merged.
 */
export function commitRangeOf({ pull }: PullContext, opened: OpenPull): LogRange {
  const { graph } = opened.snapshot.repository;
  const { head, mergeBase } = opened;
  const excluded = mergeBase === undefined ? [] : [mergeBase];
  const base = pull.mergedAt === null ? opened.base : findMergedBase(graph, pull);
  if (base === undefined || base === NO_NODE) return { tips: [head], excluded };
  // A merged base that contains the head already is no base of the changes.
  const isWithHead = pull.mergedAt !== null && findDivergence(graph, base, head).right.length === 0;
  return { tips: [head], excluded: isWithHead ? excluded : [...excluded, base] };
}

/** The base before the merge, which is not known of each imported pull request. */
const findMergedBase = (graph: CommitGraph, { mergedBaseOid }: Pull): Node | undefined =>
  mergedBaseOid === "" ? undefined : graph.find(mergedBaseOid);

/** The changes of a pull request as text. */
export type ChangesFormat = "diff" | "patch";

/**
 * Formats the changes of a pull request as `git diff base...head` prints them, or its commits as
 * `git format-patch` does.
 *
 * @throws Failure as `openPull`; the text, when it is opened, as `streamDiff` and `streamPatches`.
 */
export async function findChangesText(
  ctx: Ctx,
  pull: PullContext,
  format: ChangesFormat,
  binaryFiles: BinaryFiles,
): Promise<StreamedText> {
  const opened = await openPull(ctx, pull);
  const { snapshot, head, mergeBase } = opened;
  const { graph } = snapshot.repository;
  const oidsOf = (nodes: readonly Node[]): Oid[] => nodes.map((node) => graph.oid(node));
  if (format === "patch") {
    const range = commitRangeOf(pull, opened);
    return {
      tag: [format, ...oidsOf([head, ...(range.excluded ?? [])])].join("-"),
      open: () => streamPatches(snapshot, range),
    };
  }
  const oldTreeOid = mergeBase === undefined ? undefined : await graph.loadRootOid(mergeBase);
  const newTreeOid = (await graph.loadRootOid(head)) ?? EMPTY_TREE_OID;
  return {
    tag: [format, binaryFiles, oldTreeOid ?? "", newTreeOid].join("-"),
    open: () => streamDiff(snapshot.repository, oldTreeOid, newTreeOid, binaryFiles),
  };
}
