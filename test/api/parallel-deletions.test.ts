import { expect, it } from "vitest";

import { call } from "../support/call.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";

/** Deletions that go in steps, which each request continues, and states that all find as asked. */
const SHARED = new Set(["adminDeleteUser", "repoDeleteTeam"]);

const deletions = sampled.filter(
  ({ method, id, sample }) => method === "DELETE" && !sample.refusal && !SHARED.has(id),
);

/** Requests that find the same thing before one of them deletes it. */
const AT_ONCE = 4;

// Who gets a success has deleted something; some deletions succeed also where nothing is left.
it.each(byId(deletions))("of several deletions at once one succeeds: %s", async (_, operation) => {
  const { method, path, content, caller } = await requestIn(new World(), operation);
  const send = () => call(method, path, { token: caller.token, ...content });
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, send));
  const statuses = answers.map(({ status }) => status);
  const successes = statuses.filter((status) => status < 300);
  const isIdempotent = (await send()).status < 300;
  expect(successes, statuses.join()).toHaveLength(isIdempotent ? AT_ONCE : 1);
  expect(Math.max(...statuses)).toBeLessThan(500);
});
