import type { Requirement } from "../../auth/access/requirement.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import { enterPull } from "../../entrance/enter-pull.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { targetOf } from "./repository.ts";

const READS: Requirement = { unit: "pulls", mode: "read" };

/** Admits callers who may see the pull request of the path, and loads it with its repository. */
export function inPull(scope: Scope): Guard<{ repo: RepositoryContext; pull: PullContext }> {
  return guard([scope], true, (c) => enter(c, scope));
}

/**
 * The same for signed-in callers.
 *
 * @param options.showsRules Whether the rules of branches are loaded too, for routes that ask the
 *   base's.
 */
export function signedInPull(
  scope: Scope,
  { showsRules = false } = {},
): Guard<{ repo: RepositoryContext; pull: PullContext; user: User }> {
  return guard([scope], false, async (c) => {
    const context = await enter(c, scope, showsRules);
    return { ...context, user: requireUser(context.ctx.actor) };
  });
}

const enter = (c: GuardContext, scope: Scope, showsRules = false) =>
  enterPull(incoming(c), { ...targetOf(c, [scope], READS), showsRules }, numberOf(c));

/** A number, as `PathId` takes it, which may have a suffix like `.diff`. */
const NUMBER = /^([1-9]\d{0,14})(?:\.\w+)?$/;

/** The number of the path; 0, which no pull request has, for what is no number. */
const numberOf = (c: GuardContext): number =>
  Number(NUMBER.exec(c.req.param("index") ?? "")?.[1] ?? 0);
