import { Miniflare } from "miniflare";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { buildLocalBindings } from "../../../scripts/build/local-bindings.ts";
import { localQueues } from "../../../scripts/serve/queue/bindings.ts";
import { miniflareOptions } from "../../../scripts/build/miniflare.ts";
import type { BindingServer } from "../../../scripts/serve/worker.ts";
import { makeDirectory } from "../support/temporary.ts";

const QUEUES = { JOBS: "jobs", SLOW: "slow", UNREAD: "unread" };
const CONSUMERS = {
  jobs: { maxBatchSize: 3, maxBatchTimeout: 0, maxRetries: 1, deadLetterQueue: "dead" },
  slow: { maxBatchSize: 10, maxBatchTimeout: 0 },
  dead: { maxBatchSize: 1, maxBatchTimeout: 0 },
};

const BINDINGS: Readonly<Record<BindingServer, object>> = {
  simulator: { queueProducers: QUEUES, queueConsumers: CONSUMERS },
  local: { unsafeBindings: localQueues(QUEUES, CONSUMERS) },
};

/** Reports what it received, by queue and batch. The body "bad" fails always, "late" once. */
const CONSUMER = `
  const batches = [];
  export default {
    async fetch(request, env) {
      if (request.method === "GET") return Response.json(batches);
      for (const [binding, bodies] of Object.entries(await request.json())) {
        await env[binding].sendBatch(bodies.map((body) => ({ body })));
      }
      return new Response("sent");
    },
    async queue({ queue, messages }) {
      batches.push([queue, messages.map(({ body }) => body)]);
      for (const message of messages) {
        const isLate = message.body === "late" && message.attempts === 1;
        if (queue === "jobs" && (message.body === "bad" || isLate)) message.retry();
        else message.ack();
      }
    },
  };`;

beforeAll(buildLocalBindings);

describe.each(["simulator", "local"] as const)("a queue of the %s server", (server) => {
  it("hands out messages in batches, repeats those that failed, and gives them up in the end", async () => {
    const worker = { name: "test", modules: true, script: CONSUMER, ...BINDINGS[server] };
    const mf = new Miniflare(miniflareOptions(makeDirectory(), [worker], () => {}));
    onTestFinished(() => mf.dispose());
    const { fetch } = await mf.getWorker("test");
    const bodies = { JOBS: ["a", "bad", "late", "b"], SLOW: [{ kind: "x" }], UNREAD: ["nobody"] };
    const answer = await fetch("http://x/", { method: "POST", body: JSON.stringify(bodies) });
    expect(await answer.text()).toBe("sent");
    const read = async (): Promise<[string, unknown[]][]> => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the Worker above wrote it.
      return (await (await fetch("http://x/")).json()) as [string, unknown[]][];
    };
    const of = (batches: [string, unknown[]][], queue: string) =>
      batches.filter(([name]) => name === queue).flatMap(([, all]) => all);

    await expect.poll(async () => of(await read(), "dead"), { timeout: 20_000 }).toEqual(["bad"]);
    const batches = await read();
    expect(batches.find(([name]) => name === "jobs")?.[1]).toEqual(["a", "bad", "late"]);
    const jobs = of(batches, "jobs").map(String);
    expect(jobs.toSorted((a, b) => a.localeCompare(b))).toEqual([
      "a",
      "b",
      "bad",
      "bad",
      "late",
      "late",
    ]);
    expect(of(batches, "slow")).toEqual([{ kind: "x" }]);
    expect(of(batches, "unread")).toEqual([]);
  });
});
