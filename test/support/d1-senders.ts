import { env } from "cloudflare:workers";

/**
 * The methods of a D1 session that every call passes through: the first by HTTP, the second by RPC.
 */
const SENDERS = ["_send", "_queryOrThrow"] as const;
/** Those of a session of the local database. */
const LOCAL_SENDERS = ["send"] as const;

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * What all sessions of D1 have in common, and the names of its methods by which calls are counted.
 */
export function d1Senders(): { session: Record<string, Method>; names: readonly string[] } {
  const session = Object.getPrototypeOf(env.DB.withSession()) as Record<string, Method>;
  const names = env.LOCAL_DB ? LOCAL_SENDERS : SENDERS;
  for (const name of names) {
    if (typeof session[name] !== "function") {
      throw new Error(`D1 has no ${name} to count its calls by`);
    }
  }
  return { session, names };
}
