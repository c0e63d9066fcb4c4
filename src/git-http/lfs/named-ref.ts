import { z } from "zod";

import { requireRefInReach } from "../../auth/access/credential-reach.ts";
import type { Actor } from "../../auth/actor.ts";
import { encodeText } from "../../git/byte-text.ts";

/**
 * The ref for which a client makes a request, by its full name. Clients before Git LFS 2.4 name
 * none.
 */
export const NamedRef = z.object({ name: z.string().nullish() }).nullish();

/**
 * Refuses a write for a ref to which the caller's token is not bound.
 *
 * A request that names no ref passes: it stores a file or a lock, which no ref holds until a push
 * that is checked.
 *
 * @throws BeyondToken
 * @see git-lfs, docs/api/batch.md and docs/api/locking.md, "ref".
 */
export function requireNamedRefInReach(actor: Actor, ref: z.infer<typeof NamedRef>): void {
  if (ref?.name) requireRefInReach(actor, encodeText(ref.name));
}
