import { type Budget, finishInTurns, withoutLimit } from "../../../git/budget.ts";
import { encodeText } from "../../../git/byte-text.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { countInTurns, rangeFilter, type LogRange, walkByTime } from "../../../git/walk/log.ts";
import { PathFinder } from "../../../git/walk/path-finder.ts";
import { logPath, PathTrail } from "../../../git/walk/path-history.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { ResultKey } from "../../../storage/result-cache.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import type { Listed, Slice } from "../../slice.ts";

/** Selects commits of a history. */
export interface CommitQuery extends LogRange {
  /** Lists only commits that changed this path. */
  readonly path?: string | undefined;
  /** Skips later commits, but not their ancestors. */
  readonly untilSeconds?: number;
}

/**
 * Lists commits latest first, as `git log` does, with an exact total.
 *
 * Cost: walks the entire selected history for the total, which is cached for all of a commit's
 * history, but orders it only up to the end of the page; with a path, also reads the trees on that
 * path.
 */
export async function listCommits(
  { repository }: RepositorySnapshot,
  query: CommitQuery,
  { size, offset }: Slice,
): Promise<Listed<Node>> {
  const { graph } = repository;
  const { path, untilSeconds = Number.POSITIVE_INFINITY } = query;
  const isListed = (node: Node): boolean => (graph.times[node] as number) <= untilSeconds;
  const items: Node[] = [];
  let total = 0;
  if (path !== undefined) {
    const oids = await listPathHistory(repository, path, query);
    for (const node of oids.map((oid) => graph.find(oid))) {
      if (!isListed(node)) continue;
      if (total >= offset && total < offset + size) items.push(node);
      total++;
    }
    return { items, total };
  }
  const isMatch = rangeFilter(graph, query);
  const count = (budget: Budget): Promise<number> =>
    finishInTurns(countInTurns(graph, query.tips, isMatch, isListed), withoutLimit(budget));
  // Each page of a branch shows how long its history is.
  const [tip] = isWhole(query) ? query.tips : [];
  total =
    tip === undefined
      ? await count(repository.objects.budget)
      : await repository.results.getOrCompute(["commit count", graph.oid(tip)], count);
  if (size === 0 || offset >= total) return { items, total };
  let passed = 0;
  for (const node of walkByTime(graph, query.tips, isMatch)) {
    if (!isListed(node)) continue;
    if (passed++ >= offset) items.push(node);
    if (items.length === size) break;
  }
  return { items, total };
}

/** Whether a query lists all of the history of one commit. */
const isWhole = ({ tips, excluded = [], ...rest }: CommitQuery): boolean =>
  tips.length === 1 &&
  excluded.length === 0 &&
  rest.sinceSeconds === undefined &&
  rest.untilSeconds === undefined;

/** The history of a path. */
interface PathHistory {
  oids: Oid[];
  /** For the next request, which continues a history that is incomplete. */
  trail: string;
}

/**
 * Lists the full history of a path, which is expensive to compute but small enough to cache; as far
 * back as the budgets of this request and of those before it allow.
 */
async function listPathHistory(
  { results, catalog, graph, objects }: OpenRepository,
  path: string,
  range: LogRange,
): Promise<Oid[]> {
  const { tips, excluded = [], sinceSeconds = null } = range;
  const oidOf = (node: Node): Oid => graph.oid(node);
  const cacheKey: ResultKey = [
    "path history",
    path,
    tips.map(oidOf),
    excluded.map(oidOf),
    sinceSeconds,
  ];
  const { oids } = await results.getOrContinue<PathHistory>(cacheKey, async (budget, known) => {
    const listed: Oid[] = [];
    const trail = new PathTrail(known?.trail);
    const finder = new PathFinder(catalog, objects.within(budget), encodeText(path));
    for await (const node of logPath(graph, finder, range, budget, trail)) {
      listed.push(graph.oid(node));
    }
    return { oids: listed, trail: trail.isEnded ? "" : trail.text };
  });
  return oids;
}
