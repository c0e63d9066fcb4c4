import { z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler, Next } from "hono";

import { Failure, invalidField, tooLarge } from "../lib/failure.ts";
import { measureJson } from "../lib/json.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import { pause } from "../lib/time-slice.ts";
import type { GuardVariables } from "./guards/guard.ts";

/** Maximum nesting of brackets, since parsers recurse. */
const DEPTH_MAX = 32;
/**
 * Maximum brackets, commas and colons: a body is parsed and validated at once, in up to 40 ms. The
 * largest body in use changes 2000 files, with fifteen for each.
 */
const MARKS_MAX = 40_000;
/** Steps to scan a character, and to parse and validate a mark. */
const CHAR_STEPS = 0.5;
const MARK_STEPS = 60;

/**
 * Checks the JSON body of a request before validation: content type, size, syntax and nesting
 * depth.
 *
 * An empty body counts as an empty object, so that its required fields are reported as missing.
 */
export async function readJsonBody(
  c: Context<{ Variables: GuardVariables }>,
  next: Next,
): Promise<void> {
  const type = c.req.header("content-type") ?? "";
  const text = await readText(c, c.var.bodyBytesMax ?? c.var.ctx.config.jsonBodyMaxBytes);
  // SECURITY: accepts JSON only. A foreign page can submit forms with a user's credentials without
  // a CORS preflight, but not JSON.
  if (!/^(?:text\/|application\/(?:[a-z0-9.+-]+\+)?)json\s*(?:;|$)/i.test(type)) {
    const mayBeMissing = c.req.method !== "POST" && c.req.method !== "PUT";
    const isMissing = type === "" && text === "" && mayBeMissing;
    if (!isMissing) throw invalidField("", "must have the Content-Type application/json");
  }
  // The validator that runs next only recognizes the plain content type, and skips validation
  // otherwise.
  const { method, url } = c.req;
  const headers = { ...c.req.header(), "content-type": "application/json" };
  c.req.raw = new Request(url, { method, headers });
  // Hono caches a promise of the body, but types it as the resolved value.
  c.req.bodyCache.text = Promise.resolve(text === "" ? "{}" : text) as unknown as string;
  await checkJson(text);
  await next();
}

/** Raises the body limit to that of file contents, `contentsBodyMaxBytes`. */
export const takesFiles: MiddlewareHandler<{ Variables: GuardVariables }> = async (c, next) => {
  c.set("bodyBytesMax", c.var.ctx.config.contentsBodyMaxBytes);
  await next();
};

/**
 * Reads the body as text, at most `bytesMax` bytes.
 *
 * @throws Failure `too_large` if it is longer, whatever its `Content-Length`; `invalid` if it is
 *   not UTF-8.
 * @throws CallerLeft if the client hangs up.
 */
export async function readText(c: Context, bytesMax: number): Promise<string> {
  const refusal = tooLarge(`the body is larger than ${bytesMax} bytes`);
  if (Number(c.req.header("content-length") ?? 0) > bytesMax) throw refusal;

  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk: Uint8Array | undefined): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw invalidField("", "must be UTF-8");
    }
  };
  let text = "";
  let bytes = 0;
  // Decodes chunk by chunk: a large body is not held in memory as bytes and as text.
  try {
    for await (const chunk of c.req.raw.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw refusal;
      text += decode(chunk);
    }
  } catch (error) {
    throw error instanceof Failure ? error : new CallerLeft();
  }
  return text + decode(undefined);
}

async function checkJson(text: string): Promise<void> {
  if (text === "") return;
  const { depth, marks } = measureJson(text);
  if (depth > DEPTH_MAX) throw invalidField("", `must have at most ${DEPTH_MAX} levels of nesting`);
  if (marks > MARKS_MAX) throw invalidField("", `must have at most ${MARKS_MAX} values`);
  await pause(CHAR_STEPS * text.length + MARK_STEPS * marks);
  try {
    JSON.parse(text);
  } catch {
    throw invalidField("", "must be JSON");
  }
}

/**
 * The schema of a JSON body with these fields.
 *
 * Keys match in any case, since clients in Go send `Text` where clients in JavaScript send `text`;
 * null means "not sent"; unknown fields are ignored.
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
  return z.preprocess(matchKeys, z.object(shape));
}

/** A required, non-empty string. */
export const requiredText = (lengthMax: number) => z.string().min(1).max(lengthMax);

/** An optional string. */
export const optionalText = (lengthMax: number) => z.string().max(lengthMax).optional();

export const optionalFlag = () => z.boolean().optional();
