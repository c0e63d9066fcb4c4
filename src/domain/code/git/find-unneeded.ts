import { and, asc, eq, gt, ne } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories } from "../../../db/schema/index.ts";
import { RETIRED_LIFE_MS } from "../../../storage/retention.ts";
import type {
  Inquiry,
  RepositoryLocation,
  RetiredPack,
} from "../../../storage/repository-records.ts";

/** Repositories of a fork network that one job asks. */
const MEMBERS_MAX = 5000;
/** Number of them asked concurrently. */
const MEMBERS_AT_ONCE = 50;

interface Found {
  /** Packs that no repository needs. */
  unneeded: string[];
  /** These, and those that another repository needs: that one deletes them later. */
  decided: string[];
  /** The position at which the next step continues; null at the end. */
  inquiry: Inquiry | null;
}

/**
 * Finds the packs among `retired` that no other repository of the fork network needs. Larger
 * networks are asked by several jobs, each of which continues where the one before has ended.
 *
 * SECURITY: a fork is inserted into the table only after its Durable Object lists its packs, and
 * can't be created once its parent is gone from the table. So every repository that may need a pack
 * is checked, and no fork loses objects. A repository that was asked can come to need a pack only
 * from one that lists it. That one answers that it needs it for as long as a retired pack is kept,
 * so an inquiry that ends sooner misses nothing.
 *
 * @param earlier The inquiry that the job before has left.
 * @param membersMax Repositories to ask.
 */
export async function findUnneeded(
  { db, git, now }: Ctx,
  { objectName, networkName }: RepositoryLocation,
  retired: readonly RetiredPack[],
  earlier: Inquiry | null,
  membersMax = MEMBERS_MAX,
): Promise<Found> {
  const own = retired.filter(({ isShared }) => !isShared).map(({ name }) => name);
  const shared = retired.filter(({ isShared }) => isShared).map(({ name }) => name);
  if (shared.length === 0) return { unneeded: own, decided: own, inquiry: null };

  const isContinued = earlier !== null && earlier.startedAt > now - RETIRED_LIFE_MS / 2;
  const [askedFrom, startedAt] = isContinued ? [earlier.askedTo, earlier.startedAt] : [0, now];
  // Packs that were retired meanwhile wait for an inquiry of their own.
  const asked = new Set(isContinued ? earlier.names : shared);
  const left = new Set(shared.filter((name) => asked.has(name)));

  const rows = await db
    .select({ id: repositories.id, objectName: repositories.objectName })
    .from(repositories)
    .where(
      and(
        eq(repositories.networkName, networkName),
        gt(repositories.id, askedFrom),
        ne(repositories.objectName, objectName),
      ),
    )
    .orderBy(asc(repositories.id))
    .limit(membersMax + 1);
  const members = rows.slice(0, membersMax);
  const needed = new Set<string>();
  for (let at = 0; at < members.length && left.size > 0; at += MEMBERS_AT_ONCE) {
    const chunk = members.slice(at, at + MEMBERS_AT_ONCE).map((member) => {
      return git.repository({ objectName: member.objectName, networkName });
    });
    const answers = await Promise.all(chunk.map((each) => each.findHeld([...left], now)));
    for (const [member, names] of answers.entries()) {
      const found = names.filter((name) => left.delete(name));
      // They may contain objects that only this repository reached.
      if (found.length > 0) await chunk[member]?.noteCollection(now);
      for (const name of found) needed.add(name);
    }
  }
  const last = members.at(-1);
  if (rows.length > membersMax && last && left.size > 0) {
    return {
      unneeded: own,
      decided: [...own, ...needed],
      inquiry: { names: [...left], askedTo: last.id, startedAt },
    };
  }
  return { unneeded: [...own, ...left], decided: [...own, ...needed, ...left], inquiry: null };
}
