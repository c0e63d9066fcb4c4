import { and, asc, eq, isNull, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  hooks,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
  type Hook,
} from "../../db/schema/index.ts";
import { matchGlob, parseGlob } from "../../lib/glob.ts";
import type { HookEvent } from "../../events/payloads/hook-event.ts";

/** What happened, as far as it decides who is told. */
export interface Occasion {
  event: HookEvent;
  /** Of the account whose repository it is, or that it is about. */
  ownerId: number;
  repoId?: number | undefined;
  /** Full name of the branch or tag, where the event is about one. */
  ref?: string | undefined;
}

/**
 * The hooks that are to be told of something: those of the repository, then those of its owner, then
 * those of the service; within these, oldest first. None, while webhooks are switched off.
 *
 * SECURITY: a hook is passed over once whoever answers for it may not administer its place any more:
 * they would go on reading by it. Whoever may has it back by an edit.
 */
export async function findHooks(
  { db, config }: Pick<Ctx, "db" | "config">,
  occasion: Occasion,
): Promise<Hook[]> {
  if (config.areWebhooksDisabled) return [];
  const { event, ownerId, repoId, ref } = occasion;
  const isTold = sql`exists (select 1 from json_each(${hooks.events}) where value = ${event})`;
  const ofOwner = and(eq(hooks.ownerId, ownerId), or(eq(hooks.level, "user"), ownsOrganization));
  const ofRepository =
    repoId === undefined ? undefined : and(eq(hooks.repoId, repoId), administersRepository);
  const found = await db
    .select()
    .from(hooks)
    .where(
      and(
        eq(hooks.isActive, true),
        isNull(hooks.pausedAt),
        isTold,
        or(ofRepository, ofOwner, and(eq(hooks.level, "system"), isApprovedByAdministrator)),
      ),
    )
    .orderBy(
      sql`case ${hooks.level} when 'repository' then 0 when 'system' then 2 else 1 end`,
      asc(hooks.id),
    );
  return ref === undefined ? found : found.filter((hook) => isAbout(hook.branchFilter, ref));
}

/** Whether a filter lets a branch or tag through: by its short name, for a branch, or its full one. */
export function isAbout(branchFilter: string, ref: string): boolean {
  if (branchFilter === "") return true;
  const glob = parseGlob(branchFilter);
  if (!glob) return false;
  const isBranch = ref.startsWith("refs/heads/");
  return (isBranch && matchGlob(glob, ref.slice("refs/heads/".length))) || matchGlob(glob, ref);
}

const isApprover = (condition: SQL): SQL =>
  sql`(${hooks.approverId} = 0 or exists (select 1 from ${users} where ${users.id} = ${hooks.approverId} and ${users.isActive} and not ${users.isLoginProhibited} and (${users.isAdmin} or ${condition})))`;

const isApprovedByAdministrator = isApprover(sql`0`);

const ownsOrganization = isApprover(
  sql`exists (select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} where ${teamMembers.userId} = ${hooks.approverId} and ${teams.orgId} = ${hooks.ownerId} and ${teams.access} = ${ACCESS.owner})`,
);

const reachesRepository = sql`(${teams.includesAllRepositories} or exists (select 1 from ${teamRepositories} where ${teamRepositories.teamId} = ${teams.id} and ${teamRepositories.repoId} = ${repositories.id}))`;

const administersRepository = isApprover(
  sql`exists (select 1 from ${repositories} where ${repositories.id} = ${hooks.repoId} and ${allOf(
    or(
      eq(repositories.ownerId, hooks.approverId),
      sql`exists (select 1 from ${collaborations} where ${collaborations.repoId} = ${repositories.id} and ${collaborations.userId} = ${hooks.approverId} and ${collaborations.access} >= ${ACCESS.admin})`,
      sql`exists (select 1 from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} where ${teamMembers.userId} = ${hooks.approverId} and ${teams.orgId} = ${repositories.ownerId} and ${teams.access} >= ${ACCESS.admin} and ${reachesRepository})`,
    ),
  )})`,
);
