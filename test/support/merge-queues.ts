import { and, eq, inArray, max } from "drizzle-orm";

import {
  events,
  mergeQueues,
  type ProtectionSettings,
  pulls,
  timelineEntries,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import type { Answer, Sending } from "./call.ts";
import { History } from "./commits.ts";
import { drawConsequences, silentBindings } from "./consequences.ts";
import { db } from "./db.ts";
import { readBranch } from "./git.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";
import { makeRule } from "./protections.ts";
import { makePull, type TestPull } from "./pulls.ts";
import { refsOf, storeRefs } from "./push.ts";
import { serviceWith } from "./service.ts";

/** The API without messages to queues: what follows is left to `drawConsequences`. */
export const quietly: (method: string, path: string, sending?: Sending) => Promise<Answer> =
  serviceWith({}, silentBindings());

/** A repository whose branch `main` has a merge queue, with pull requests into it. */
export interface QueuedRepo {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  readonly rootOid: string;
  readonly pulls: readonly TestPull[];
  /** The path of the repository in the API. */
  readonly own: string;
}

/** The files that a pull request adds to those of the root, by its index from 0. */
type FilesOf = (at: number) => Readonly<Record<string, string>>;

const ROOT = { a: "1\n" };

/**
 * Makes a branch with a merge queue that requires the check `ci`, and pull requests of `topic-N`,
 * past the API; each adds a file of its own.
 */
export async function makeQueuedRepo(
  count: number,
  settings: Partial<ProtectionSettings> = {},
  filesOf: FilesOf = (at) => ({ [`f${at}`]: `${at}\n` }),
): Promise<QueuedRepo> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  await makeRule(repo, {
    settings: {
      isMergeQueueEnabled: true,
      isStatusCheckEnabled: true,
      statusContexts: ["ci"],
      ...settings,
    },
  });
  const history = new History();
  const rootOid = history.commit({ files: ROOT, message: "Root\n" });
  const refs = [{ ref: "refs/heads/main", oid: rootOid }];
  const made: TestPull[] = [];
  for (let at = 0; at < count; at++) {
    const files = { ...ROOT, ...filesOf(at) };
    const headOid = history.commit({ files, parents: [rootOid], message: `Add ${at}\n` });
    const headBranch = `topic-${at}`;
    const fields = { headOid, headBranch, checkedBaseOid: rootOid, mergeBaseOid: rootOid };
    const pull = await makePull(repo, { ...fields, changedFiles: 1 }, { title: `Pull ${at}` });
    refs.push({ ref: `refs/heads/${headBranch}`, oid: headOid });
    refs.push({ ref: `refs/pull/${pull.number}/head`, oid: headOid });
    made.push(pull);
  }
  await storeRefs(repo, refs, history.build());
  return { owner, repo, rootOid, pulls: made, own: `/repos/${repo.owner}/${repo.name}` };
}

/** Queues pull requests one after the other, and asserts that they are. */
export async function enqueueAll(
  { own, owner, pulls: all }: QueuedRepo,
  json: object = { Do: "merge" },
): Promise<void> {
  for (const { number } of all) {
    const answer = await quietly("POST", `${own}/pulls/${number}/queue`, { as: owner, json });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }
}

/** The branch with the result that a queue tests; undefined for none. */
export async function findResult(
  { repo }: Pick<QueuedRepo, "repo">,
  base = "main",
): Promise<{ branch: string; oid: string } | undefined> {
  const prefix = `refs/heads/queue/${base}/`;
  const [first, ...others] = (await refsOf(repo)).filter(({ name }) => name.startsWith(prefix));
  if (others.length > 0) throw new Error(`${base} has several branches with results`);
  return first && { branch: first.name.slice("refs/heads/".length), oid: first.oid };
}

export const report = (
  { own, owner }: QueuedRepo,
  oid: string,
  state: string,
  context = "ci",
): Promise<Answer> =>
  quietly("POST", `${own}/statuses/${oid}`, { as: owner, json: { state, context } });

/** Judges a result by its files. */
export type Judge = (files: Readonly<Record<string, string>>) => "success" | "failure";

/**
 * Lets a CI system check results until the queue of `main` is empty.
 *
 * @param rounds Maximum results to check.
 * @returns The number of results that were checked.
 */
export async function runChecks(queued: QueuedRepo, judge: Judge, rounds = 100): Promise<number> {
  let now: number | undefined;
  for (let round = 0; round < rounds; round++) {
    await drawConsequences(undefined, now);
    now = undefined;
    const result = await findResult(queued);
    if (!result) {
      if (await isEmpty(queued)) return round;
      // Events that a job of another test has leased or postponed are due later.
      now = await findLastDue(queued);
      continue;
    }
    const { files } = await readBranch(queued.repo.id, result.branch);
    await report(queued, result.oid, judge(files));
  }
  throw new Error(`the queue is not empty after ${rounds} results`);
}

/** A time at which all pending events of a repository are due; undefined for none. */
async function findLastDue({ repo }: QueuedRepo): Promise<number | undefined> {
  const [last] = await db
    .select({ at: max(events.consequencesAt) })
    .from(events)
    .where(eq(events.repoId, repo.id));
  return last?.at == null ? undefined : Math.max(last.at, Date.now()) + 1000;
}

/** Whether nothing is left of the queues of a repository. */
export async function isEmpty({ repo }: QueuedRepo): Promise<boolean> {
  const rows = await db.select().from(mergeQueues).where(eq(mergeQueues.repoId, repo.id));
  return rows.length === 0;
}

/**
 * The indexes of the pull requests whose merges `main` has, in the order in which they were made.
 */
export async function listMerged({ owner, repo }: QueuedRepo): Promise<number[]> {
  const path = `/repos/${repo.owner}/${repo.name}/commits?sha=main&stat=false&limit=50`;
  const all: { commit: { message: string } }[] = [];
  for (let page = 1, size = 50; size === 50; page++) {
    const { body } = await quietly("GET", `${path}&page=${page}`, { as: owner });
    all.push(...body);
    size = body.length;
  }
  return all
    .flatMap(({ commit }) => /^Merge pull request 'Pull (\d+)'/.exec(commit.message)?.[1] ?? [])
    .map(Number)
    .toReversed();
}

/** The row of a pull request. */
export const rowOf = async ({ id }: TestPull) =>
  only(await db.select().from(pulls).where(eq(pulls.issueId, id)));

const KINDS = ["pull_enqueued", "pull_dequeued", "merge_pull"] as const;

/** The timeline entries of a pull request about its queue and its merge. */
export async function timelineOf({ id }: TestPull): Promise<string[]> {
  const rows = await db
    .select()
    .from(timelineEntries)
    .where(and(eq(timelineEntries.issueId, id), inArray(timelineEntries.kind, KINDS)))
    .orderBy(timelineEntries.id);
  return rows.map(({ kind, body }) => (body === "" ? kind : `${kind} ${body}`));
}
