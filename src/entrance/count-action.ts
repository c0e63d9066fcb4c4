import type { LimitedAction } from "../auth/rate-limits.ts";
import type { BaseCtx, Ctx } from "../context.ts";

/** The context of a handler that knows its caller. */
interface Counted {
  readonly var: { readonly base: Pick<BaseCtx, "rateLimits" | "network">; readonly ctx: Ctx };
}

/**
 * Counts an action of the signed-in caller, whichever credential they use.
 *
 * @throws Failure `too_many` over the limit.
 */
export async function countAction({ var: { base, ctx } }: Counted, action: LimitedAction) {
  await base.rateLimits.count(action, ctx.actor.user && `account ${ctx.actor.user.id}`);
}

/**
 * Counts an action of an anonymous caller, by where it comes from.
 *
 * @throws Failure `too_many` over the limit.
 */
export async function countAnonymousAction({ var: { base, ctx } }: Counted, action: LimitedAction) {
  if (!ctx.actor.user) await base.rateLimits.count(action, base.network);
}
