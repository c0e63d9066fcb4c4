import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";

import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import worker from "../../src/worker.ts";
import { History } from "../support/commits.ts";
import { make } from "../support/make.ts";
import { pushCommands } from "../support/push.ts";

/** Lines that are all different, in the opposite order: the slowest comparison for their number. */
const numbers = (count: number) => Array.from({ length: count }, (_, line) => `${line}\n`);

/**
 * Requests a diff, leaves after the first turn of its work, and returns the log line of the
 * request.
 */
async function leaveEarly(path: string): Promise<{ status: number; steps: number }> {
  const connection = new AbortController();
  const request = new Request(`https://forge.example/api/v1${path}`, { signal: connection.signal });
  const spy = vi.spyOn(console, "log").mockImplementation(() => {});
  // The budget's turns are the only timers of the request.
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void) => {
    connection.abort();
    queueMicrotask(run);
  }) as typeof setTimeout);
  try {
    await worker.fetch(
      request as Parameters<typeof worker.fetch>[0],
      env,
      createExecutionContext(),
    );
    const line = spy.mock.calls
      .map(([text]) => String(text))
      .find((text) => /"request"/.test(text));
    return JSON.parse(line ?? "{}");
  } finally {
    timers.mockRestore();
    spy.mockRestore();
  }
}

// A loop without pauses goes on for an hour of diffs after a client that asks and hangs up.
it("ends at the next turn, as an ordinary line of the log", async () => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const lines = numbers(60_000);
  const before = history.commit({ files: { long: lines.join("") } });
  const files = { long: lines.toReversed().join("") };
  const head = history.commit({ files, parents: [before] });
  const pack = history.build();
  await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: head }], { pack });

  const path = `/repos/${repo.owner}/${repo.name}/git/commits/${head}.diff`;
  const { status, steps } = await leaveEarly(path);
  expect(status).toBe(499);
  expect(steps).toBeGreaterThan(0);
  expect(steps).toBeLessThan(RESULT_STEPS_MAX / 8);
});
