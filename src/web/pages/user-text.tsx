import { raw } from "hono/html";

/**
 * A text of a user as HTML that was sanitized.
 *
 * SECURITY: in a section, since a stray part of a list in the text would end the item of a list of
 * the page, by the rules of HTML; at a section they stop.
 */
export function UserText({ html }: { html: string }) {
  return <section class="markup">{raw(html)}</section>;
}
