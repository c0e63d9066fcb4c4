import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import type { Config } from "../config.ts";
import type { Listed } from "../domain/slice.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** Numbers that can't be read count as 0, as clients of the field expect. */
const lenientInteger = z
  .string()
  .optional()
  .transform((text) => (/^-?\d{1,15}$/.test(text ?? "") ? Number(text) : 0));

/** An integer in the query; 0 when it is missing or none. */
export const queryInteger = (description: string) =>
  lenientInteger.openapi({ type: "integer", format: "int64", description });

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True", "on"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False", "off"]);

/** A flag in the query; undefined when it is missing or neither. */
export const queryFlag = (description: string) =>
  z
    .string()
    .optional()
    .transform((text) =>
      text !== undefined && TRUE.has(text)
        ? true
        : text !== undefined && FALSE.has(text)
          ? false
          : undefined,
    )
    .openapi({ type: "boolean", description });

/** The query of a list. */
export const Paging = z.object({
  page: queryInteger("Page, from 1"),
  limit: queryInteger("Items on a page"),
});

/** A page of a list: how many items, and how many to pass over. */
export interface Page {
  number: number;
  size: number;
  offset: number;
}

/** Pages beyond this are empty anyway, and their offset would not fit. */
const NUMBER_MAX = 1_000_000_000;

/**
 * The page that a query asks for. Nothing, zero and nonsense mean the first page and the default
 * size; too much means the most there is.
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

/** What of the contents of files one answer holds, in bytes: an answer is made in memory. */
export const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

/** Rows of a list that is short by nature, at most. */
const WHOLE_MAX = 10_000;

/** The page, or everything where the query names none: for the lists that clients read without paging. */
export function readPageOrWhole(config: Config, query: { page: number; limit: number }): Page {
  return query.page > 0 ? readPage(config, query) : { number: 1, size: WHOLE_MAX, offset: 0 };
}

/**
 * The page of a list that a query asks for, announced on the answer.
 *
 * @param read How the query is read: for lists that come whole without a page, `readPageOrWhole`.
 */
export async function pageOf<T>(
  c: Answer,
  query: { page: number; limit: number },
  list: (slice: Page) => Promise<Listed<T>>,
  read: typeof readPageOrWhole = readPage,
): Promise<T[]> {
  const page = read(c.var.ctx.config, query);
  const { items, total } = await list(page);
  setPageHeaders(c, page, total);
  return items;
}

/** What of a request's context a page is announced on. */
interface Answer {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx">;
  header(name: string, value: string): void;
}

/** Says on the answer how many items there are and where the other pages are. */
export function setPageHeaders(c: Answer, page: Page, total: number): void {
  setHeaders(c, page, total, {});
}

/** The same, with the number of the page and how many there are: for lists of commits. */
export function setNumberedPageHeaders(c: Answer, page: Page, total: number): void {
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
  c: Answer,
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

function urlOfPage(c: Answer, number: number): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set("page", String(number));
  searchParams.sort();
  return `${c.var.ctx.rootUrl}${pathname}?${searchParams}`;
}
