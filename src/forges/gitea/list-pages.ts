import type { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import type { ApiClient, ApiQuery } from "../api-client.ts";
import { optional } from "../optional.ts";
import { numberOf } from "../cursor.ts";
import type { ForeignPage } from "../forge.ts";
import { ApiSettings } from "./shapes.ts";

/** The most that servers of the usual settings have in a page. */
const ITEMS_MAX = 50;
/** How often a page is asked for because the list has changed meanwhile. */
const ATTEMPTS_MAX = 3;

/** A part of a list. */
export interface ListWindow<T> {
  readonly items: readonly T[];
  /** The position in the list of the first item. */
  readonly start: number;
  /** Where the next part begins: further than there are items, if the server hides some of them. */
  readonly end: number;
  /** Undefined if the server does not state it. */
  readonly total: number | undefined;
  readonly isLast: boolean;
}

/** A list of the API: a path, the shape of its items, and the query without the page. */
export interface ApiList<T> {
  readonly path: string;
  readonly shape: z.ZodType<T>;
  readonly query?: ApiQuery;
  /** The number of items to request in one page. */
  readonly size: number;
}

/**
 * Reads lists by position rather than by page number, since servers shorten pages: a page of a
 * number begins elsewhere if a page is shorter than was asked for.
 */
export class ListPages {
  private readonly client: ApiClient;
  /** The maximum that the server states, if it does. */
  private statedMax: Promise<number | undefined> | undefined;
  /** The length of a first page that was shorter than was asked for. */
  private shortestPage: number | undefined;

  constructor(client: ApiClient) {
    this.client = client;
  }

  /** Reads the page that has the item at `position`; it may begin before. */
  async readAround<T>(list: ApiList<T>, position: number): Promise<ListWindow<T>> {
    const limit = Math.min(list.size, await this.readItemsMax(list, position));
    const page = Math.floor(position / limit) + 1;
    const { items, total, hasNext } = await this.get(list, page, limit);
    const count = items.length;
    // Old versions ignore the page of some lists. A part of it is read at a time, since items may
    // need requests.
    if (count > limit) {
      const start = (page - 1) * limit;
      const end = Math.min(count, start + limit);
      const part = items.slice(start, end);
      return { items: part, start, end, total: count, isLast: end === count || part.length === 0 };
    }
    const isShort =
      page === 1 && total !== undefined && count > 0 && count < Math.min(limit, total);
    if (isShort) this.shortestPage = count;
    const start = (page - 1) * limit;
    const end = isShort ? count : start + limit;
    const isEnd = total === undefined ? !hasNext && count < limit : end >= total;
    return { items, start, end, total, isLast: isEnd || count === 0 };
  }

  /** Reads from a position on. */
  async readFrom<T>(list: ApiList<T>, position: number): Promise<ListWindow<T>> {
    const { items, start, ...rest } = await this.readAround(list, position);
    return { ...rest, items: items.slice(position - start), start: position };
  }

  /** A page of a list in the order of the server, which puts new items last. */
  async readForward<T>(list: ApiList<T>, cursor: string | undefined): Promise<ForeignPage<T>> {
    const position = numberOf(cursor);
    const { items, end, total, isLast } = await this.readFrom(list, position);
    return { items, next: isLast ? undefined : String(end), total };
  }

  /**
   * A page, oldest first, of a list that the server gives newest first: it is read from its end,
   * which new items do not shift. The cursor has the number of read items and the total.
   */
  async readBackward<T>(list: ApiList<T>, cursor: string | undefined): Promise<ForeignPage<T>> {
    const [first, second] = cursor?.split("/") ?? [];
    const done = numberOf(first);
    let total = second === undefined ? undefined : numberOf(second);
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      if (total !== undefined && total <= done) return { items: [], next: undefined, total };
      const page: ListWindow<T> = await this.readAround(
        list,
        total === undefined ? 0 : total - 1 - done,
      );
      if (page.total === undefined) {
        throw new RemoteFailure("protocol", `${list.path} does not state the number of items`);
      }
      total = page.total;
      // The list may have grown or shrunk since.
      const position = total - 1 - done;
      if (position >= page.start && position < page.end) {
        if (page.items.length === 0) {
          throw new RemoteFailure("protocol", `${list.path} has fewer items than it states`);
        }
        const items = page.items.slice(0, position - page.start + 1).toReversed();
        const next = page.start === 0 ? undefined : `${total - page.start}/${total}`;
        return { items, next, total };
      }
    }
    throw new RemoteFailure("protocol", `${list.path} changes too fast`);
  }

  private async get<T>({ path, shape, query }: ApiList<T>, page: number, limit: number) {
    const { value, total, next } = await this.client.get(path, arrayOf(shape), {
      ...query,
      page,
      limit,
    });
    return { items: value ?? [], total, hasNext: next !== undefined };
  }

  /**
   * The maximum length of pages: as the server states, or else the length of a list's first page.
   * The first position needs neither, since it begins the first page of any length.
   */
  private async readItemsMax(list: ApiList<unknown>, position: number): Promise<number> {
    this.statedMax ??= this.readStatedMax();
    const max = (await this.statedMax) ?? this.shortestPage;
    if (max !== undefined || position === 0) return max ?? ITEMS_MAX;
    await this.readAround(list, 0);
    return this.shortestPage ?? ITEMS_MAX;
  }

  private async readStatedMax(): Promise<number | undefined> {
    try {
      const settings = (await optional(this.client.get("/settings/api", ApiSettings)))?.value;
      return settings && settings.max_response_items > 0 ? settings.max_response_items : undefined;
    } catch (error) {
      this.statedMax = undefined;
      throw error;
    }
  }
}

/** Go writes some empty lists as null. A list that comes as a whole has more than a page. */
const arrayOf = <T>(shape: z.ZodType<T>): z.ZodType<T[] | null> =>
  boundedList(shape, 10_000).nullable();
