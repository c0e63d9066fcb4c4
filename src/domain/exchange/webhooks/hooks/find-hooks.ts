import { and, asc, eq, inArray, isNull, or, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { type Params, prepareAll } from "../../../../db/prepared.ts";
import { hooks, repositories, type Hook } from "../../../../db/schema/index.ts";
import type { HookEvent } from "../../../../events/webhooks/payloads/hook-event.ts";
import { type Glob, matchGlob } from "../../../../git/glob/match-glob.ts";
import { parseBranchGlob } from "../../../../git/glob/branch-glob.ts";
import { isApproved } from "./is-approved.ts";

/** The properties of a webhook event that decide which hooks receive it. */
export interface HookTrigger {
  event: HookEvent;
  /**
   * The owner of the repository, or the account that the event is about. By default the
   * repository's current owner.
   */
  ownerId?: number | undefined;
  repoId?: number | undefined;
  /** Full name of the branch or tag, for an event about a ref. */
  ref?: string | undefined;
  /** In milliseconds. A hook receives no event from before its creation. */
  at: number;
}

/** The columns of a hook that decide whether it receives an event, and in which form. */
export type FoundHook = Pick<
  Hook,
  "id" | "level" | "repoId" | "ownerId" | "type" | "branchFilter" | "events" | "createdAt"
>;

/**
 * Finds the hooks that match the given triggers: none while webhooks are disabled in the
 * configuration.
 *
 * SECURITY: skips hooks whose approver lost admin rights on the owner, since they would keep
 * receiving private payloads. An administrator re-enables such a hook by editing it.
 *
 * Cost: one round trip for all triggers.
 *
 * @returns A function from a trigger to the hooks it matches, ordered by level (repository, owner,
 * service), then by age.
 */
export async function findHooks(
  { db, config }: Pick<Ctx, "db" | "config">,
  triggers: readonly HookTrigger[],
): Promise<(trigger: HookTrigger) => FoundHook[]> {
  if (config.areWebhooksDisabled) return () => [];
  const triggersWithoutOwner = triggers.filter(({ ownerId }) => ownerId === undefined);
  const { found, owned } = await batch(
    db,
    hooksAndOwners(db, {
      eventNames: distinct(triggers.map(({ event }) => event)),
      repoIds: distinct(triggers.map(({ repoId }) => repoId)),
      ownerIds: distinct(triggers.map(({ ownerId }) => ownerId)),
      repoIdsWithoutOwner: distinct(triggersWithoutOwner.map(({ repoId }) => repoId)),
    }),
  );
  const ownerOf = new Map(owned.map((row) => [row.repoId, row.ownerId]));
  return (trigger) => {
    const owner = trigger.ownerId ?? ownerOf.get(trigger.repoId ?? 0);
    return found.filter(
      (hook) => matchesOwner(hook, trigger.repoId, owner) && isTriggeredBy(hook, trigger),
    );
  };
}

/** The values that are there, each once. */
const distinct = <Value>(values: readonly (Value | undefined)[]): Value[] =>
  [...new Set(values)].filter((value) => value !== undefined);

/** The names and ids in the triggers of one call. */
interface Triggered {
  readonly eventNames: readonly string[];
  readonly repoIds: readonly number[];
  readonly ownerIds: readonly number[];
  readonly repoIdsWithoutOwner: readonly number[];
}

/** Selects the hooks that may match, and the owners of repositories whose triggers name none. */
const hooksAndOwners = prepareAll((db, p: Params<Triggered>) => {
  const { id, level, repoId, ownerId, type, branchFilter, createdAt } = hooks;
  const isSubscribed = sql`exists (
    select 1 from json_each(${hooks.events}) where value in ${p.eventNames}
  )`;
  const isOwnerHook = sql`${ownerId} in (
    select * from ${p.ownerIds}
    union
    select ${repositories.ownerId}
    from ${repositories}
    where ${repositories.id} in ${p.repoIdsWithoutOwner}
  )`;
  return {
    found: db
      .select({ id, level, repoId, ownerId, type, branchFilter, events: hooks.events, createdAt })
      .from(hooks)
      .where(
        and(
          eq(hooks.isActive, true),
          isNull(hooks.pausedAt),
          isSubscribed,
          or(sql`${repoId} in ${p.repoIds}`, isOwnerHook, eq(level, "system")),
          isApproved,
        ),
      )
      .orderBy(
        sql`case ${level} when 'repository' then 0 when 'system' then 2 else 1 end`,
        asc(id),
      ),
    owned: db
      .select({ repoId: repositories.id, ownerId: repositories.ownerId })
      .from(repositories)
      .where(inArray(repositories.id, p.repoIdsWithoutOwner)),
  };
});

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
  (ref === undefined || matchesBranchFilter(hook.branchFilter, ref));

/** Parsed branch filters, a cache by their text. */
const globs = new Map<string, Glob | undefined>();
const GLOBS_MAX = 1000;

function globOf(filter: string): Glob | undefined {
  if (globs.size >= GLOBS_MAX) globs.clear();
  if (!globs.has(filter)) globs.set(filter, parseBranchGlob(filter));
  return globs.get(filter);
}

/**
 * Whether a branch filter matches a ref: a branch by its short or full name, a tag by its full
 * name.
 */
export function matchesBranchFilter(branchFilter: string, ref: string): boolean {
  if (branchFilter === "") return true;
  const glob = globOf(branchFilter);
  if (!glob) return false;
  const isBranch = ref.startsWith("refs/heads/");
  return (isBranch && matchGlob(glob, ref.slice("refs/heads/".length))) || matchGlob(glob, ref);
}
