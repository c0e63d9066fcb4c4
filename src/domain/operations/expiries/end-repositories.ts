import { and, eq, sql } from "drizzle-orm";

import { organizationOwnerIds } from "../../../auth/access/organizations.ts";
import { FALLBACK_PUBLIC_URL } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  events,
  notifications,
  OWNER_PERMISSION,
  repositories,
  type Repository,
  type RepositoryExpiry,
  users,
  type User,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { logBug } from "../../../lib/log.ts";
import { isLaterEvent, RENEWAL } from "../../issues/notifications/renewal.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { deleteRepository } from "../../repos/repository/delete-repository.ts";
import { isStillEnding } from "../../repos/repository/expiry.ts";
import { ENDED_AT_ONCE, isExpiryDue } from "./due-expiries.ts";

/** How long others leave what one message has taken, in milliseconds. */
const LEASE_MS = 10 * 60 * 1000;

/** A repository whose end is to be announced or carried out. */
interface EndingRepository {
  readonly row: Repository & { readonly expiry: RepositoryExpiry };
  readonly owner: User;
}

/**
 * Announces the ends of repositories that are near, and deletes or archives those that have ended:
 * a batch of them, those first that have waited longest.
 *
 * A repository whose end was moved meanwhile stays. One that fails does not stop the others, and is
 * due again after the lease; so is what a Worker that died has left.
 *
 * Cost: two round trips for the batch, and one for each repository.
 */
export async function endRepositories(ctx: Ctx): Promise<void> {
  for (const { rootUrl, ...repo } of await leaseDue(ctx)) {
    const publicUrl = ctx.config.publicUrl || rootUrl || FALLBACK_PUBLIC_URL;
    try {
      await settleEnd({ ...ctx, publicUrl, rootUrl: publicUrl }, repo);
    } catch (error) {
      logBug(`expiry-${repo.row.id}`, error);
    }
  }
}

/** Takes what is due, with the address of the service that the last event of each has. */
async function leaseDue({ db, now }: Ctx) {
  const due = db
    .select({ id: repositories.id })
    .from(repositories)
    .where(isExpiryDue(now))
    .orderBy(sql`${repositories.expiry} ->> '$.checkAt'`)
    .limit(ENDED_AT_ONCE);
  const rows = await db
    .update(repositories)
    .set({
      expiry: sql`json_set(
        ${repositories.expiry}, '$.checkAt', cast(${now + LEASE_MS} as integer)
      )`,
    })
    .where(sql`${repositories.id} in ${due}`)
    .returning();
  if (rows.length === 0) return [];
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const owners = await db
    .select({
      repoId: sql<number>`${repositories.id}`.as("repo_id"),
      owner: users,
      rootUrl: sql<string | null>`(
        select ${events.rootUrl}
        from ${events}
        where ${events.repoId} = ${repositories.id}
        order by ${events.id} desc
        limit 1
      )`.as("root_url"),
    })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .where(sql`${repositories.id} in (select value from json_each(${ids}))`);
  return rows.flatMap((row) => {
    const found = owners.find(({ repoId }) => repoId === row.id);
    const { expiry } = row;
    return found && expiry ? [{ ...found, row: { ...row, expiry } }] : [];
  });
}

async function settleEnd(ctx: Ctx, repo: EndingRepository): Promise<void> {
  const { row, owner } = repo;
  const { expiresAt, action } = row.expiry;
  if (expiresAt > ctx.now) await announceEnd(ctx, repo);
  else if (action === "archive") await archiveRepository(ctx, row);
  else {
    const ended = { row, owner, permission: OWNER_PERMISSION };
    await deleteRepository(ctx, ended, isStillEnding(row));
  }
}

/** Announces an end once, to the owner or to the owners of the organization. */
async function announceEnd(ctx: Ctx, { row }: EndingRepository): Promise<void> {
  const { db, now } = ctx;
  const { id: repoId, ownerId, expiry } = row;
  const { expiresAt, action } = expiry;
  await db.batch([
    db
      .update(repositories)
      .set({ expiry: { ...expiry, checkAt: expiresAt } })
      .where(and(eq(repositories.id, repoId), isStillEnding(row))),
    recordIfChanged(ctx, { type: "repository.expiring", repoId, ownerId, expiresAt, action }),
    insertSelect(
      db,
      notifications,
      {
        userId: users.id,
        repoId,
        subject: "repository",
        status: "unread",
        eventId: sql`last_insert_rowid()`,
        createdAt: now,
        updatedAt: now,
      },
      sql`
        from ${users}
        where changes() > 0
          and ${users.id} in (select ${ownerId} union ${organizationOwnerIds(ownerId)})
          and ${users.kind} = 'user'
          and ${users.isActive}
          and not ${users.isLoginProhibited}`,
    ).onConflictDoUpdate({
      target: [notifications.userId, notifications.repoId],
      targetWhere: sql`${notifications.subject} = 'repository'`,
      set: RENEWAL,
      setWhere: isLaterEvent,
    }),
  ]);
}

/** Archives a repository, and takes its end from it. */
async function archiveRepository(ctx: Ctx, row: EndingRepository["row"]): Promise<void> {
  const { db, now } = ctx;
  const about = { repoId: row.id, ownerId: row.ownerId };
  await batch(db, {
    archived: db
      .update(repositories)
      .set({
        archivedAt: sql`coalesce(${repositories.archivedAt}, ${now})`,
        expiry: null,
        updatedAt: now,
      })
      .where(and(eq(repositories.id, row.id), isStillEnding(row))),
    event: recordIfChanged(ctx, {
      type: "repository.edited",
      ...about,
      changed: ["expiry", "isArchived"],
    }),
    announced: recordIfChanged(ctx, { type: "repository.archived", ...about }),
    audit: recordAuditIfChanged(ctx, {
      kind: "repository.edited",
      ...about,
      details: { changed: ["expiry", "isArchived"] },
    }),
  });
}
