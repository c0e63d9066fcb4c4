import { abbreviate } from "../../git/abbreviation.ts";
import type { Budget } from "../../git/budget.ts";
import type { ByteText } from "../../git/byte-text.ts";
import { findRenames } from "../../git/diff/renames.ts";
import { GitError } from "../../git/error.ts";
import { formatChanges } from "../../git/mail/format-changes.ts";
import { formatMail } from "../../git/mail/format-mail.ts";
import { parseCommit } from "../../git/object/commit.ts";
import { toUtf8 } from "../../git/object/reencode.ts";
import { EMPTY_TREE_OID } from "../../git/oid.ts";
import { NO_NODE, type Node } from "../../git/walk/commit-graph.ts";
import { tooLarge } from "../../lib/failure.ts";
import { codec } from "../../storage/codec.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { findChanges } from "./find-changes.ts";
import { listCommits } from "./list-commits.ts";

/** Maximum size of the formatted text, in bytes. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;
/** Maximum size of a changed file, in bytes. */
const CONTENT_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum commits of a merge that are formatted. */
const MERGED_MAX = 250;

/** Signature at the end of each mail, where git prints its version. */
const SIGNATURE = "Edgeforge" as ByteText;

/**
 * Formats a commit as `git format-patch --stdout` does, for `git am`. A merge is formatted as the commits that
 * it merged into its first parent, one mail each. Commits that change no file are omitted.
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
    for (const [at, each] of nodes.entries()) {
      const position = { number: at + 1, total: nodes.length };
      const bytesMax = TEXT_BYTES_MAX - text.length;
      const mail = await formatOne(snapshot.repository, each, position, bytesMax, budget);
      if (mail !== "") text += (text === "" ? "" : "\n") + mail;
    }
    return text as ByteText;
  });
}

/** Lists the commits to format: the commit itself, or the commits that a merge merged, oldest first. */
async function listMailed(snapshot: RepositorySnapshot, node: Node): Promise<Node[]> {
  const { graph } = snapshot.repository;
  const [first = NO_NODE, ...others] = graph.parents(node);
  if (others.length === 0) return [node];
  const range = { tips: [node], excluded: first === NO_NODE ? [] : [first] };
  const slice = { size: 2 * MERGED_MAX, offset: 0 };
  const { items, total } = await listCommits(snapshot, range, slice);
  const single = items.filter((each) => graph.parents(each).length < 2);
  if (total > items.length || single.length > MERGED_MAX) {
    throw tooLarge("the merge brings too many commits");
  }
  return single.toReversed();
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
  const oldTreeOid = parent === NO_NODE ? undefined : graph.rootOid(parent);
  try {
    const found = await findChanges(objects, oldTreeOid, graph.rootOid(node) ?? EMPTY_TREE_OID);
    if (!found) throw tooLarge("the commit changes too many files");
    if (found.length === 0) return "" as ByteText;
    const changes = await findRenames(objects, found, budget);
    const commit = toUtf8(parseCommit(await objects.readAt(graph.location(node))));
    const formatted = await formatChanges(objects, changes, {
      codec,
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
