import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { accessTokens, type User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";

/**
 * Deletes a token of `user`: by id if `idOrName` is a number, else by name.
 *
 * @throws Failure `not_found` if the user has no such token.
 */
export async function deleteAccessToken(ctx: Ctx, user: User, idOrName: string): Promise<void> {
  const id = /^[1-9]\d{0,14}$/.test(idOrName) ? Number(idOrName) : undefined;
  const isNamed = id === undefined ? eq(accessTokens.name, idOrName) : eq(accessTokens.id, id);
  const [deleted] = await ctx.db.batch([
    ctx.db
      .delete(accessTokens)
      .where(and(eq(accessTokens.userId, user.id), isNamed))
      .returning(),
    recordIfChanged(ctx, { type: "access_token.deleted", ownerId: user.id, name: idOrName }),
  ]);
  if (deleted.length === 0) throw notFound();
}
