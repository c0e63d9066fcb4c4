import { sql } from "drizzle-orm";

import {
  organizationIds,
  type OrganizationRights,
  organizationRights,
} from "../../../auth/access/organizations.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { users, type User } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** An organization with the rights of one of its members. */
export interface OwnMembership {
  readonly org: User;
  readonly rights: OrganizationRights;
}

/** Lists the organizations to which the caller belongs, by name, with the caller's rights there. */
export async function listOwnMemberships(
  { db }: Ctx,
  { id }: User,
  { size, offset }: Slice,
): Promise<Listed<OwnMembership>> {
  const page = await batch(db, membershipsOf(db, { userId: id, size, offset }));
  return toListedPage(page, ({ org, ...rights }) => ({ org, rights }));
}

const membershipsOf = prepareAll(
  (db, { userId, size, offset }: Params<Slice & { readonly userId: number }>) => {
    const isOwn = sql`${users.id} in ${organizationIds(userId, false)}`;
    return {
      rows: db
        .select({ org: columnsOf(users, "u"), ...organizationRights(userId) })
        .from(users)
        .where(isOwn)
        .orderBy(users.lowerName)
        .limit(size)
        .offset(offset),
      counted: selectTotal(db, sql`(select count(*) from ${organizationIds(userId, false)})`),
    };
  },
);
