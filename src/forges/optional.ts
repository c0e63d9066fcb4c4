import { RemoteFailure, type RemoteFailureKind } from "../outgoing/remote-failure.ts";

/** Failures because a forge has no such thing, or shows it to others only. */
export const MISSING: ReadonlySet<RemoteFailureKind> = new Set([
  "not_found",
  "unauthorized",
  "refused",
]);

/** What a forge may not have, or may not show: undefined then. @throws RemoteFailure for any other failure. */
export async function optional<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RemoteFailure && MISSING.has(error.kind)) return undefined;
    throw error;
  }
}
