import { RemoteFailure, type RemoteFailureKind } from "../outgoing/remote-failure.ts";

/** Failures because a forge has no such thing, or shows it to others only. */
export const ABSENCES: ReadonlySet<RemoteFailureKind> = new Set([
  "not_found",
  "unauthorized",
  "refused",
]);

/** Failures because something was deleted after it was listed. */
export const DELETIONS: ReadonlySet<RemoteFailureKind> = new Set(["not_found"]);

/**
 * Reads a part that a forge may lack, or hide: undefined then.
 *
 * @param absences The failures that mean absence.
 * @throws RemoteFailure for any other failure.
 */
export async function optional<T>(work: Promise<T>, absences = ABSENCES): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RemoteFailure && absences.has(error.kind)) return undefined;
    throw error;
  }
}
