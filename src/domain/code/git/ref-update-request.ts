import { encodeText } from "../../../git/byte-text.ts";
import { NULL_OID, type Oid } from "../../../git/oid.ts";
import type { RefResult } from "../../../git/wire/receive-report.ts";
import type { RefCommand } from "../../../git/wire/receive-request.ts";
import { conflict, type Failure } from "../../../lib/failure.ts";

/**
 * A ref to update, by its full name in UTF-16 text. Without `from` it is created, without `to`
 * deleted.
 */
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

/** The result of a ref update. */
export type PushedRef = RefResult & {
  /**
   * Why the caller's token, or a rule for branches or tags, does not allow it, whatever the state
   * of the ref; undefined for any other refusal.
   */
  readonly failure?: Failure;
  /** Whether it is refused only because others changed the repository meanwhile. */
  readonly isStale?: boolean;
};

/**
 * Asserts that an atomic set of ref updates was applied.
 *
 * @throws Failure `conflict` that names the refused ref. BeyondToken if the caller's token may not
 * update it, ProtectedRef if a rule does not allow it.
 */
export function requireUpdated(results: readonly PushedRef[]): void {
  for (const result of results) {
    if (result.failure) throw result.failure;
    if (result.kind === "refused" && result.reason !== "atomic push failure") {
      throw conflict(`${result.ref}: ${result.reason}`);
    }
  }
}
