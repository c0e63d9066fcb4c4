import { type ByteText, decodeText } from "../../git/byte-text.ts";
import { parseCommit } from "../../git/object/commit.ts";
import { NO_NODE, type Node } from "../../git/walk/commit-graph.ts";
import { countWalk, walkByTime } from "../../git/walk/log.ts";
import type { StoredCommit } from "../../shapes/events/activity.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { MadeUpdate } from "../../storage/repository-records.ts";

/** The commits that a push added to a branch. */
export interface PushedCommits {
  /** The latest commits, at most 5. */
  readonly commits: readonly StoredCommit[];
  /** Number of all pushed commits of the branch. */
  readonly commitCount: number;
}

/** Maximum branches of a push whose commits are listed, and maximum commits listed per branch. */
const BRANCHES_MAX = 5;
const COMMITS_MAX = 5;
/** Maximum stored characters of a commit message, and of a name or an address. */
const MESSAGE_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 255;

/**
 * Lists the commits of a push by branch. These are the commits in the push's own pack, which the repository did
 * not have before.
 *
 * Feeds store them with the event, since finding them when a feed page is read would open each repository on it.
 *
 * Cost: a walk of the pack's own commits, and one read per listed commit.
 *
 * @param packNumber The index of the push's pack in the catalog.
 */
export async function listPushedCommits(
  repository: OpenRepository,
  packNumber: number,
  updates: readonly MadeUpdate[],
): Promise<Map<string, PushedCommits>> {
  const { catalog, objects } = repository;
  const pack = catalog.packs[packNumber];
  const pushed = new Map<string, PushedCommits>();
  const branches = updates.filter(({ ref, newOid }) => newOid && ref.startsWith("refs/heads/"));
  if (!pack || branches.length === 0) return pushed;
  const graph = repository.graphOf(pack);
  const isNew = (node: Node): boolean => catalog.find(graph.oid(node))?.pack === packNumber;
  for (const { ref, newOid } of branches.slice(0, BRANCHES_MAX)) {
    const tip = newOid === null ? NO_NODE : graph.find(newOid);
    if (tip === NO_NODE) continue;
    const latest: Promise<StoredCommit>[] = [];
    for (const node of walkByTime(graph, [tip], isNew)) {
      if (latest.length === COMMITS_MAX) break;
      const oid = graph.oid(node);
      latest.push(objects.readObject(oid).then((stored) => toStoredCommit(oid, stored?.content)));
    }
    pushed.set(ref, {
      commits: await Promise.all(latest),
      commitCount: countWalk(graph, [tip], isNew),
    });
  }
  return pushed;
}

function toStoredCommit(oid: string, content: Uint8Array | undefined): StoredCommit {
  if (!content) throw new Error(`a push brought ${oid}, which is not there`);
  const { author, committer, message } = parseCommit(content);
  return {
    oid,
    message: decodeText(message).slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    authorName: decodeName(author.name),
    authorEmail: decodeName(author.email),
    committerName: decodeName(committer.name),
    committerEmail: decodeName(committer.email),
    timeSeconds: Math.min(author.timeSeconds, TIME_SECONDS_MAX),
  };
}

const decodeName = (text: ByteText): string =>
  decodeText(text).slice(0, NAME_LENGTH_MAX).toWellFormed();

/** The last second of the year 9999. */
const TIME_SECONDS_MAX = 253_402_300_799;
