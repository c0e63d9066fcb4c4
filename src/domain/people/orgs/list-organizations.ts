import { eq } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { selectAccountPage, toAccountList } from "../accounts/list-accounts.ts";
import type { Listed, Slice } from "../../slice.ts";

/** Lists the organizations that are visible to the caller, by name. */
export const listOrganizations = (ctx: Ctx, slice: Slice) =>
  list(ctx, principalOf(ctx.actor), slice);

/** Lists all organizations by name, for administrators of the site. */
export const listAllOrganizations = (ctx: Ctx, slice: Slice) => list(ctx, undefined, slice);

const list = async (
  { db }: Ctx,
  principal: Principal | undefined,
  { size, offset }: Slice,
): Promise<Listed<User>> =>
  toAccountList(await batch(db, organizations(db, { principal, size, offset })));

const organizations = prepareAll((db, p: Params<Slice & { principal: Principal | undefined }>) =>
  selectAccountPage(
    db,
    allOf(eq(users.kind, "organization"), p.principal && isAccountVisible(p.principal)),
    p,
  ),
);
