import { and, eq, isNull, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { accessTokens, type User } from "../../../db/schema/index.ts";
import { recordAllIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAllAuditIfChanged } from "../audit/record-audit.ts";

const made = alias(accessTokens, "made");

/**
 * Deletes a token of `user`, by id if `idOrName` is a number, else by name, and with it the tokens
 * that it made, and those that they made, in whatever account.
 *
 * @throws Failure `not_found` if the user has no such token.
 */
export async function deleteAccessToken(ctx: Ctx, user: User, idOrName: string): Promise<void> {
  const id = /^[1-9]\d{0,14}$/.test(idOrName) ? Number(idOrName) : undefined;
  const isNamed = id === undefined ? eq(accessTokens.name, idOrName) : eq(accessTokens.id, id);
  // The first is the token itself: it was made before the others.
  const ended = await ctx.db
    .select({
      id: accessTokens.id,
      ownerId: accessTokens.userId,
      name: accessTokens.name,
    })
    .from(accessTokens)
    .where(
      // Drizzle can't write a query that is recursive.
      sql`${accessTokens.id} in (
        with recursive ended (id) as (
          select ${accessTokens.id}
          from ${accessTokens}
          where ${and(eq(accessTokens.userId, user.id), isNull(accessTokens.grantId), isNamed)}
          union
          select ${made.id}
          from ended
          join ${accessTokens} ${made} on ${made.madeById} = ended.id
        )
        select id from ended
      )`,
    )
    .orderBy(accessTokens.id);
  const [token] = ended;
  if (!token) throw notFound();
  const [deleted] = await ctx.db.batch([
    // The others follow by their reference.
    ctx.db
      .delete(accessTokens)
      .where(eq(accessTokens.id, token.id))
      .returning({ id: accessTokens.id }),
    recordAllIfChanged(
      ctx,
      ended.map(({ ownerId, name }) => ({ type: "access_token.deleted", ownerId, name })),
    ),
    recordAllAuditIfChanged(
      ctx,
      "access_token.deleted",
      ended.map(({ id: tokenId, ownerId, name }) => ({
        ownerId,
        target: name,
        details: { tokenId },
      })),
    ),
  ]);
  // Another request has deleted it meanwhile.
  if (deleted.length === 0) throw notFound();
}
