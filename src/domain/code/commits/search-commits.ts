import { GitError } from "../../../git/error.ts";
import { type ByteText } from "../../../git/byte-text.ts";
import { type Commit, parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { walkByTime } from "../../../git/walk/log.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** Commits of one result, and commits that are read for it. */
const FOUND_MAX = 50;
const SEARCHED_MAX = 5000;

/** Steps to come to a commit, and to decode, fold and search a byte of one. */
const STEPS_PER_COMMIT = 50;
const STEPS_PER_BYTE = 1.5;

/** The commits that a search found, of those that it looked at. */
export interface CommitSearch {
  /** Latest first. */
  readonly oids: readonly Oid[];
  readonly searchedCount: number;
  /** The commit after which a search goes on; undefined once the whole history was searched. */
  readonly next: Oid | undefined;
}

/**
 * Searches a history, latest first, for commits whose message has all words of a text, without
 * regard to case. Words may also be the beginning of an id, `author:` and `committer:` with a part
 * of a name or address, and `after:` and `before:` with a day in UTC.
 *
 * Cost: a read per commit, within the budget of a result and up to 5,000, which is cached by the
 * tips.
 *
 * @param after The commit after which the search begins; "" for the start.
 */
export async function searchCommits(
  repository: OpenRepository,
  tips: readonly Node[],
  text: string,
  after: string,
): Promise<CommitSearch> {
  const { graph, results } = repository;
  const query = parseQuery(text);
  const key = ["commit search", tips.map((tip) => graph.oid(tip)), text, after] as const;
  return results.getOrCompute<CommitSearch>(key, async (budget) => {
    const objects = repository.objects.within(budget);
    const oids: Oid[] = [];
    let [searchedCount, last, isBefore] = [0, after, after !== ""];
    const isFull = (): boolean => oids.length === FOUND_MAX || searchedCount === SEARCHED_MAX;
    for (const node of walkByTime(graph, tips, () => true)) {
      if (isFull()) return { oids, searchedCount, next: last };
      budget.consume(STEPS_PER_COMMIT);
      const turn = budget.pause();
      if (turn) await turn;
      const oid = graph.oid(node);
      if (!isBefore) {
        const content = await read(objects.readAt(graph.location(node)));
        if (!content) return { oids, searchedCount, next: last };
        budget.consume(STEPS_PER_BYTE * content.length);
        if (isMatch(query, oid, parseCommit(content))) oids.push(oid);
        searchedCount++;
        last = oid;
      }
      isBefore &&= oid !== after;
    }
    return { oids, searchedCount, next: undefined };
  });
}

/** The content of an object; undefined once the budget is exhausted. */
async function read(reading: Promise<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof GitError && error.code === "limit") return undefined;
    throw error;
  }
}

/** What a text searches for, in lower case. */
interface Query {
  readonly words: readonly string[];
  readonly authors: readonly string[];
  readonly committers: readonly string[];
  /** Commits are not before the first time, and before the second. */
  readonly sinceSeconds: number;
  readonly untilSeconds: number;
}

function parseQuery(text: string): Query {
  const query = {
    words: [] as string[],
    authors: [] as string[],
    committers: [] as string[],
    sinceSeconds: Number.NEGATIVE_INFINITY,
    untilSeconds: Number.POSITIVE_INFINITY,
  };
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, key, value = ""] = /^(author|committer|after|before):(.+)$/.exec(word) ?? [];
    const seconds = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) / 1000 : Number.NaN;
    if (key === "author") query.authors.push(value);
    else if (key === "committer") query.committers.push(value);
    else if (key === "after" && !Number.isNaN(seconds)) query.sinceSeconds = seconds;
    else if (key === "before" && !Number.isNaN(seconds)) query.untilSeconds = seconds;
    else query.words.push(word);
  }
  return query;
}

function isMatch(query: Query, oid: Oid, commit: Commit): boolean {
  const { timeSeconds } = commit.committer;
  if (timeSeconds < query.sinceSeconds || timeSeconds >= query.untilSeconds) return false;
  const fold = (text: string): string => decodeCommitText(commit, text as ByteText).toLowerCase();
  const message = fold(commit.message);
  const [author, committer] = [commit.author, commit.committer].map(({ name, email }) =>
    fold(`${name} <${email}>`),
  ) as [string, string];
  return (
    query.words.every((word) => message.includes(word) || isStartOf(word, oid)) &&
    query.authors.every((word) => author.includes(word)) &&
    query.committers.every((word) => committer.includes(word))
  );
}

/** Whether a word is an abbreviation of an id. */
const isStartOf = (word: string, oid: Oid): boolean => word.length >= 4 && oid.startsWith(word);
