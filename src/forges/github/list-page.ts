import type { z } from "zod";

import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import type { ApiQuery } from "../api-client.ts";
import type { ForeignPage } from "../forge.ts";
import { type GitHubApi, pageShape, PAGE_SIZE } from "./github-api.ts";
import { RequestBudget } from "./request-budget.ts";

interface Listed {
  readonly id: number;
}

/** A page of a list of GitHub, from the cursor's position. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** The cursor of the next page; undefined after the last one. */
  readonly next: string | undefined;
  /** The cursor's position within the first item, of which a part was read; "" for none. */
  readonly within: string;
  /**
   * The cursor of the rest of this page: after `item`, or where this rest begins if there is none.
   * Of the item after it, the part up to `within` was read.
   */
  after(item: T | undefined, within?: string): string;
}

/**
 * Reads a page of a list.
 *
 * GitHub's answer has the query of the next page, with the number of the page or, in long lists, an
 * opaque text. The cursor is that query and the id of the item of that page that was read last. If
 * that item was deleted in the meantime, the whole page is read again.
 *
 * @param query The query of the first page.
 * @throws RemoteFailure as `ApiClient.get`; `protocol` if a page leads back.
 */
export async function readListPage<T extends Listed>(
  { client }: GitHubApi,
  path: string,
  shape: z.ZodType<T>,
  query: ApiQuery,
  cursor: string | undefined,
): Promise<ListPage<T>> {
  const from = parseCursor(cursor);
  const { value, next } = await client.get(
    `${path}${from.page}`,
    pageShape(shape),
    from.page === "" ? { per_page: PAGE_SIZE, ...query } : {},
  );
  const nextPage = value.length === 0 ? undefined : next?.slice(path.length);
  if (nextPage !== undefined && leadsBack(from.page, nextPage)) {
    throw new RemoteFailure("protocol", `a page of ${path} leads back`);
  }
  const readCount = value.findIndex(({ id }) => String(id) === from.after) + 1;
  return {
    items: value.slice(readCount),
    next:
      nextPage === undefined ? undefined : formatCursor({ page: nextPage, after: "", within: "" }),
    within: from.within,
    after: (item, within = "") =>
      formatCursor({ page: from.page, after: item ? String(item.id) : from.after, within }),
  };
}

/**
 * Converts the items of a page, as far as the budget of requests goes.
 *
 * @param costOf  How many requests an item takes.
 * @param convert Returns undefined for an item that is skipped.
 */
export async function convertPage<T extends Listed, R>(
  page: ListPage<T>,
  costOf: (item: T) => number,
  convert: (item: T) => Promise<R | undefined>,
): Promise<ForeignPage<R>> {
  const budget = new RequestBudget();
  const items: R[] = [];
  let last: T | undefined;
  for (const item of page.items) {
    const cost = costOf(item);
    if (!budget.allows(cost)) return { items, next: page.after(last) };
    budget.spend(cost);
    const converted = await convert(item);
    if (converted !== undefined) items.push(converted);
    last = item;
  }
  return { items, next: page.next };
}

/** Whether a page's query leads to itself or to a page before it: such a list would not end. */
function leadsBack(page: string, next: string): boolean {
  const from = new URLSearchParams(page);
  const to = new URLSearchParams(next);
  return (
    next === page || (to.has("page") && Number(to.get("page")) <= Number(from.get("page") ?? 1))
  );
}

interface Cursor {
  /** The query of a page, from its `?`; "" for that of the first page. */
  readonly page: string;
  /**
   * The id of the last item of the page that was read, and how far the one after it was; "" for
   * none.
   */
  readonly after: string;
  readonly within: string;
}

const formatCursor = ({ page, after, within }: Cursor): string => `${after}/${within}${page}`;

function parseCursor(cursor: string | undefined): Cursor {
  const [, after = "", within = "", page = ""] =
    /^(\d*)\/([^?]*)(\?.*)?$/s.exec(cursor ?? "/") ?? [];
  return { after, within, page };
}
