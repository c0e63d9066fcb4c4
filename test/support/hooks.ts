import {
  webhookEvents,
  hookDeliveries,
  hooks,
  type WebhookEventRow,
  type Hook,
  type HookDelivery,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { History } from "./commits.ts";
import { db } from "./db.ts";
import type { TestRepo } from "./make.ts";
import { storePush } from "./push.ts";

/** Inserts an active hook for pushes; `fields` overrides the defaults. */
export async function makeHook(
  fields: Pick<Hook, "level" | "approverId"> & Partial<Hook>,
): Promise<Hook> {
  const rows = await db
    .insert(hooks)
    .values({
      type: "gitea",
      url: "https://receiver.example/hook",
      contentType: "json",
      chat: {},
      events: ["push"],
      isActive: true,
      createdAt: 1000,
      updatedAt: 1000,
      ...fields,
    })
    .returning();
  return only(rows);
}

/** The part of a push payload that most tests need. */
export const PUSHED = { ref: "refs/heads/main", commits: [] };

/** A stored delivery without a next attempt, with a webhook event of its own. */
export async function makeKeptDelivery(
  { id: hookId }: Pick<Hook, "id">,
  fields: Partial<HookDelivery> = {},
  eventFields: Partial<WebhookEventRow> = {},
): Promise<HookDelivery & { eventId: number }> {
  const { event = "push", createdAt = Date.now() } = fields;
  const eventId = nextEventId--;
  const { id: webhookEventId } = only(
    await db
      .insert(webhookEvents)
      .values({ eventId, part: 0, event, repoId: 0, payload: PUSHED, createdAt, ...eventFields })
      .returning({ id: webhookEvents.id }),
  );
  const rows = await db
    .insert(hookDeliveries)
    .values({
      hookId,
      webhookEventId,
      uuid: crypto.randomUUID(),
      event,
      status: "failed",
      createdAt,
      updatedAt: createdAt,
      ...fields,
    })
    .returning();
  return { ...only(rows), eventId };
}

/** Negative, so that it never equals the id of a recorded event. */
let nextEventId = -1_000_000;

/** Two branches, `main` and `some/branch`, of one commit each. */
export async function makeHistory(repo: TestRepo): Promise<{ main: string; some: string }> {
  const history = new History();
  const main = history.commit({ files: { file: "one\n" } });
  const some = history.commit({ files: { file: "two\n" } });
  const pack = history.build();
  await storePush(repo, "refs/heads/main", main, pack);
  await storePush(repo, "refs/heads/some/branch", some, pack);
  return { main, some };
}
