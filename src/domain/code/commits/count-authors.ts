import { GitError } from "../../../git/error.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { TURN_COMMITS, TURN_STEPS, walkByTime } from "../../../git/walk/log.ts";
import { decodeCommitText } from "../../../shapes/git/commit.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** The commits of an author, by their address. */
export interface AuthorCount {
  /** As in their latest commit. */
  readonly name: string;
  /** In lower case. */
  readonly email: string;
  readonly commits: number;
  /** The weeks with commits, latest first, each with how many there are. */
  readonly weeks: readonly (readonly [week: number, commits: number])[];
}

/** The authors of a part of a history. */
export interface AuthorCounts {
  /** Those with the most commits first. */
  readonly authors: readonly AuthorCount[];
  /** The counted commits. */
  readonly total: number;
  /** The time of the earliest counted commit, in seconds; undefined without any. */
  readonly firstSeconds: number | undefined;
  /** Whether earlier commits are not counted yet: the count goes on after the response. */
  readonly isCut: boolean;
}

/** Steps of a request to count authors, some 100 ms of processor time: some 8,000 commits. */
const COUNT_STEPS_MAX = 10_000_000;

/** Steps to walk over a commit, beside those to read it. */
const STEPS_PER_COMMIT = 200;

const WEEK_SECONDS = 7 * 24 * 60 * 60;
/** The first Monday after January 1, 1970, which was a Thursday. */
const FIRST_MONDAY_SECONDS = 4 * 24 * 60 * 60;

/** The number of the week of a time. Weeks begin on Mondays, in UTC. */
export const weekOf = (seconds: number): number =>
  Math.floor((seconds - FIRST_MONDAY_SECONDS) / WEEK_SECONDS);

/** The beginning of a week, in milliseconds. */
export const startOfWeek = (week: number): number =>
  (week * WEEK_SECONDS + FIRST_MONDAY_SECONDS) * 1000;

/** A count that a later request continues. */
interface StoredCounts {
  authors: [email: string, name: string, weeks: [week: number, commits: number][]][];
  /** Commits of the walk that were visited, merges included. */
  visited: number;
  total: number;
  firstSeconds: number | null;
  isEnded: boolean;
}

/**
 * Counts the commits of a history by their authors, without merges, by the weeks in which they were
 * committed. The latest commits are counted first.
 *
 * Cost: reads each commit once, as far back as the budgets of this request and of those before it
 * suffice.
 *
 * @param sinceSeconds Leaves out earlier commits. A time that changes with each request would let
 *   none continue.
 */
export async function countAuthors(
  { results, graph, objects }: OpenRepository,
  tip: Node,
  sinceSeconds?: number,
): Promise<AuthorCounts> {
  const isListed = (node: Node): boolean =>
    sinceSeconds === undefined || (graph.times[node] as number) >= sinceSeconds;
  const stored = await results.getOrContinue<StoredCounts>(
    ["authors", graph.oid(tip), sinceSeconds ?? null],
    async (budget, known) => {
      const within = objects.within(budget);
      const authors = new Map(
        known?.authors.map(([email, name, weeks]) => [email, { name, weeks: new Map(weeks) }]),
      );
      let { visited = 0, total = 0, firstSeconds = null } = known ?? {};
      let passed = 0;
      let isEnded = true;
      for (const node of walkByTime(graph, [tip], isListed)) {
        if (passed++ < visited) {
          // An earlier request has counted it: no bound would let the walk come further.
          if (passed % TURN_COMMITS === 0) await budget.pause(TURN_STEPS);
          continue;
        }
        budget.consume(STEPS_PER_COMMIT);
        const seconds = graph.times[node] as number;
        if (graph.parents(node).length < 2) {
          const commit = await within.readAt(graph.location(node)).then(parseCommit, ifExhausted);
          if (!commit) {
            isEnded = false;
            break;
          }
          const email = decodeText(commit.author.email).toLowerCase();
          const author = authors.get(email) ?? {
            name: decodeCommitText(commit, commit.author.name),
            weeks: new Map<number, number>(),
          };
          const week = weekOf(seconds);
          author.weeks.set(week, (author.weeks.get(week) ?? 0) + 1);
          authors.set(email, author);
          total++;
          firstSeconds = seconds;
        }
        visited++;
      }
      return {
        authors: Array.from(authors, ([email, { name, weeks }]) => [email, name, [...weeks]]),
        visited,
        total,
        firstSeconds,
        isEnded,
      };
    },
    COUNT_STEPS_MAX,
  );
  return {
    authors: stored.authors
      .map(([email, name, weeks]) => ({ email, name, weeks, commits: sumOf(weeks) }))
      .toSorted((a, b) => b.commits - a.commits),
    total: stored.total,
    firstSeconds: stored.firstSeconds ?? undefined,
    isCut: !stored.isEnded,
  };
}

/** Ends a count whose budget is exhausted. */
function ifExhausted(error: unknown): undefined {
  if (error instanceof GitError && error.code === "limit") return undefined;
  throw error;
}

const sumOf = (weeks: StoredCounts["authors"][number][2]): number =>
  weeks.reduce((sum, [, commits]) => sum + commits, 0);
