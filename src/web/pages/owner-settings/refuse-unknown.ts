import { Failure, invalidField } from "../../../lib/failure.ts";

/**
 * Refuses a name of nothing at the field of a form, which would have no page of its own to show
 * again otherwise.
 *
 * @example
 * await startTransfer(…).catch(refuseUnknown("new_owner", "must be a user"));
 */
export const refuseUnknown =
  (field: string, rule: string) =>
  (error: unknown): never => {
    if (!(error instanceof Failure) || error.kind !== "not_found") throw error;
    throw invalidField(field, rule);
  };
