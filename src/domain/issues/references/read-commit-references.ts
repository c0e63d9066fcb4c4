import type { Ctx } from "../../../context.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { listUntil, logByTime } from "../../../git/walk/log.ts";
import type { StoredUpdate } from "../../../shapes/events/activity.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { NEW_BRANCH_COMMITS_MAX } from "../../code/git/list-pushed-commits.ts";
import { findNode } from "../../code/git/find-node.ts";
import { findReferences, type ReferredIssue } from "./find-references.ts";

/** Commits whose messages are read at once, and the references at which reading ends. */
const COMMITS_AT_ONCE = 100;
const REFERENCES_AT_ONCE = 500;
/** Commits of one update of a branch that are read: the latest. */
const COMMITS_MAX = 10_000;
/** Characters of a message that are searched, and of its first line that are kept. */
const MESSAGE_LENGTH_MAX = 100_000;
const TITLE_LENGTH_MAX = 1000;

/** A commit whose message refers to issues. */
export interface ReferringCommit {
  /** The index of the commit among those of the update, oldest first. */
  readonly index: number;
  readonly oid: Oid;
  /** The first line of its message. */
  readonly title: string;
  readonly issues: readonly ReferredIssue[];
}

/**
 * Reads some of the commits that a push added to a branch, oldest first, and finds the issues that
 * they refer to.
 *
 * For a new branch these are at most ten that no other branch had, as in Gitea: the history of
 * another service, pushed as a whole, refers to the issues of that service.
 *
 * @param from The index of the first commit to read.
 * @returns The commits, and the index at which to continue; undefined after the last one.
 */
export async function readCommitReferences(
  ctx: Ctx,
  repository: OpenRepository,
  update: Pick<StoredUpdate, "before" | "after" | "commitCount">,
  from: number,
): Promise<{ commits: ReferringCommit[]; next: number | undefined }> {
  const nodes = await listAdded(repository, update);
  const { graph, objects } = repository;
  const commits: ReferringCommit[] = [];
  let found = 0;
  let index = from;
  for (; index < nodes.length; index++) {
    if (index >= from + COMMITS_AT_ONCE || found >= REFERENCES_AT_ONCE) break;
    const node = nodes[index] as Node;
    const { message } = parseCommit(await objects.readAt(graph.location(node)));
    const text = decodeText(message).slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
    const options = { isMarkdown: false, rootUrls: [ctx.publicUrl] };
    const { issues } = findReferences(text, options);
    if (issues.length === 0) continue;
    const [title = ""] = text.split("\n", 1);
    const oid = graph.oid(node);
    commits.push({ index, oid, title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(), issues });
    found += issues.length;
  }
  return { commits, next: index < nodes.length ? index : undefined };
}

/** Lists the commits that an update added to its branch, oldest first. */
async function listAdded(
  repository: OpenRepository,
  { before, after, commitCount }: Pick<StoredUpdate, "before" | "after" | "commitCount">,
): Promise<Node[]> {
  const { graph } = repository;
  const tip = await findNode(repository, after);
  if (tip === NO_NODE) return [];
  const base = await findNode(repository, before);
  if (base === NO_NODE) {
    return listUntil(graph, tip, () => false, commitCount ?? NEW_BRANCH_COMMITS_MAX).toReversed();
  }
  const nodes: Node[] = [];
  for (const node of logByTime(graph, { tips: [tip], excluded: [base] })) {
    nodes.push(node);
    if (nodes.length === COMMITS_MAX) break;
  }
  return nodes.toReversed();
}
