import { z } from "zod";

import type { Side } from "../peer/side.ts";
import { sendJson } from "../support/send-json.ts";

const Registered = z.object({ runner: z.object({ uuid: z.string(), token: z.string() }) });
const Fetched = z.object({
  task: z.object({ id: z.string() }).nullish(),
  tasksVersion: z.string().default("0"),
});

/** A simulated runner: it calls as one does, and runs nothing. */
export type SimulatedRunner = {
  /**
   * Asks for a task.
   *
   * @param version What the last answer said; "0" asks for any task.
   */
  fetchTask: (version: string) => Promise<z.infer<typeof Fetched>>;
  updateTask: (id: string, result: "RESULT_UNSPECIFIED" | "RESULT_SUCCESS") => Promise<unknown>;
  /** Sends rows of a log, the first of which has the number `index`. */
  updateLog: (id: string, index: number, rows: readonly string[]) => Promise<unknown>;
};

const TOKEN = z.object({ token: z.string() });

/** Registers a runner of a repository. */
export async function openRunner(
  side: Side & { origin: string },
  repository: string,
  name: string,
): Promise<SimulatedRunner> {
  const path = `/repos/${repository}/actions/runners/registration-token`;
  const { token } = TOKEN.parse(await side.send("POST", path));
  let credential: Record<string, string> = {};
  const call = async (method: string, message: object): Promise<unknown> => {
    const url = new URL(`/api/actions/runner.v1.RunnerService/${method}`, side.origin);
    const answer = await sendJson("POST", url, credential, message);
    if (answer.status !== 200) {
      throw new Error(`${side.name}: ${method}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
    return JSON.parse(answer.text);
  };
  const labels = ["bench"];
  const version = "v0.6.0";
  const { runner } = Registered.parse(await call("Register", { name, token, labels, version }));
  credential = { "x-runner-uuid": runner.uuid, "x-runner-token": runner.token };
  await call("Declare", { labels, version });
  const startedAt = (): string => new Date().toISOString();
  return {
    fetchTask: async (tasksVersion) => Fetched.parse(await call("FetchTask", { tasksVersion })),
    updateTask: (id, result) =>
      call("UpdateTask", {
        state: {
          id,
          result,
          startedAt: startedAt(),
          ...(result === "RESULT_SUCCESS" && { stoppedAt: startedAt() }),
        },
      }),
    updateLog: (taskId, index, rows) =>
      call("UpdateLog", {
        taskId,
        index: String(index),
        rows: rows.map((content) => ({ time: startedAt(), content })),
      }),
  };
}
