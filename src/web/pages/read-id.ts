import { notFound } from "../../lib/failure.ts";

/**
 * The id in a form.
 *
 * @throws Failure `not_found` for anything that is no id.
 */
export function readId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound();
  return Number(text);
}
