import { eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { type Hook, webhookEvents } from "../../../../db/schema/index.ts";
import {
  type DeliveryContent,
  toDeliveryContent,
} from "../../../../events/webhooks/deliveries/delivery-request.ts";
import { formatContent } from "../../../../events/webhooks/deliveries/format-content.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { LruCache } from "../../../../lib/lru-cache.ts";
import { readContent } from "./delivery-archive.ts";

/** The payload of a webhook event. */
export interface PayloadRow {
  readonly id: number;
  readonly event: string;
  readonly payload: object;
  /** Characters of the payload's JSON. */
  readonly size: number;
}

/**
 * Bytes of the payloads and contents that a run holds, roughly. Beyond that, they are read again.
 */
const HELD_BYTES_MAX = 24 * 1024 * 1024;
/** Bytes that a payload and its contents take, for each character of its JSON. */
const BYTES_PER_CHARACTER = 5;

type Contents = Map<string, DeliveryContent | undefined>;

/**
 * The contents of webhook events in the forms of their hooks: each is formatted and encoded once in
 * a run, however many hooks receive it.
 */
export class DeliveryContents {
  readonly #ctx: Ctx;
  readonly #rows = new LruCache<{ row: PayloadRow; contents: Contents }>(HELD_BYTES_MAX);
  readonly #ids = new Set<number>();

  constructor(ctx: Ctx) {
    this.#ctx = ctx;
  }

  /** The webhook events whose payloads were added so far. */
  get knownIds(): readonly number[] {
    return [...this.#ids];
  }

  add(rows: readonly PayloadRow[]): void {
    for (const row of rows) {
      this.#ids.add(row.id);
      const held = { row, contents: new Map() };
      this.#rows.set(String(row.id), held, row.size * BYTES_PER_CHARACTER);
    }
  }

  /**
   * The content of a webhook event in the form of a hook.
   *
   * Cost: one round trip if the payload was not added, or is held no more, and a read of the bucket
   * if it is archived.
   *
   * @returns Undefined if the hook is a chat and the payload makes no message.
   */
  async find({ type, chat }: Hook, webhookEventId: number): Promise<DeliveryContent | undefined> {
    const { row, contents } =
      this.#rows.get(String(webhookEventId)) ?? (await this.#read(webhookEventId));
    const takesPayload = type === "gitea" || type === "gogs";
    const form = takesPayload ? "payload" : `${type} ${JSON.stringify(chat)}`;
    if (!contents.has(form)) {
      const slack = { channel: "", username: "", iconUrl: "", color: "", ...chat };
      const payload = { event: row.event, body: row.payload } as Payload;
      const text = formatContent({ type, slack }, payload);
      contents.set(form, text === undefined ? undefined : toDeliveryContent(text));
    }
    return contents.get(form);
  }

  async #read(id: number): Promise<{ row: PayloadRow; contents: Contents }> {
    const { event, payload, archive } = webhookEvents;
    const [row] = await this.#ctx.db
      .select({ id: webhookEvents.id, event, payload, archive })
      .from(webhookEvents)
      .where(eq(webhookEvents.id, id));
    const content = row && (await readContent(this.#ctx, row));
    if (!content) throw new Error(`webhook event ${id} is gone`);
    const found = { id, event: row.event, payload: content.payload, size: 0 };
    return { row: found, contents: new Map() };
  }
}
