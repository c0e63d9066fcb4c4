import type { Context } from "hono";

import type { Slice } from "../../domain/slice.ts";

/** Pages beyond this are empty, and their offset would overflow. */
const NUMBER_MAX = 1_000_000_000;

/** A page of a list that a reader turns. */
export interface ListPage extends Slice {
  /** From 1. */
  readonly number: number;
}

/** The page of a list that the query names by `page`; the first one if it names none. */
export function readListPage(c: Context, size: number): ListPage {
  const text = c.req.query("page") ?? "";
  const number = /^\d{1,15}$/.test(text) ? Math.min(Math.max(Number(text), 1), NUMBER_MAX) : 1;
  return { number, size, offset: (number - 1) * size };
}

interface PagerProps {
  /** The URL of the page, with its query. */
  url: string;
  page: ListPage;
  total: number;
}

/** The links to the pages before and after, with all other parameters of the query. */
export function Pager({ url, page: { number, size }, total }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / size));
  if (last === 1 && number === 1) return <></>;
  const hrefOf = (to: number): string => {
    const { searchParams } = new URL(url);
    searchParams.set("page", String(to));
    return `?${searchParams.toString()}`;
  };
  return (
    <nav class="pager" aria-label="Pages">
      {number > 1 ? (
        <a class="button" rel="prev" href={hrefOf(Math.min(number - 1, last))}>
          Previous
        </a>
      ) : undefined}
      <span class="soft">{`Page ${number} of ${last}`}</span>
      {number < last ? (
        <a class="button" rel="next" href={hrefOf(number + 1)}>
          Next
        </a>
      ) : undefined}
    </nav>
  );
}
