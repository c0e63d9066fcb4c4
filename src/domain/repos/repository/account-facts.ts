import { sql } from "drizzle-orm";

import { blockedUserIds } from "../../../auth/access/blocks.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Actor } from "../../../auth/actor.ts";
import { type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import { type Database, flagColumn } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { follows, users } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isAccountNamed } from "../../people/accounts/find-account.ts";
import {
  isNamed,
  type RepositoryRow,
  selectRepositories,
  toRepositoryContext,
} from "./find-repository.ts";

/** What a page of an account shows of its relation to the reader. */
export interface AccountFacts {
  readonly isFollowed: boolean;
  readonly isBlocked: boolean;
  /** The repository whose README introduces the account, if it is public and has content. */
  readonly profile: RepositoryContext | undefined;
}

/** The name of the repository whose README introduces its owner. */
const PROFILE_NAME = ".profile";

/** Selects the facts of an account by its name, for a batch that is sent before it is known. */
export const selectAccountFacts = (db: Database, name: string, caller: CallerArgument) => {
  const args = { caller, name: name.toLowerCase() };
  return [relationByName(db, args), profileByName(db, args)] as const;
};

type NamedParams = Params<{ caller: CallerArgument; name: string }>;

const relationByName = prepare((db, { caller, name }: NamedParams) => {
  const { actorId } = toCallerSql(caller);
  const isFollowed = sql`exists (
    select 1 from ${follows}
    where ${follows.followerId} = ${actorId} and ${follows.followedId} = ${users.id}
  )`;
  return db
    .select({
      isFollowed: flagColumn(isFollowed, "is_followed"),
      isBlocked: flagColumn(sql`${users.id} in ${blockedUserIds(actorId)}`, "is_blocked"),
    })
    .from(users)
    .where(isAccountNamed(name));
});

const profileByName = prepare((db, { caller, name }: NamedParams) =>
  selectRepositories(db, toCallerSql(caller)).where(isNamed(name, sql`${PROFILE_NAME}`)),
);

/** The facts from the rows of `selectAccountFacts`. */
export function toAccountFacts(
  actor: Actor,
  [relations, profiles]: readonly [
    readonly Pick<AccountFacts, "isFollowed" | "isBlocked">[],
    readonly RepositoryRow[],
  ],
): AccountFacts {
  const [relation = { isFollowed: false, isBlocked: false }] = relations;
  const [row] = profiles;
  const profile = row && toRepositoryContext(actor, row);
  const isShown =
    profile !== undefined &&
    !profile.row.isPrivate &&
    !profile.row.isEmpty &&
    isAllowed(profile, { unit: "code", mode: "read" });
  return { ...relation, profile: isShown ? profile : undefined };
}
