import { invalidField } from "./failure.ts";

/**
 * Two slashes, since a browser reads `http:page` as a path of the site that shows it. No blanks
 * around, which browsers would drop and other clients would not.
 */
const START = /^https?:[/\\]{2}\S/i;

/** Whether a text is the URL of a page: absolute, with http or https. */
export const isWebAddress = (text: string): boolean =>
  START.test(text) && !/\s$/.test(text) && URL.canParse(text);

/**
 * SECURITY: pages link to these addresses and show them as images; with another scheme, such as
 * `javascript:`, one could be a script.
 *
 * @param field The field, as it is sent. Without a text, it is empty or not sent.
 * @throws Failure `invalid` for a text that is no URL with http or https.
 */
export function checkWebAddress(text: string | undefined, field: string): void {
  if (text && !isWebAddress(text)) {
    throw invalidField(field, "must be a URL with http or https");
  }
}
