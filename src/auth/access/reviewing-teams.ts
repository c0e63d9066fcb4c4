import { asc, eq, sql, type SQL } from "drizzle-orm";

import { allOf, type Database } from "../../db/db.ts";
import { jsonRows } from "../../db/json-rows.ts";
import { reviews, teams } from "../../db/schema/index.ts";
import type { Actor } from "../actor.ts";
import { isMemberOf } from "./organizations.ts";

/** Selects the teams of an organization with the given names, in any case. */
export const selectTeamsNamed = (
  db: Database,
  orgId: number | SQL,
  names: readonly string[],
  isKnown: SQL = sql`1`,
) =>
  db
    .select()
    .from(teams)
    .where(
      allOf(
        eq(teams.orgId, orgId),
        sql`${teams.lowerName} in (
          select value from json_each(${JSON.stringify(names.map((name) => name.toLowerCase()))})
        )`,
        isKnown,
      ),
    )
    .orderBy(asc(teams.id));

/** The condition that the caller may know of the teams of an organization. */
export const seesTeamsOf = ({ user, isSiteAdmin }: Actor, orgId: number | SQL): SQL =>
  isSiteAdmin ? sql`1` : isMemberOf(sql`${orgId}`, sql`${user?.id ?? null}`);

/**
 * The team that is asked for a review, as a column of a query over `reviews`: a list of one, or of
 * none for a user.
 */
export const askedTeam = () =>
  jsonRows(teams, sql`from ${teams} where ${teams.id} = ${reviews.teamId}`, "asked_team");
