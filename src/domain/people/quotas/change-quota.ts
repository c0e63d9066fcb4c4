import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { accessTokens, repositories, users, type User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { defined } from "../../../lib/defined.ts";
import { differing } from "../../../lib/differing.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { isBeingDeleted } from "../accounts/is-being-deleted.ts";
import { bytesMaxOf, storedBytes, tokenCountMaxOf } from "./owner-quota.ts";

/** How much an owner may have, and has. A limit of -1 is none. */
export interface QuotaEntry {
  readonly limit: number;
  readonly used: number;
}

/** The quota of an account: what it has of each kind, and may have. */
export interface AccountQuotaState {
  readonly repositories: QuotaEntry;
  readonly bytes: QuotaEntry;
  readonly tokens: QuotaEntry;
}

/**
 * Finds an account with its quota. Cost: one query, which adds up what the account stores.
 *
 * @throws Failure `not_found` if there is no account of the name.
 */
export async function findQuota(
  ctx: Ctx,
  name: string,
): Promise<{ account: User; quota: AccountQuotaState }> {
  const { config, db } = ctx;
  const [found] = await accountWithUse(db, { lowerName: name.toLowerCase() });
  if (!found) throw notFound();
  const { account, ...used } = found;
  const { repoCountMax } = account;
  const quota = {
    repositories: {
      limit: repoCountMax >= 0 ? repoCountMax : config.repoCountMax,
      used: used.repositories,
    },
    bytes: { limit: bytesMaxOf(ctx, account), used: used.bytes },
    tokens: { limit: tokenCountMaxOf(ctx, account), used: used.tokens },
  };
  return { account, quota };
}

const accountWithUse = prepare((db, { lowerName }: Params<{ lowerName: string }>) =>
  db
    .select({
      account: users,
      repositories: qualified<number>(
        sql`(select count(*) from ${repositories} where ${repositories.ownerId} = ${users.id})`,
      ).as("repository_count"),
      bytes: qualified<number>(storedBytes(sql`${users.id}`)).as("stored_bytes"),
      tokens: qualified<number>(
        sql`(select count(*) from ${accessTokens} where ${accessTokens.userId} = ${users.id})`,
      ).as("token_count"),
    })
    .from(users)
    .where(and(eq(users.lowerName, lowerName), sql`${users.id} > 0`)),
);

/** Limits of an account; -1 for the service's, undefined for no change. */
export interface QuotaEdit {
  readonly repositories?: number | undefined;
  readonly bytes?: number | undefined;
  readonly tokens?: number | undefined;
}

/**
 * Sets limits of an account. What it has beyond them stays.
 *
 * @throws Failure `not_found` for an account that is being deleted.
 */
export async function changeQuota(ctx: Ctx, account: User, edit: QuotaEdit): Promise<User> {
  const { quota } = account;
  const limits = defined({
    bytesMax: limitOf(edit.bytes, quota?.bytesMax),
    tokenCountMax: limitOf(edit.tokens, quota?.tokenCountMax),
  });
  const columns = {
    quota: Object.keys(limits).length === 0 ? null : limits,
    repoCountMax: edit.repositories ?? account.repoCountMax,
  };
  if (Object.keys(differing(account, columns)).length === 0) return account;
  const { id: ownerId, kind } = account;
  const type =
    kind === "organization" ? ("organization.edited" as const) : ("user.edited" as const);
  const changed = ["quota"];
  const [updated] = await ctx.db.batch([
    ctx.db
      .update(users)
      .set({ ...columns, updatedAt: ctx.now })
      .where(and(eq(users.id, ownerId), sql`not ${isBeingDeleted(sql`${users.id}`)}`))
      .returning(),
    recordIfChanged(ctx, { type, ownerId, changed }),
    recordAuditIfChanged(ctx, { kind: type, ownerId, details: { changed } }),
  ]);
  const [row] = updated;
  if (!row) throw notFound();
  return row;
}

const limitOf = (sent: number | undefined, current: number | undefined): number | undefined =>
  sent === undefined ? current : sent < 0 ? undefined : sent;
