import { and, asc, eq, inArray, isNull, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hooks, repositories, type Hook } from "../../../db/schema/index.ts";
import type { HookEvent } from "../../../events/webhooks/payloads/hook-event.ts";
import { type Glob, matchGlob } from "../../../git/glob/match-glob.ts";
import { parseBranchGlob } from "./branch-glob.ts";
import { isApproved } from "./is-approved.ts";

/** What happened, as far as it decides who is told. */
export interface HookTrigger {
  event: HookEvent;
  /** Of the account whose repository it is, or that it is about; the repository's, where it says nothing. */
  ownerId?: number | undefined;
  repoId?: number | undefined;
  /** Full name of the branch or tag, where the event is about one. */
  ref?: string | undefined;
  /** In milliseconds: what happened before a hook was made is not for it. */
  at: number;
}

/** What of a hook decides whether and how it is told. */
export type FoundHook = Pick<
  Hook,
  "id" | "level" | "repoId" | "ownerId" | "type" | "branchFilter" | "events" | "createdAt"
>;

/**
 * Finds the hooks that are to be told of some occasions: none, while webhooks are switched off.
 *
 * SECURITY: a hook is passed over once whoever answers for it may not administer its place any more:
 * they would go on reading by it. Whoever may has it back by an edit.
 *
 * Cost: one round for all of them.
 *
 * @returns What gives those of an occasion, in the order in which they are told: those of the
 * repository, then those of its owner, then those of the service; within these, oldest first.
 */
export async function findHooks(
  { db, config }: Pick<Ctx, "db" | "config">,
  triggers: readonly HookTrigger[],
): Promise<(trigger: HookTrigger) => FoundHook[]> {
  if (config.areWebhooksDisabled) return () => [];
  const names = listOf(triggers.map(({ event }) => event));
  const repoIds = listOf(triggers.map(({ repoId }) => repoId));
  const ownerIds = listOf(triggers.map(({ ownerId }) => ownerId));
  const ownerless = triggers.filter(({ ownerId }) => ownerId === undefined);
  const ownerlessIds = listOf(ownerless.map(({ repoId }) => repoId));

  const { id, level, repoId, ownerId, type, branchFilter, events, createdAt } = hooks;
  const isWanted = sql`exists (select 1 from json_each(${events}) where value in ${names})`;
  const ofRest = sql`
    select ${repositories.ownerId}
    from ${repositories}
    where ${repositories.id} in ${ownerlessIds}`;
  const isOwners = sql`${ownerId} in (select value from ${ownerIds} union ${ofRest})`;
  const [found, owned] = await db.batch([
    db
      .select({ id, level, repoId, ownerId, type, branchFilter, events, createdAt })
      .from(hooks)
      .where(
        and(
          eq(hooks.isActive, true),
          isNull(hooks.pausedAt),
          isWanted,
          or(sql`${repoId} in ${repoIds}`, isOwners, eq(level, "system")),
          isApproved,
        ),
      )
      .orderBy(
        sql`case ${level} when 'repository' then 0 when 'system' then 2 else 1 end`,
        asc(id),
      ),
    db
      .select({ repoId: repositories.id, ownerId: repositories.ownerId })
      .from(repositories)
      .where(inArray(repositories.id, ownerlessIds)),
  ]);
  const ownerOf = new Map(owned.map((row) => [row.repoId, row.ownerId]));
  return (trigger) => {
    const owner = trigger.ownerId ?? ownerOf.get(trigger.repoId ?? 0);
    return found.filter(
      (hook) => matchesOwner(hook, trigger.repoId, owner) && isTriggeredBy(hook, trigger),
    );
  };
}

/** The values of a list as SQL: one parameter, however many there are. */
const listOf = (values: readonly (string | number | undefined)[]): SQL => sql`(
  select value
  from json_each(${JSON.stringify([...new Set(values)].filter((value) => value !== undefined))})
)`;

function matchesOwner(
  hook: FoundHook,
  repoId: number | undefined,
  ownerId: number | undefined,
): boolean {
  if (hook.level === "system") return true;
  if (hook.level === "repository") return hook.repoId === repoId;
  return hook.ownerId === ownerId;
}

const isTriggeredBy = (hook: FoundHook, { event, ref, at }: HookTrigger): boolean =>
  hook.createdAt <= at &&
  hook.events.includes(event) &&
  (ref === undefined || isAbout(hook.branchFilter, ref));

/** Filters that were read, each once for all that is asked of it. */
const globs = new Map<string, Glob | undefined>();
const GLOBS_MAX = 1000;

function globOf(filter: string): Glob | undefined {
  if (globs.size >= GLOBS_MAX) globs.clear();
  if (!globs.has(filter)) globs.set(filter, parseBranchGlob(filter));
  return globs.get(filter);
}

/** Whether a filter lets a branch or tag through: by its short name, for a branch, or its full one. */
export function isAbout(branchFilter: string, ref: string): boolean {
  if (branchFilter === "") return true;
  const glob = globOf(branchFilter);
  if (!glob) return false;
  const isBranch = ref.startsWith("refs/heads/");
  return (isBranch && matchGlob(glob, ref.slice("refs/heads/".length))) || matchGlob(glob, ref);
}
