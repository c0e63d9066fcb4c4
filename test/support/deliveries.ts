import { asc, eq } from "drizzle-orm";
import { inject } from "vitest";

import { seal } from "../../src/auth/seal.ts";
import {
  webhookEvents,
  hookDeliveries,
  hooks,
  type Hook,
  type HookDelivery,
} from "../../src/db/schema/index.ts";
import { deliverDue } from "../../src/domain/exchange/webhooks/delivery/deliver-due.ts";
import {
  type Clock,
  SYSTEM_CLOCK,
} from "../../src/domain/exchange/webhooks/delivery/delivery-run.ts";
import { SEALED_FOR } from "../../src/domain/exchange/webhooks/hooks/hook-options.ts";
import { toRepositoryPayload } from "../../src/events/webhooks/payloads/repository-payload.ts";
import { only } from "../../src/lib/only.ts";
import type { DeliveryJob } from "../../src/storage/event-queues.ts";
import { db } from "./db.ts";
import type { ReceivedHook } from "./hook-receiver.ts";
import { makeHook } from "./hooks.ts";
import { make } from "./make.ts";
import { makeOccasion } from "./payload-contexts.ts";
import { systemCtx } from "./system.ts";
import { watchedDatabase } from "./watched-database.ts";

const [receiverOrigin] = inject("receivers");
const SEALING_KEYS = `one:${"A".repeat(43)}=`;
export const SECRET = "s3cret é";

/** Settings of the service that delivers: patient, because a busy machine is slow. */
export const SETTINGS = { SEALING_KEYS, DELIVER_TIMEOUT: "10" };
/** For receivers that send no response. */
export const IMPATIENT = { DELIVER_TIMEOUT: "1" };

/** A receiver that responds as `plan` lists, and the requests it has received so far. */
export function openReceiver(plan: string, origin = receiverOrigin) {
  const id = crypto.randomUUID();
  const query = new URLSearchParams({ id, plan, secret: SECRET });
  return {
    url: `${origin}/hook?${query.toString()}`,
    received: async (): Promise<ReceivedHook[]> =>
      (await fetch(`${receiverOrigin}/journal?of=${id}`)).json(),
  };
}

/** A hook with a secret, on a fresh repository, whose receiver responds as `plan` lists. */
export async function makeReceivedHook(plan: string, fields: Partial<Hook> = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const receiver = openReceiver(plan);
  const { sealingKeys } = systemCtx({}, 0, SETTINGS).config;
  const hook = await makeHook({
    level: "repository",
    repoId: repo.id,
    approverId: owner.id,
    url: receiver.url,
    secret: await seal(sealingKeys, SECRET, SEALED_FOR.secret),
    ...fields,
  });
  return { hook, repo, owner, received: receiver.received };
}

let lastEventId = 1_000_000;

/** A webhook event of the hook's repository with a delivery that is due. */
export async function makeDelivery(
  hook: Hook,
  fields: Partial<HookDelivery> & { repoId?: number; payload?: object } = {},
): Promise<HookDelivery> {
  const { repoId = hook.repoId ?? 1, payload, ...columns } = fields;
  const body = payload ?? toRepositoryPayload(await makeOccasion({}), "created");
  const event = columns.event ?? "repository";
  const [webhookEvent] = await db
    .insert(webhookEvents)
    .values({ eventId: ++lastEventId, part: 0, event, repoId, payload: body, createdAt: 1000 })
    .returning();
  const rows = await db
    .insert(hookDeliveries)
    .values({
      hookId: hook.id,
      webhookEventId: webhookEvent?.id ?? 0,
      uuid: crypto.randomUUID(),
      event,
      nextAttemptAt: 1000,
      createdAt: 1000,
      updatedAt: 1000,
      ...columns,
    })
    .returning();
  return only(rows);
}

/** A clock that stands still at `now` and returns a fixed random number. */
export const clockAt = (now: number, random = 0.5): Clock => ({
  now: () => now,
  random: () => random,
});

/** Delivers what is due to the hooks, and returns the queue messages that the run sends. */
export async function deliver(
  hookIds: readonly number[],
  clock: Clock = SYSTEM_CLOCK,
  settings: Record<string, string> = {},
  bindings: Partial<Env> = {},
): Promise<{ hookId: number; delaySeconds: number }[]> {
  const sent: { hookId: number; delaySeconds: number }[] = [];
  const queue = {
    async sendBatch(messages: { body: DeliveryJob; delaySeconds: number }[]): Promise<void> {
      for (const { body, delaySeconds } of messages) {
        for (const hookId of body.hookIds) sent.push({ hookId, delaySeconds });
      }
    },
  } as unknown as Env["DELIVERY_JOBS"];
  const ctx = systemCtx({ DELIVERY_JOBS: queue, ...bindings }, clock.now(), {
    ...SETTINGS,
    ...settings,
  });
  await deliverDue(ctx, hookIds, clock);
  return sent;
}

export const deliveriesOf = ({ id }: Hook) =>
  db
    .select()
    .from(hookDeliveries)
    .where(eq(hookDeliveries.hookId, id))
    .orderBy(asc(hookDeliveries.id));

export const deliveryOf = async (hook: Hook): Promise<HookDelivery> =>
  only(await deliveriesOf(hook));

export const hookAfter = async ({ id }: Hook): Promise<Hook> =>
  only(await db.select().from(hooks).where(eq(hooks.id, id)));

/** The Worker's database with a counter of its batch calls. */
export function countingDatabase() {
  const counted = { calls: 0 };
  const DB = watchedDatabase({ onBatch: () => void counted.calls++ });
  return { bindings: { DB }, counted };
}
