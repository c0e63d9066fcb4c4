import type { Server } from "../support/service.ts";

/** A registry that is measured. */
export type Registry = Server & {
  name: string;
  /** The path of the registry of a format, with a slash at its end. */
  path: string;
  /** For what anonymous callers may not do; undefined if they may do all. */
  token?: string;
  pid: () => number;
};

/** The address that clients are given. */
export const addressOf = ({ origin, path }: Registry): string => new URL(path, origin).href;

/** The header by which a registry knows the caller. */
export const authorizationOf = ({ token }: Registry): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Runs work for each of some items, a few at once. */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const loop = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}
