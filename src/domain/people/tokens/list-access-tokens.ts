import { and, count, desc, eq, isNull, sql } from "drizzle-orm";

import { isRepositoryVisible } from "../../../auth/access/visible-repositories.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  accessTokenRepositories,
  accessTokens,
  repositories,
  users,
  type AccessToken,
  type User,
} from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/**
 * A token with the full names of the repositories it is bound to; only those that the caller may
 * see.
 */
export interface AccessTokenEntry {
  token: AccessToken;
  boundTo: string[];
}

/** Lists a user's personal tokens, newest first. */
export async function listAccessTokens(
  ctx: Ctx,
  user: User,
  { size, offset }: Slice,
): Promise<Listed<AccessTokenEntry>> {
  const listed = { principal: principalOf(ctx.actor), userId: user.id, size, offset };
  return toListedPage(await batch(ctx.db, tokensOf(ctx.db, listed)), ({ token, boundTo }) => ({
    token,
    boundTo: (JSON.parse(boundTo) as string[]).toSorted(),
  }));
}

type TokenPage = Slice & { readonly principal: Principal; readonly userId: number };

const tokensOf = prepareAll((db, { principal, userId, size, offset }: Params<TokenPage>) => {
  // Tokens of grants are listed with their application.
  const isOfUser = and(eq(accessTokens.userId, userId), isNull(accessTokens.grantId));
  const isNamed = and(
    eq(accessTokenRepositories.tokenId, accessTokens.id),
    isRepositoryVisible(principal),
  );
  const names = sql`(
    select json_group_array(${users.name} || '/' || ${repositories.name})
    from ${accessTokenRepositories}
    join ${repositories} on ${repositories.id} = ${accessTokenRepositories.repoId}
    join ${users} on ${users.id} = ${repositories.ownerId}
    where ${isNamed}
  )`;
  return {
    rows: db
      .select({ token: accessTokens, boundTo: qualified<string>(names).as("bound_to") })
      .from(accessTokens)
      .where(isOfUser)
      .orderBy(desc(accessTokens.createdAt), desc(accessTokens.id))
      .limit(size)
      .offset(offset),
    counted: db
      .select({ total: count().as("total") })
      .from(accessTokens)
      .where(isOfUser),
  };
});
