import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import type { HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { requireApprover } from "../../domain/exchange/webhooks/hooks/require-approver.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { OrgPath } from "../orgs/paths.ts";
import { PathId } from "../path-id.ts";
import { atHooks } from "./at-hooks.ts";
import { addDeliveries } from "./deliveries.ts";
import { addHookById, addHookList, addHookTest } from "./hook-routes.ts";

export const organizationHooks = endpoints();

const HookPath = OrgPath.extend({ id: PathId });

/** SECURITY: refuses tokens that may read less than the webhooks' payloads contain. */
function hookOwnerOf({ ctx, org }: { ctx: Ctx; org: User }): HookOwner {
  const hookOwner = { level: "organization", owner: org } as const;
  requireApprover(ctx.actor, hookOwner);
  return hookOwner;
}

const OWNERS = { allowsAnonymous: false, needs: "ownership" } as const;
const reading = atHooks(inOrg("read:organization", OWNERS), hookOwnerOf);
const writing = atHooks(inOrg("write:organization", OWNERS), hookOwnerOf);

const LEVEL = {
  path: "/orgs/{org}/hooks",
  params: HookPath,
  prefix: "org",
  tag: "organization",
  webhook: "an organization webhook",
  reading,
  writing,
} as const;

addHookList(organizationHooks, LEVEL, "an organization's webhooks");
addHookById(organizationHooks, LEVEL);
addHookTest(organizationHooks, LEVEL);
addDeliveries(organizationHooks, LEVEL);
