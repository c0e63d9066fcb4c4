import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler, Next } from "hono";

import { invalid, tooLarge } from "../lib/failure.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** Brackets within brackets at most: parsers recurse. */
const DEPTH_MAX = 32;

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Reads the body of a request as JSON before it is validated: its type, size, syntax and depth.
 *
 * An empty body stands for an object without fields; its required fields are then missing.
 */
export async function readJsonBody(
  c: Context<{ Variables: GuardVariables }>,
  next: Next,
): Promise<void> {
  const type = c.req.header("content-type") ?? "";
  const text = await readText(c, c.var.bodyBytesMax ?? c.var.ctx.config.jsonBodyMaxBytes);
  // SECURITY: only JSON. A page elsewhere can send forms in a person's name without asking, not this.
  if (!/^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i.test(type)) {
    if (type !== "") throw invalid("[]: Unsupported Content-Type");
    const isBodiless = text === "" && c.req.method !== "POST" && c.req.method !== "PUT";
    if (!isBodiless) throw invalid("[]: Empty Content-Type");
  }
  // The validator behind reads the body by the type's plain form only, and skips it otherwise.
  const { method, url } = c.req;
  const headers = { ...c.req.header(), "content-type": "application/json" };
  c.req.raw = new Request(url, { method, headers });
  // Hono keeps what was read as a promise, and types it as what it resolves to.
  c.req.bodyCache.text = Promise.resolve(text === "" ? "{}" : text) as unknown as string;
  checkJson(text);
  await next();
}

/** Lets the body be as large as files may be. */
export const takesFiles: MiddlewareHandler<{ Variables: GuardVariables }> = async (c, next) => {
  c.set("bodyBytesMax", c.var.ctx.config.contentsBodyMaxBytes);
  await next();
};

/**
 * The body as text, read no further than `bytesMax`.
 *
 * @throws Failure `too_large` beyond it, whatever length was announced; `invalid` if it is not UTF-8.
 */
export async function readText(c: Context, bytesMax: number): Promise<string> {
  const refusal = tooLarge(`the body is larger than ${bytesMax} bytes`);
  if (Number(c.req.header("content-length") ?? 0) > bytesMax) throw refusal;

  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk: Uint8Array | undefined): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw invalid("[]: the body is not UTF-8");
    }
  };
  let text = "";
  let bytes = 0;
  // As text at once: a large body is not held as bytes beside it.
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw refusal;
    text += decode(chunk);
  }
  return text + decode(undefined);
}

function checkJson(text: string): void {
  if (text === "") return;
  let depth = 0;
  // SECURITY: character by character. A pattern would keep a way back for each escape of a text, and
  // take quadratic time for one that never ends.
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (isInText && char === BACKSLASH) at++;
    else if (char === QUOTE) isInText = !isInText;
    else if (isInText) continue;
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) depth++;
    else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) depth--;
    if (depth > DEPTH_MAX) throw invalid(`[]: more than ${DEPTH_MAX} levels of nesting`);
  }
  try {
    JSON.parse(text);
  } catch {
    throw invalid("[]: malformed JSON");
  }
}

/**
 * The fields of a JSON body.
 *
 * Keys match whatever their case, since clients in Go send `Text` where clients in JavaScript send
 * `text`; null means "not sent"; unknown fields are passed over.
 */
export function body<S extends z.core.$ZodLooseShape>(shape: S) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  const matchKeys = (value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const sent = Object.entries(value).filter(([, field]) => field !== null);
    return Object.fromEntries(
      sent.map(([key, field]) => [names.get(key.toLowerCase()) ?? key, field]),
    );
  };
  return z.preprocess(matchKeys, z.object(shape, "an object is expected"));
}

/** A text that must be there and hold something. */
export const requiredText = (lengthMax: number) =>
  z.string("Required").min(1, "Required").max(lengthMax, "MaxSize");

/** A text that may be left out. */
export const optionalText = (lengthMax: number) =>
  z.string("a text is expected").max(lengthMax, "MaxSize").optional();

export const optionalFlag = () => z.boolean("true or false is expected").optional();
