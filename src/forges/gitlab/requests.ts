import type { z } from "zod";

import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import type { ApiAnswer, ApiClient, ApiQuery } from "../api-client.ts";

/**
 * After so many requests no further item is begun. With what the item at hand needs, some 30 are
 * made.
 */
const REQUESTS_MAX = 20;
/** How many requests are under way at once: a Worker may have six connections. */
const AT_ONCE = 5;

/** The requests of one page. */
export class Requests {
  private readonly api: ApiClient;
  private count = 0;

  constructor(api: ApiClient) {
    this.api = api;
  }

  /** Whether no further item should be begun. */
  get isSpent(): boolean {
    return this.count >= REQUESTS_MAX;
  }

  /** @throws RemoteFailure See `ApiClient.get`. */
  get<T>(path: string, shape: z.ZodType<T>, query?: ApiQuery): Promise<ApiAnswer<T>> {
    this.count++;
    return this.api.get(path, shape, query);
  }

  /**
   * Reads items, a few at once, until the requests are spent or one fails.
   *
   * A failure that may pass ends the page before its item, so that a page that needs many requests
   * gets on against a server that fails often. If it lasts, the next page meets it first.
   *
   * @param hasMore Whether the page has something even without these items.
   * @returns What was read of the first items: fewer than given if the page ends before.
   * @throws RemoteFailure if the first item fails and the page has nothing else, or if a failure
   *   will not pass.
   */
  async readFirst<T, R>(
    items: readonly T[],
    hasMore: boolean,
    read: (item: T) => Promise<R>,
  ): Promise<R[]> {
    const results: R[] = [];
    while (results.length < items.length && (results.length === 0 || !this.isSpent)) {
      const batch = items.slice(results.length, results.length + AT_ONCE);
      for (const result of await Promise.allSettled(batch.map((item) => read(item)))) {
        if (result.status === "fulfilled") results.push(result.value);
        else if ((hasMore || results.length > 0) && mayPass(result.reason)) return results;
        else throw result.reason;
      }
    }
    return results;
  }
}

const mayPass = (error: unknown): boolean => error instanceof RemoteFailure && error.mayPass;

/** Whether a request failed because there is no such thing, or nothing for this caller. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof RemoteFailure && (error.kind === "not_found" || error.kind === "unauthorized");

/** Whether a request failed because there is no such thing: it was deleted after it was listed. */
export const isGone = (error: unknown): boolean =>
  error instanceof RemoteFailure && error.kind === "not_found";
