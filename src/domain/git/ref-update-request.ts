import { encodeText } from "../../git/byte-text.ts";
import { NULL_OID, type Oid } from "../../git/oid.ts";
import type { RefResult } from "../../git/wire/receive-report.ts";
import type { RefCommand } from "../../git/wire/receive-request.ts";
import { conflict } from "../../lib/failure.ts";

/** One ref to move, by its full name as people write it. An id left out stands for "not there". */
export interface RefUpdateRequest {
  readonly ref: string;
  readonly from?: Oid;
  readonly to?: Oid;
}

export const toCommand = ({ ref, from, to }: RefUpdateRequest): RefCommand => ({
  ref: encodeText(ref),
  oldOid: from ?? NULL_OID,
  newOid: to ?? NULL_OID,
});

/**
 * Asserts that refs which move all or none have moved.
 *
 * @throws Failure `conflict` that names the ref which was refused.
 */
export function requireMoved(results: readonly RefResult[]): void {
  for (const result of results) {
    if (result.kind === "refused" && result.reason !== "atomic push failure") {
      throw conflict(`${result.ref}: ${result.reason}`);
    }
  }
}
