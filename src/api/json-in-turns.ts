import type { Context, TypedResponse } from "hono";

import { pause } from "../lib/time-slice.ts";

/**
 * Writes a list as JSON that may be very long: other requests run meanwhile, where `c.json` writes
 * all of it in one piece.
 *
 * @param toItem    Makes the JSON form of an item.
 * @param itemSteps Steps to make that form, and to write it.
 */
export async function writeList<Item>(
  items: readonly Item[],
  toItem: (item: Item) => object,
  itemSteps: number,
): Promise<string> {
  const written: string[] = [];
  for (const item of items) {
    written.push(JSON.stringify(toItem(item)));
    const turn = pause(itemSteps);
    if (turn) await turn;
  }
  return `[${written.join(",")}]`;
}

/** Responds with JSON that is written already. @typeParam Body The shape of what is written. */
export const answerWritten = <Body>(
  c: Context,
  text: string,
  headers: Record<string, string>,
): Response & TypedResponse<Body, 200, "json"> =>
  // Hono types only what it writes itself.
  c.body(text, 200, { ...headers, "Content-Type": "application/json" }) as unknown as Response &
    TypedResponse<Body, 200, "json">;
