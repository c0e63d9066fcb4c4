import { eq, gte, lt } from "drizzle-orm";

import { isAccountVisible } from "../../../auth/access/accounts.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { selectAccountPage, toAccountList } from "../accounts/list-accounts.ts";
import type { Listed, Slice } from "../../slice.ts";

/**
 * Lists the organizations that are visible to the caller, by name.
 *
 * @param beginning What their names begin with, in any case.
 */
export const listOrganizations = (ctx: Ctx, slice: Slice, beginning = "") =>
  list(ctx, { principal: principalOf(ctx.actor), names: namesFrom(beginning), ...toSlice(slice) });

/** Lists all organizations by name, for administrators of the site. */
export const listAllOrganizations = (ctx: Ctx, slice: Slice) =>
  list(ctx, { principal: undefined, names: undefined, ...toSlice(slice) });

interface OrganizationQuery extends Slice {
  readonly principal: Principal | undefined;
  /** The range of their names. */
  readonly names: { readonly from: string; readonly to: string } | undefined;
}

const toSlice = ({ size, offset }: Slice): Slice => ({ size, offset });

function namesFrom(beginning: string): OrganizationQuery["names"] {
  const from = beginning.toLowerCase();
  return from === "" ? undefined : { from, to: `${from}\u{10ffff}` };
}

const list = async ({ db }: Ctx, query: OrganizationQuery): Promise<Listed<User>> =>
  toAccountList(await batch(db, organizations(db, query)));

const organizations = prepareAll((db, p: Params<OrganizationQuery>) =>
  selectAccountPage(
    db,
    allOf(
      eq(users.kind, "organization"),
      p.names && gte(users.lowerName, p.names.from),
      p.names && lt(users.lowerName, p.names.to),
      p.principal && isAccountVisible(p.principal),
    ),
    p,
  ),
);
