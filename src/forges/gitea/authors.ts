import type { z } from "zod";

import type { ForeignUser } from "../forge.ts";
import type { GiteaUser } from "./shapes.ts";

const GHOST: ForeignUser = { id: 0, name: "Ghost" };

/** The forge shows deleted accounts as an account without an id of its own, or as none. */
export function userOf(user: z.output<typeof GiteaUser> | null | undefined): ForeignUser {
  if (!user) return GHOST;
  return user.id > 0
    ? { id: user.id, name: user.login }
    : { id: 0, name: user.login || GHOST.name };
}

/** The author of something that the forge itself may have from elsewhere. */
export const authorOf = (item: {
  readonly user?: z.output<typeof GiteaUser> | null | undefined;
  readonly original_author: string;
}): ForeignUser =>
  item.original_author === "" ? userOf(item.user) : { id: 0, name: item.original_author };
