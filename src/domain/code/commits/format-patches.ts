import { abbreviate } from "../../../git/abbreviation.ts";
import type { Budget } from "../../../git/budget.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import { GitError } from "../../../git/error.ts";
import { formatChanges } from "../../../git/mail/format-changes.ts";
import { formatMail } from "../../../git/mail/format-mail.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { toUtf8 } from "../../../git/object/reencode.ts";
import { EMPTY_TREE_OID, type Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import type { LogRange } from "../../../git/walk/log.ts";
import { tooLarge } from "../../../lib/failure.ts";
import { compressor } from "../../../storage/compressor.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { RESULT_STEPS_MAX } from "../../../storage/result-cache.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { findChanges } from "./find-changes.ts";
import { listCommits } from "./list-commits.ts";

/** Maximum size of a patch that is formatted before it is sent, and of each mail, in bytes. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;
/** Maximum size of a changed file, in bytes. */
const CONTENT_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum commits of a merge that are formatted. */
const MERGED_MAX = 250;

/** Maximum commits that are formatted while they are sent. */
const STREAMED_MAX = 10_000;
/**
 * Steps for each of these, beside the budget of a result: for its tree, which is read, and its
 * mail.
 */
const STEPS_PER_COMMIT = 50_000;

/** Signature at the end of each mail, where git prints its version. */
const SIGNATURE = "Edgeforge" as ByteText;

/**
 * Formats a commit as `git format-patch --stdout` does, for `git am`. A merge is formatted as the
 * commits that it merged into its first parent, one mail each. Commits that change no file are
 * omitted.
 *
 * The result is cached, with the abbreviated ids that were unique when it was formatted.
 *
 * @throws Failure `too_large` for more than 3000 changed files, 16 MB of text, a file of more than
 * 4 MB, a merge of more than 250 commits, or more work than the budget of a result.
 */
export function formatPatches(snapshot: RepositorySnapshot, node: Node): Promise<Uint8Array> {
  const { results, graph } = snapshot.repository;
  return results.getOrComputeText(["patch", graph.oid(node)], async (budget) => {
    const nodes = await listMailed(snapshot, node);
    let text = "";
    for await (const mail of mailsOf(snapshot.repository, nodes, budget)) {
      text += mail;
      if (text.length > TEXT_BYTES_MAX) throw tooLarge("the patch is too large");
    }
    return text as ByteText;
  });
}

/**
 * Formats the commits of a range in the same way, without its merges, mail by mail while they are
 * sent.
 *
 * @throws Failure `too_large` for more than 10,000 commits. What is too large of a single commit,
 * as in `formatPatches`, and more work than the budget allows also end a stream that has begun.
 */
export async function streamPatches(
  snapshot: RepositorySnapshot,
  range: LogRange,
): Promise<AsyncGenerator<Uint8Array>> {
  const { repository } = snapshot;
  const { graph, results } = repository;
  const oidsOf = (nodes: readonly Node[]): Oid[] => nodes.map((node) => graph.oid(node));
  const slice = { size: STREAMED_MAX, offset: 0 };
  const { items, total } = await listCommits(snapshot, range, slice);
  if (total > STREAMED_MAX) throw tooLarge("there are too many commits");
  const nodes = withoutMerges(graph, items);
  return results.streamText(
    ["patches", oidsOf(range.tips), oidsOf(range.excluded ?? [])],
    (budget) => mailsOf(repository, nodes, budget),
    RESULT_STEPS_MAX + STEPS_PER_COMMIT * nodes.length,
  );
}

/**
 * Lists the commits to format: the commit itself, or the commits that a merge merged, oldest first.
 */
async function listMailed(snapshot: RepositorySnapshot, node: Node): Promise<Node[]> {
  const { graph } = snapshot.repository;
  const [first = NO_NODE, ...others] = graph.parents(node);
  if (others.length === 0) return [node];
  const range = { tips: [node], excluded: first === NO_NODE ? [] : [first] };
  const slice = { size: 2 * MERGED_MAX, offset: 0 };
  const { items, total } = await listCommits(snapshot, range, slice);
  const single = withoutMerges(graph, items);
  if (total > items.length || single.length > MERGED_MAX) {
    throw tooLarge("the merge brings too many commits");
  }
  return single;
}

/** The commits with at most one parent, oldest first. */
const withoutMerges = (graph: CommitGraph, nodes: readonly Node[]): Node[] =>
  nodes.filter((each) => graph.parents(each).length < 2).toReversed();

async function* mailsOf(
  repository: OpenRepository,
  nodes: readonly Node[],
  budget: Budget,
): AsyncGenerator<ByteText> {
  let isFirst = true;
  for (const [at, node] of nodes.entries()) {
    const position = { number: at + 1, total: nodes.length };
    const mail = await formatOne(repository, node, position, TEXT_BYTES_MAX, budget);
    if (mail === "") continue;
    yield `${isFirst ? "" : "\n"}${mail}` as ByteText;
    isFirst = false;
  }
}

async function formatOne(
  repository: OpenRepository,
  node: Node,
  position: { number: number; total: number },
  bytesMax: number,
  budget: Budget,
): Promise<ByteText> {
  const { catalog, graph } = repository;
  const objects = repository.objects.within(budget);
  const [parent = NO_NODE] = graph.parents(node);
  const oldTreeOid = parent === NO_NODE ? undefined : await graph.loadRootOid(parent);
  try {
    const newTreeOid = (await graph.loadRootOid(node)) ?? EMPTY_TREE_OID;
    const found = await findChanges(objects, oldTreeOid, newTreeOid);
    if (!found) throw tooLarge("the commit changes too many files");
    if (found.length === 0) return "" as ByteText;
    const changes = await findRenames(objects, found, budget);
    const commit = toUtf8(parseCommit(await objects.readAt(graph.location(node))));
    const formatted = await formatChanges(objects, changes, {
      compressor,
      abbreviate: (oid) => abbreviate(catalog, oid),
      contentBytesMax: CONTENT_BYTES_MAX,
      patchBytesMax: bytesMax,
      budget,
    });
    const commitOid = graph.oid(node);
    return formatMail({ commitOid, commit, ...position, ...formatted, signature: SIGNATURE });
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") throw tooLarge(error.message);
    throw error;
  }
}
