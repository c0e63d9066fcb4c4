import type { Context } from "hono";

import { evaluateConditions } from "../lib/conditional-request.ts";
import type { WebEnv } from "./env.ts";

/**
 * Responds with a file that was built with the service. The platform compares `If-None-Match` as
 * a whole with the file's tag, so that lists of tags are compared here.
 *
 * @param address A path, or a whole URL.
 * @param own     Headers of a file that exists.
 */
export async function answerAsset(
  c: Context<WebEnv>,
  address: string,
  own: Readonly<Record<string, string>>,
): Promise<Response> {
  const request = new Request(new URL(address, c.req.url), c.req.raw);
  request.headers.delete("If-None-Match");
  const file = await c.var.assets.fetch(request);
  const answer = new Response(file.body, file);
  if (!file.ok) return answer;
  for (const [name, value] of Object.entries(own)) answer.headers.set(name, value);
  const [, weak, tag] = /^(W\/)?"(.*)"$/.exec(answer.headers.get("ETag") ?? "") ?? [];
  if (tag === undefined) return answer;
  const { status } = evaluateConditions(c.req.raw, { tag, isTagWeak: weak !== undefined });
  if (status === 200) return answer;
  await file.body?.cancel();
  return new Response(null, { status, headers: answer.headers });
}
