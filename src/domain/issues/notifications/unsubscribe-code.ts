import { z } from "zod";

import { seal, unseal } from "../../../auth/seal.ts";
import type { Config } from "../../../config.ts";

const PURPOSE = "unsubscribe";

const Code = z.object({ userId: z.int(), issueId: z.int() });
/** The user whom a link in a mail unsubscribes, and the issue. */
type Unsubscription = z.infer<typeof Code>;

/**
 * A code by which the reader of a mail unsubscribes from its issue without signing in. It does
 * nothing else, works more than once, and is not stored: it is valid as long as the key that sealed
 * it.
 */
export const makeUnsubscribeCode = (
  { sealingKeys }: Config,
  { userId, issueId }: Unsubscription,
): Promise<string> => seal(sealingKeys, JSON.stringify({ userId, issueId }), PURPOSE);

/** Reads a code; undefined for one that is not valid. */
export async function readUnsubscribeCode(
  { sealingKeys }: Config,
  code: string,
): Promise<Unsubscription | undefined> {
  const unsealed = await unseal(sealingKeys, code, PURPOSE);
  return unsealed.kind === "open" ? Code.parse(JSON.parse(unsealed.text)) : undefined;
}
