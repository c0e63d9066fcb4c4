import { sql } from "drizzle-orm";

import { batch } from "../../../db/batch.ts";
import { flagColumn } from "../../../db/db.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { detachLabels, hasForeignLabels } from "./detach-labels.ts";

/**
 * Takes the labels that are left of a transferred repository's former owner off its issues, step by
 * step: the batch of the transfer takes the first ones off.
 */
export const detachFormerLabels: Consequence = {
  name: "former-labels",
  kinds: ["repository.transferred"],
  async handle(ctx, { event }, budget) {
    if (event.type !== "repository.transferred") return undefined;
    const { repoId, formerOwnerId } = event;
    if (formerOwnerId === undefined) return undefined;
    budget.consume(3);
    const isLeft = flagColumn(hasForeignLabels(repoId, formerOwnerId), "is_left");
    const { left } = await batch(ctx.db, {
      detached: detachLabels(ctx, repoId, formerOwnerId),
      left: ctx.db.select({ isLeft }).from(sql`(select 1)`),
    });
    return left[0]?.isLeft === true ? "unfinished" : undefined;
  },
};
