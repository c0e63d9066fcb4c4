import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAudit } from "../../people/audit/record-audit.ts";
import { wikiLocation } from "../../code/wiki/to-wiki.ts";
import { isNamed } from "./find-repository.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Queues a search for objects of a repository and its wiki that no ref reaches, whatever it gains.
 * For administrators, who see every repository.
 *
 * @param graceDays For how many days objects stay that a ref reached; the configured number if
 *   undefined.
 * @throws Failure `not_found` if there is no repository of the name.
 */
export async function requestCollection(
  ctx: Ctx,
  owner: string,
  name: string,
  graceDays: number | undefined,
): Promise<void> {
  const { db, config, git } = ctx;
  const { id, ownerId, objectName, networkName, wikiBranch } = repositories;
  const [repo] = await db
    .select({ id, ownerId, objectName, networkName, wikiBranch })
    .from(repositories)
    .innerJoin(users, eq(users.id, ownerId))
    .where(isNamed(owner, name));
  if (!repo) throw notFound();
  const askedGraceMs = graceDays === undefined ? config.gitCollection.graceMs : graceDays * DAY_MS;
  await recordAudit(ctx, {
    kind: "repository.collection_requested",
    ownerId: repo.ownerId,
    repoId: repo.id,
    details: { graceDays: askedGraceMs / DAY_MS },
  });
  await git.collectLater(repo, { askedGraceMs });
  if (repo.wikiBranch !== "") await git.collectLater(wikiLocation(repo), { askedGraceMs });
}
