import { z } from "zod";

import { shortText } from "../fields.ts";
import type { ForeignUser } from "../forge.ts";

export const Id = z.int().nonnegative();

/** A name or the like that is never empty. */
export const filledText = shortText.refine((text) => text !== "");

/** The account that stands for deleted ones. */
const GHOST: ForeignUser = { id: 0, name: "ghost" };

/** An account; null if it was deleted, unless GitHub has put its account `ghost` in its stead. */
export const Account = z
  .object({ id: Id, login: filledText })
  .nullish()
  .transform((user): ForeignUser => {
    if (!user || user.login === GHOST.name) return GHOST;
    return { id: user.id, name: user.login };
  });

/** The number of reactions, which saves most requests. Old servers don't state it. */
export const ReactionCounts = z.object({ total_count: z.int().nonnegative() }).nullish();
export type ReactionCounts = z.infer<typeof ReactionCounts>;

/** Something that is referred to by its id. */
export const Referenced = z.object({ id: Id });
