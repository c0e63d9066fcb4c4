import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Config } from "../config.ts";
import type { Listed } from "../domain/slice.ts";
import { isTrue } from "../lib/is-true.ts";
import type { GuardVariables } from "./guards/guard.ts";

/**
 * An integer; text that does not parse counts as 0, as in Gitea. Beyond the integers that
 * JavaScript holds exactly it counts as the last of them, which is no id and no page that exists.
 */
const lenientInteger = z
  .string()
  .optional()
  .transform((text = "") => {
    if (!/^[-+]?\d+$/.test(text)) return 0;
    return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  });

/** An integer in the query; 0 if it is missing or does not parse. */
export const queryInteger = (description: string) =>
  lenientInteger.openapi({ type: "integer", format: "int64", description });

/** An id in the query that filters a list; undefined if it is missing, 0 or does not parse. */
export const queryId = (description: string) =>
  lenientInteger
    .transform((id) => (id === 0 ? undefined : id))
    .openapi({ type: "integer", format: "int64", description });

/**
 * A boolean in the query: undefined if it is missing or empty, false if it is anything but a form
 * of true.
 */
export const queryFlag = (description: string) =>
  z
    .string()
    .optional()
    .transform((text = "") => (text === "" ? undefined : isTrue(text)))
    .openapi({ type: "boolean", description });

/** The query of a paginated list. */
export const Paging = z.object({
  page: queryInteger("Page number, from 1"),
  limit: queryInteger("Items per page"),
});

/** A page of a list: its number from 1, its size in items, and the items to skip before it. */
export interface Page {
  number: number;
  size: number;
  offset: number;
}

/** Pages beyond this are empty anyway, and their offset would overflow. */
const NUMBER_MAX = 1_000_000_000;

/**
 * The page that a query selects. Missing or invalid values mean the first page and the default
 * size; a size above the maximum means the maximum.
 */
export function readPage(
  config: Config,
  query: { page: number; limit: number },
  sizeMax = config.pageSizeMax,
): Page {
  const number = Math.min(Math.max(query.page, 1), NUMBER_MAX);
  const size = Math.min(query.limit > 0 ? query.limit : config.pageSizeDefault, sizeMax);
  return { number, size, offset: (number - 1) * size };
}

/** Maximum bytes of file contents in one response, which is built in memory. */
export const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum rows of an unpaginated list. */
const UNPAGED_MAX = 10_000;

/**
 * The page, or all items if the query has no page: for short lists, which clients read without
 * paging.
 */
export function readPageOrAll(config: Config, query: { page: number; limit: number }): Page {
  return query.page > 0 ? readPage(config, query) : { number: 1, size: UNPAGED_MAX, offset: 0 };
}

/**
 * Lists the page that a query selects, and sets the pagination headers.
 *
 * @param read Reads the page from the query; `readPageOrAll` for lists that are complete without a
 *   page.
 */
export async function pageOf<T>(
  c: PageContext,
  query: { page: number; limit: number },
  list: (slice: Page) => Promise<Listed<T>>,
  read: typeof readPageOrAll = readPage,
): Promise<T[]> {
  const page = read(c.var.ctx.config, query);
  const { items, total } = await list(page);
  setPageHeaders(c, page, total);
  return items;
}

/** The part of a request's context that pagination needs. */
export interface PageContext {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx">;
  header(name: string, value: string): void;
}

/** Sets the headers with the total number of items and the links to other pages. */
export function setPageHeaders(c: PageContext, page: Page, total: number): void {
  setHeaders(c, page, total, {});
}

/** The same, with the page number and the number of pages: for lists of commits. */
export function setNumberedPageHeaders(c: PageContext, page: Page, total: number): void {
  const pageCount = Math.ceil(total / page.size);
  setHeaders(c, page, total, {
    "X-Total": total,
    "X-Page": page.number,
    "X-PerPage": page.size,
    "X-PageCount": pageCount,
    "X-HasMore": page.number < pageCount,
  });
}

function setHeaders(
  c: PageContext,
  page: Page,
  total: number,
  more: Readonly<Record<string, number | boolean>>,
): void {
  c.header("X-Total-Count", String(total));
  for (const [name, value] of Object.entries(more)) c.header(name, String(value));
  const lastNumber = Math.max(1, Math.ceil(total / page.size));
  const current = Math.min(page.number, lastNumber);
  const links: string[] = [];
  const link = (rel: string, number: number) =>
    links.push(`<${urlOfPage(c, number)}>; rel="${rel}"`);
  if (current < lastNumber) {
    link("next", current + 1);
    link("last", lastNumber);
  }
  if (current > 1) {
    link("first", 1);
    link("prev", current - 1);
  }
  const exposed = ["X-Total-Count", ...Object.keys(more)];
  if (links.length > 0) {
    c.header("Link", links.join(","));
    exposed.push("Link");
  }
  c.header("Access-Control-Expose-Headers", exposed.join(", "));
}

function urlOfPage(c: PageContext, number: number): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set("page", String(number));
  searchParams.sort();
  return `${c.var.ctx.rootUrl}${pathname}?${searchParams}`;
}
