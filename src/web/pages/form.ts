import type { Context } from "hono";

import { makeFormToken } from "../../auth/session.ts";
import { Failure, invalidField, malformed, tooLarge } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { formSecret, readCookie } from "../cookies.ts";

/** The field of a form that holds its token. */
export const FORM_TOKEN_FIELD = "_csrf";

/** Maximum bytes of a form. The largest field is an OpenPGP key. */
const BYTES_MAX = 128 * 1024;
/** Maximum bytes of a form with a text of issues, whose characters may take nine bytes each. */
export const TEXT_FORM_BYTES_MAX = 3 * 1024 * 1024;

/** The fields of a form that this service's own page sent. */
export class Form {
  private readonly fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>) {
    this.fields = fields;
  }

  /** The form with other values of some fields. */
  with(fields: Readonly<Record<string, string>>): Form {
    return new Form(new Map([...this.fields, ...Object.entries(fields)]));
  }

  /** A field as it was sent; "" if it is missing. */
  text(name: string): string {
    return this.fields.get(name) ?? "";
  }

  /**
   * A field without white space around it.
   *
   * @throws Failure `invalid` for a longer text.
   */
  line(name: string, charsMax: number): string {
    const text = this.text(name).trim();
    if (text.length > charsMax) {
      throw invalidField(name, `must have at most ${charsMax} characters`);
    }
    return text;
  }

  /** Whether a checkbox is set. */
  isSet(name: string): boolean {
    return this.fields.has(name);
  }

  /** The names of fields with this beginning, as of the checkboxes of a group. */
  namesWith(beginning: string): string[] {
    return [...this.fields.keys()].filter((name) => name.startsWith(beginning));
  }
}

/** The token for the forms of a page. */
export const openFormToken = (c: Context<WebEnv>): Promise<string> => makeFormToken(formSecret(c));

/** A form was sent from another site, or by a page of another session. */
export class ForeignForm extends Failure {
  constructor(message: string) {
    super("forbidden", message);
  }
}

/**
 * Reads the form of a request.
 *
 * @throws Failure as `receiveForm` and `requireOwnForm`.
 */
export async function readForm(c: Context<WebEnv>): Promise<Form> {
  requireSameOrigin(c);
  const form = await receiveForm(c);
  await requireOwnForm(c, form);
  return form;
}

/**
 * Reads the form of a request, before it is known who sent it: see `requireOwnForm`.
 *
 * @throws Failure `malformed` for a body that is no form or repeats a field, `too_large` for a
 *   large one.
 */
export const receiveForm = async (c: Context<WebEnv>, bytesMax = BYTES_MAX): Promise<Form> =>
  new Form(await readFields(c, bytesMax));

/**
 * Refuses a form that none of this service's own pages for the reader sent.
 *
 * SECURITY: a browser sends its cookies with a form of any site. So the form must come from a
 * page of this origin, and hold a token that only such a page has.
 *
 * @throws ForeignForm
 */
export async function requireOwnForm(c: Context<WebEnv>, form: Form): Promise<void> {
  requireSameOrigin(c);
  const secret = readCookie(c, "session") ?? readCookie(c, "form");
  const token = secret === undefined ? undefined : await makeFormToken(secret);
  if (token === undefined || form.text(FORM_TOKEN_FIELD) !== token) {
    throw new ForeignForm(
      "This form is too old, or your browser sends no cookies. Go back, reload the page and try again.",
    );
  }
}

function requireSameOrigin(c: Context<WebEnv>): void {
  if (!isSameOrigin(c)) throw new ForeignForm("This form was sent from another site.");
}

/**
 * Whether a page of this service sent the request, as the browser states it: by `Sec-Fetch-Site`,
 * or by `Origin` where a browser does not know that header or the service has no TLS. A request
 * with neither is refused.
 */
function isSameOrigin(c: Context<WebEnv>): boolean {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  if (site !== undefined && site !== "same-origin") return false;
  // The service's address, and the one by which it was reached: a proxy in front of it may end TLS.
  const own = [c.var.base.rootUrl, c.req.url].map((url) => new URL(url).origin);
  return origin === undefined ? site !== undefined : own.includes(origin);
}

async function readFields(c: Context<WebEnv>, bytesMax: number): Promise<Map<string, string>> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") throw malformed("The request is not a form.");
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readText(c, bytesMax))) {
    // SECURITY: of two values, one would be checked and the other used.
    if (fields.has(name)) throw malformed("The form has a field twice.");
    fields.set(name, value);
  }
  return fields;
}

async function readText(c: Context<WebEnv>, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge("The form is too large.");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
