import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { type Commit, parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { countWalk, listUntil, walkByTime } from "../../../git/walk/log.ts";
import { markReachable } from "../../../git/walk/reachable.ts";
import { pause } from "../../../lib/time-slice.ts";
import type { StoredCommit, StoredUpdate } from "../../../shapes/events/activity.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { MadeUpdate } from "../../../storage/repository-records.ts";

/**
 * The commits that a push added to a branch. A new branch always has a count, and may have nothing
 * else.
 */
export type PushedCommits = Pick<
  StoredUpdate,
  "commits" | "commitCount" | "head" | "base" | "hasNoReferences"
>;

/** Distinguishes the commits of a push from commits that the repository had. */
export interface PushOrigin {
  /**
   * The index of the push's pack in the catalog; -1 if it had none, or if the pack was merged
   * since.
   */
  readonly packNumber: number;
  /** The ids that branches pointed at before the push; not needed if it created no branch. */
  readonly earlierHeads: readonly Oid[];
  /** The full name of the branch that HEAD names. */
  readonly head: string | null;
}

/** Maximum branches of a push whose commits are listed, and maximum commits listed per branch. */
const BRANCHES_MAX = 5;
const COMMITS_MAX = 5;
/** Steps that a new branch counts. */
const BRANCH_STEPS = 2000;
/** Maximum commits that are counted as new on a new branch, as in Gitea. */
export const NEW_BRANCH_COMMITS_MAX = 10;
/** Maximum stored characters of a commit message, and of a name or an address. */
const MESSAGE_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 255;

/** The commits of a branch, latest first, before they are read. */
interface Counted {
  /** At most as many as are listed. */
  readonly oids: readonly Oid[];
  readonly commitCount: number;
  readonly base?: Oid;
}

/** Matches any text with a reference to an issue: `findReferences` finds none in other texts. */
const REFERENCE = /[#!]\d|\/(?:issues|pulls)\/\d/;

/**
 * Lists the commits of a push by branch: for a new branch those that no other branch had, and
 * otherwise those in the push's own pack, which the repository did not have before.
 *
 * Feeds store them with the event, since finding them when a feed page is read would open each
 * repository on it.
 *
 * Cost: a walk of the pack's own commits, or of all commits if the push created a branch, and one
 * read per listed commit.
 */
export async function listPushedCommits(
  repository: OpenRepository,
  origin: PushOrigin,
  updates: readonly MadeUpdate[],
): Promise<Map<string, PushedCommits>> {
  const { objects } = repository;
  const branches = updates.flatMap(({ ref, oldOid, newOid }) =>
    newOid !== null && ref.startsWith("refs/heads/") ? [{ ref, oldOid, newOid }] : [],
  );
  const listed = branches.slice(0, BRANCHES_MAX);
  const onNewBranches = await countOnNewBranches(repository, origin, branches);
  const counted = new Map([...onNewBranches, ...countInPack(repository, origin, listed)]);
  const read = async (oid: Oid): Promise<ReadCommit> =>
    readCommit(oid, (await objects.readObject(oid))?.content);
  const pushed = new Map<string, PushedCommits>();
  for (const [ref, { commitCount, base }] of counted) {
    const addsNone = commitCount === 0 && onNewBranches.has(ref);
    pushed.set(ref, {
      commitCount,
      ...(base !== undefined && { base }),
      ...(addsNone && { hasNoReferences: true }),
    });
  }
  for (const { ref, oldOid, newOid } of listed) {
    const { oids = [], commitCount } = counted.get(ref) ?? {};
    const commits = await Promise.all(oids.map(read));
    const head = commits.length === 0 && (await read(newOid));
    // Behind any other parent are commits that the repository had, and that the branch may not have
    // had.
    const isOfBranch = (parent: Oid): boolean => parent === oldOid || oids.includes(parent);
    const areAll =
      commits.length === commitCount &&
      (oldOid === null || commits.every(({ parentOids }) => parentOids.every(isOfBranch)));
    const hasNoReferences =
      areAll && commits.length > 0 && commits.every(({ message }) => !REFERENCE.test(message));
    pushed.set(ref, {
      ...pushed.get(ref),
      commits: commits.map(({ stored }) => stored),
      ...(head && { head: head.stored }),
      ...(hasNoReferences && { hasNoReferences }),
    });
  }
  return pushed;
}

/** The commits of a push that created the first branch with one commit. */
export function describeFirstCommit(oid: Oid, content: Uint8Array): PushedCommits {
  const { stored, message } = readCommit(oid, content);
  const hasNoReferences = !REFERENCE.test(message);
  return { commitCount: 1, commits: [stored], ...(hasNoReferences && { hasNoReferences }) };
}

/** A branch that a push created or updated. */
type PushedBranch = MadeUpdate & { readonly newOid: Oid };

/**
 * Counts the commits of new branches that no branch had, neither before the push nor by another of
 * its updates: a commit that is on several new branches counts for the default branch, else for the
 * first of them.
 *
 * As in Gitea, the count ends at the first commit that another branch had, and at 10.
 */
async function countOnNewBranches(
  { graph }: OpenRepository,
  { earlierHeads, head }: PushOrigin,
  branches: readonly PushedBranch[],
): Promise<Map<string, Counted>> {
  const counted = new Map<string, Counted>();
  const created = branches.filter(({ oldOid }) => oldOid === null);
  if (created.length === 0) return counted;
  const updated = branches.filter(({ oldOid }) => oldOid !== null);
  const knownOids = [...earlierHeads, ...updated.map(({ newOid }) => newOid)];
  const known = markReachable(
    graph,
    knownOids.map((oid) => graph.find(oid)),
  );
  const defaultFirst = created.toSorted((a, b) => Number(b.ref === head) - Number(a.ref === head));
  for (const { ref, newOid } of defaultFirst) {
    const turn = pause(BRANCH_STEPS);
    if (turn) await turn;
    const tip = graph.find(newOid);
    const nodes = listUntil(graph, tip, (node) => known[node] === 1, NEW_BRANCH_COMMITS_MAX);
    markReachable(graph, [tip], known);
    const oldest = nodes.at(-1);
    const base = oldest === undefined ? undefined : firstParent(graph, oldest);
    counted.set(ref, {
      oids: nodes.slice(0, COMMITS_MAX).map((node) => graph.oid(node)),
      commitCount: nodes.length,
      ...(base !== undefined && { base }),
    });
  }
  return counted;
}

/** The id of a commit's first parent; undefined if it has none, or if it is not stored. */
export function firstParent(graph: CommitGraph, node: Node): Oid | undefined {
  const [parent = NO_NODE] = graph.parents(node);
  return parent === NO_NODE ? undefined : graph.oid(parent);
}

/** Counts the commits of updated branches that the push's pack contains. */
function countInPack(
  repository: OpenRepository,
  { packNumber }: PushOrigin,
  branches: readonly PushedBranch[],
): Map<string, Counted> {
  const { catalog } = repository;
  const counted = new Map<string, Counted>();
  const updated = branches.filter(({ oldOid }) => oldOid !== null);
  const pack = catalog.packs[packNumber];
  if (!pack || updated.length === 0) return counted;
  const graph = repository.graphOf(pack);
  const isNew = (node: Node): boolean => catalog.find(graph.oid(node))?.pack === packNumber;
  for (const { ref, newOid } of updated) {
    const tip = graph.find(newOid);
    if (tip === NO_NODE) continue;
    const oids: Oid[] = [];
    for (const node of walkByTime(graph, [tip], isNew)) {
      oids.push(graph.oid(node));
      if (oids.length === COMMITS_MAX) break;
    }
    counted.set(ref, { oids, commitCount: countWalk(graph, [tip], isNew) });
  }
  return counted;
}

interface ReadCommit {
  readonly stored: StoredCommit;
  /** The whole message. */
  readonly message: string;
  readonly parentOids: readonly Oid[];
}

function readCommit(oid: string, content: Uint8Array | undefined): ReadCommit {
  if (!content) throw new Error(`commit ${oid} of a push is not stored`);
  const commit = parseCommit(content);
  const message = decodeText(commit.message);
  return { message, parentOids: commit.parentOids, stored: toStoredCommit(oid, message, commit) };
}

function toStoredCommit(
  oid: string,
  message: string,
  { author, committer }: Pick<Commit, "author" | "committer">,
): StoredCommit {
  return {
    oid,
    message: message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    authorName: decodeName(author.name),
    authorEmail: decodeName(author.email),
    committerName: decodeName(committer.name),
    committerEmail: decodeName(committer.email),
    timeSeconds: author.timeSeconds <= TIME_SECONDS_MAX ? author.timeSeconds : 0,
  };
}

const decodeName = (text: ByteText): string =>
  decodeText(text).slice(0, NAME_LENGTH_MAX).toWellFormed();

/** The last second of the year 9999. */
const TIME_SECONDS_MAX = 253_402_300_799;
