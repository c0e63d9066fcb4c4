import type { Oid } from "../../../git/oid.ts";
import type { PullRefs, Snapshot, StoredRef } from "../../../storage/repository-records.ts";

const PULLS = "refs/pull/";

/** Whether a ref is one that the service keeps for a pull request. */
export const isPullRef = (name: string): boolean => name.startsWith(PULLS);

/** A name, or the beginning of one, below the refs of one pull request. */
const OF_PULL = /^refs\/pull\/([1-9]\d{0,14})\//;

/** Beyond so many pull requests, the refs of all are read at once. */
const NUMBERS_MAX = 100;

/**
 * The refs of pull requests that may have one of some names, or a name that begins with one of
 * them.
 *
 * @param beginnings Full names of refs, or beginnings of such names.
 */
export function pullRefsOf(beginnings: readonly string[]): PullRefs {
  const numbers = new Set<number>();
  for (const beginning of beginnings) {
    const [, number] = OF_PULL.exec(beginning) ?? [];
    if (number !== undefined) numbers.add(Number(number));
    else if (isPullRef(beginning) || PULLS.startsWith(beginning)) return "all";
  }
  if (numbers.size === 0) return "none";
  return numbers.size > NUMBERS_MAX ? "all" : [...numbers];
}

/**
 * The snapshot with all refs of pull requests. Cost: one call of the Durable Object, if it lacks
 * any.
 */
export async function withPullRefs(snapshot: Snapshot): Promise<Snapshot> {
  if (!snapshot.lacksPullRefs) return snapshot;
  const refs = withPulls(snapshot, await snapshot.loadPullRefs());
  const none = (): Promise<[]> => Promise.resolve([]);
  return { ...snapshot, refs, lacksPullRefs: false, loadPullRefs: none, findPullRefs: none };
}

/** The same with those refs of pull requests that have one of some values, and no others. */
export async function withPullRefsAt(snapshot: Snapshot, oids: readonly Oid[]): Promise<Snapshot> {
  return { ...snapshot, refs: withPulls(snapshot, await snapshot.findPullRefs(oids)) };
}

function withPulls({ refs }: Snapshot, pulls: readonly StoredRef[]): StoredRef[] {
  const others = refs.filter(({ name }) => !isPullRef(name));
  const found = others.findIndex(({ name }) => name > PULLS);
  const at = found < 0 ? others.length : found;
  return [...others.slice(0, at), ...pulls, ...others.slice(at)];
}
