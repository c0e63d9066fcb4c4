import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import type { HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { requireApprover } from "../../domain/exchange/webhooks/hooks/require-approver.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { addHookById, addHookList, addHookTest } from "./hook-routes.ts";
import { HookId } from "./hook-body.ts";

export const ownHooks = endpoints();

/** SECURITY: refuses tokens that may read less than the webhooks' payloads contain. */
function hookOwnerOf({ ctx, user }: { ctx: Ctx; user: User }): HookOwner {
  const hookOwner = { level: "user", owner: user } as const;
  requireApprover(ctx.actor, hookOwner);
  return hookOwner;
}

const reading = atHooks(signedIn("read:user"), hookOwnerOf);
const writing = atHooks(signedIn("write:user"), hookOwnerOf);

const LEVEL = {
  path: "/user/hooks",
  params: HookId,
  prefix: "user",
  tag: "user",
  webhook: "a user webhook",
  reading,
  writing,
} as const;

addHookList(ownHooks, LEVEL, "your webhooks");
addHookById(ownHooks, LEVEL);
addHookTest(ownHooks, LEVEL);
addDeliveries(ownHooks, LEVEL);
