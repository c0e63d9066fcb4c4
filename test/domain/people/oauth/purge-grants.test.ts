import { eq } from "drizzle-orm";
import { expect, it } from "vitest";

import { accessTokens, oauthGrants } from "../../../../src/db/schema/index.ts";
import { purgeGrants } from "../../../../src/domain/people/oauth/purge-grants.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { makeApplication, makeCodeFor, makeTokens } from "../../../support/oauth.ts";
import { systemCtx } from "../../../support/system.ts";

it("deletes grants that ended, with their tokens, and leaves the others", async () => {
  const user = await make.user();
  const [old, current] = [await makeApplication(user), await makeApplication(user)];
  await makeTokens(user, old);
  await db
    .update(oauthGrants)
    .set({ expiresAt: 2000 })
    .where(eq(oauthGrants.applicationId, old.id));
  await makeCodeFor(user, old, { now: 1000 });
  await makeTokens(user, current);

  await purgeGrants(systemCtx({}, Date.now()));

  const grants = await db.select().from(oauthGrants).where(eq(oauthGrants.userId, user.id));
  expect(grants).toMatchObject([{ applicationId: current.id }]);
  const tokens = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
  expect(tokens.map(({ grantId }) => grantId)).toEqual([null, grants[0]?.id]);
});
