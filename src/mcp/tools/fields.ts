import { z } from "@hono/zod-openapi";

import { invalid } from "../../lib/failure.ts";

/** Entries of a page of a list. */
const PAGE_SIZE = 20;

/** The repository of a tool, as `owner/name`, which the server says of all tools. */
export const repository = z.string().max(512);

export const cursor = z.string().max(512).optional();

export const number = z
  .int()
  .min(1)
  .max(2 ** 53 - 1);

/** A branch, tag or commit. */
export const ref = z.string().max(1024).optional().describe("branch, tag or commit");

export const path = z.string().min(1).max(4096);

/** Splits `owner/name`. */
export function splitName(fullName: string): { owner: string; name: string } {
  const [owner = "", name = "", ...rest] = fullName.split("/");
  if (owner === "" || name === "" || rest.length > 0) {
    throw invalid("[repository]: must be owner/name");
  }
  return { owner, name };
}

/** The number of the page that a cursor names. */
function pageOf(given: string | undefined): number {
  if (given === undefined) return 1;
  if (!/^[1-9]\d{0,6}$/.test(given)) throw invalid("[cursor]: must be that of an answer");
  return Number(given);
}

/** The query of a page. */
export const pageQuery = (given: string | undefined) => ({ page: pageOf(given), limit: PAGE_SIZE });

/** The cursor of the page after a page. */
export const nextPage = (
  given: string | undefined,
  { hasMore }: { readonly hasMore: boolean },
): string | undefined => (hasMore ? String(pageOf(given) + 1) : undefined);

/** The offset in a text that a cursor names, in characters. */
export function offsetOf(given: string | undefined): number {
  if (given === undefined) return 0;
  if (!/^\d{1,9}$/.test(given)) throw invalid("[cursor]: must be that of an answer");
  return Number(given);
}
