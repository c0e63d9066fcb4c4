import type { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import type { ApiAnswer, ApiClient, ApiQuery } from "../api-client.ts";

/** The API, and the repository that is read. */
export interface GitHubApi {
  readonly client: ApiClient;
  /** The path of the repository, such as `/repos/octo/app`. */
  readonly path: string;
}

/** The most items that a page has. */
export const PAGE_SIZE = 100;

/** A list that is read as a whole, and what that took. */
interface WholeList<T> {
  readonly items: T[];
  readonly requestCount: number;
  /** Whether there are more pages than were read. */
  readonly isCut: boolean;
}

/**
 * Reads the pages of a short list, as far as `pagesMax` goes.
 *
 * @throws RemoteFailure as `ApiClient.get`.
 */
export async function readWholeList<T>(
  { client }: GitHubApi,
  path: string,
  shape: z.ZodType<T>,
  pagesMax: number,
): Promise<WholeList<T>> {
  const items: T[] = [];
  let requestCount = 0;
  let query: ApiQuery = { per_page: PAGE_SIZE };
  let next: string | undefined = path;
  while (next !== undefined && requestCount < pagesMax) {
    const answer: ApiAnswer<T[]> = await client.get(next, pageShape(shape), query);
    requestCount++;
    items.push(...answer.value);
    next = answer.value.length === 0 ? undefined : answer.next;
    query = {};
  }
  return { items, requestCount, isCut: next !== undefined };
}

/** The shape of a page of a list: GitHub's have at most 100 items. */
export const pageShape = <T>(shape: z.ZodType<T>): z.ZodType<T[]> => boundedList(shape, 1000);
