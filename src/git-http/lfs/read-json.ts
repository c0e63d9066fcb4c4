import type { Context } from "hono";
import type { z } from "zod";

import { malformed } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import type { GitHttpEnv } from "../env.ts";
import { readWholeBody } from "../request-body.ts";

/**
 * Reads the body of a request as JSON and validates it. An empty body counts as `{}`.
 *
 * @throws Failure `malformed` if the body is invalid, `too_large` if it exceeds `jsonBodyMaxBytes`.
 */
export async function readJson<S extends z.ZodType>(
  c: Context<GitHttpEnv>,
  schema: S,
): Promise<z.infer<S>> {
  const bytes = await readWholeBody(c, c.var.base.config.jsonBodyMaxBytes);
  const parsed = schema.safeParse(bytes.length === 0 ? {} : await parse(bytes));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw malformed(`${issue?.path.join(".") || "the body"}: ${issue?.message}`);
}

async function parse(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed("the body is not JSON");
  }
}
