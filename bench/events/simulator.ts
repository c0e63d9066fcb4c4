import { Miniflare } from "miniflare";

import { miniflareOptions, watchWorkerd } from "../../scripts/build/miniflare.ts";
import { readCpuTime } from "../support/process.ts";

/** CPU time of the local simulation of the platform, in milliseconds. */
export type SimulatorCosts = {
  /**
   * Of a batch of `STATEMENTS` statements that read and write nothing: the way to the database and
   * back.
   */
  d1CallMs: number;
  /** Of a message, sent and consumed in batches of `MESSAGES`. */
  messageMs: number;
};

const CALLS = 400;
/** About as many statements as the batch that records attempts. */
const STATEMENTS = 6;
const MESSAGES = 10;

/** A Worker that does nothing but call its database, and send messages to itself. */
const SCRIPT = `
  let received = 0;
  export default {
    async fetch(request, { DB, JOBS }) {
      const { pathname, searchParams } = new URL(request.url);
      const count = Number(searchParams.get("count"));
      if (pathname === "/d1") {
        const session = DB.withSession("first-primary");
        for (let at = 0; at < count; at++) {
          await session.batch(
            Array.from({ length: ${STATEMENTS} }, () => session.prepare("select 1 where ?").bind(0)),
          );
        }
      }
      if (pathname === "/queue") {
        const messages = Array.from({ length: ${MESSAGES} }, (_, at) => ({ body: { hookIds: [at] } }));
        received = 0;
        for (let at = 0; at < count; at += ${MESSAGES}) {
          await JOBS.sendBatch(messages);
          while (received <= at) await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }
      return new Response(null, { status: 204 });
    },
    queue: ({ messages }) => void (received += messages.length),
  };`;

/**
 * Measures what a call costs in the simulation, which is part of the service's process.
 *
 * @param data Directory for its state.
 */
export async function measureSimulator(data: string): Promise<SimulatorCosts> {
  let pid = 0;
  const stopWatching = watchWorkerd((spawned) => (pid = spawned));
  const worker = {
    name: "calls",
    modules: true,
    script: SCRIPT,
    compatibilityDate: "2026-10-20",
    d1Databases: ["DB"],
    queueProducers: { JOBS: "jobs" },
    queueConsumers: { jobs: { maxBatchSize: MESSAGES, maxBatchTimeout: 0 } },
  };
  const mf = new Miniflare(miniflareOptions(data, [worker], () => {}));
  try {
    const origin = await mf.ready;
    const costOf = async (path: string): Promise<number> => {
      const run = async (count: number) => {
        const before = readCpuTime(pid).own;
        const { status } = await fetch(new URL(`${path}?count=${count}`, origin));
        if (status !== 204) throw new Error(`${path}: unexpected status ${status}`);
        return (1000 * (readCpuTime(pid).own - before)) / count;
      };
      await run(CALLS / 4);
      return run(CALLS);
    };
    return { d1CallMs: await costOf("/d1"), messageMs: await costOf("/queue") };
  } finally {
    await mf.dispose();
    stopWatching();
  }
}
