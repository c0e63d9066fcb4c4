import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

it("the migrations leave every foreign key intact", async () => {
  const { results } = await env.DB.prepare("pragma foreign_key_check").all();
  expect(results).toEqual([]);
});
